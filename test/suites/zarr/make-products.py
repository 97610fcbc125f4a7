"""Writes Zarr data in many forms by zarr-python and xarray, and beside each what xarray reads of it.

make-products.py FOLDER: products.json lists {path, variables: [{name, band, width, height, file, transform}]}; each file has the samples of a
band as float64, by rows.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
import zarr
from kerchunk.df import refs_to_dataframe
from kerchunk.hdf import SingleHdf5ToZarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

warnings.filterwarnings("ignore")
folder = Path(sys.argv[1])
products = []
WEST, NORTH = 500_000, 5_000_000


def coordinates(n, metres, m=None):
    return {
        "y": NORTH - metres / 2 - metres * np.arange(m or n),
        "x": WEST + metres / 2 + metres * np.arange(n),
    }


def scene(shape, dtype, seed):
    values = np.random.default_rng(seed).integers(0, 250, shape)
    return (values / 7).astype(dtype) if np.dtype(dtype).kind == "f" else values.astype(dtype)


def expect(address, variables, transform):
    """Lists what xarray reads of some variables: one band for each place of the dimensions beside y and x."""
    listed = []
    for name, array in variables:
        spatial = [d for d in array.dims if d in ("y", "x")]
        others = [d for d in array.dims if d not in spatial]
        stacked = array.transpose(*others, "y", "x").values.reshape(-1, array.sizes["y"], array.sizes["x"])
        for number, plane in enumerate(stacked):
            file = f"{len(products)}-{len(listed)}.bin"
            (folder / file).write_bytes(np.ascontiguousarray(plane, "<f8").tobytes())
            listed.append({"name": name, "number": number, "height": plane.shape[0], "width": plane.shape[1], "file": file})
    products.append({"address": address, "variables": listed, "transform": transform})


def transform_of(metres):
    return [metres, 0, WEST, 0, -metres, NORTH]


def plain(name, version, dtype="u2", shape=(70, 90), chunks=(32, 40), dims=("y", "x"), consolidated=True, encoding=None, more=None):
    size = dict(zip(dims, shape))
    coords = {**coordinates(size["x"], 10, size["y"]), **(more or {})}
    variables = {
        band: (dims, scene(shape, dtype, seed), {"grid_mapping": "spatial_ref"}) for seed, band in enumerate(("red", "nir"))
    }
    data = xr.Dataset(variables, coords=coords, attrs={"proj:code": "EPSG:32633"})
    own = {**(encoding or {})}
    data.to_zarr(
        folder / name,
        mode="w",
        zarr_format=version,
        consolidated=consolidated,
        encoding={band: {"chunks": chunks, **own} for band in variables},
    )
    read = xr.open_zarr(folder / name, consolidated=consolidated, mask_and_scale=False, decode_times=False)
    address = name if consolidated else f"{name}/red"
    bands = ["nir", "red"] if consolidated else ["red"]
    expect(address, [(band, read[band]) for band in bands], transform_of(10))


for version in (2, 3):
    for dtype in ("u1", "i2", "u2", "i4", "u4", "f4", "f8", "i8"):
        plain(f"type-{dtype}-{version}.zarr", version, dtype)
    plain(f"time-{version}.zarr", version, shape=(3, 70, 90), chunks=(2, 70, 30), dims=("time", "y", "x"), more={"time": np.arange(3)})
    plain(f"turned-{version}.zarr", version, shape=(90, 70), chunks=(40, 32), dims=("x", "y"))
    plain(f"alone-{version}.zarr", version, consolidated=False)
    plain(f"one-chunk-{version}.zarr", version, chunks=(70, 90))

for codec in (
    BloscCodec(cname="lz4", shuffle="shuffle"),
    BloscCodec(cname="zstd", shuffle="bitshuffle"),
    BloscCodec(cname="zlib"),
    GzipCodec(),
    ZstdCodec(),
    zarr.codecs.numcodecs.Zlib(),
    zarr.codecs.numcodecs.LZ4(),
):
    title = "-".join(str(part) for part in (getattr(codec, "codec_name", type(codec).__name__), getattr(codec, "cname", ""))).replace(".", "-")
    plain(f"codec-{title}.zarr".replace("BloscCname", "").lower(), 3, encoding={"compressors": [codec]})
plain("sharded.zarr", 3, shape=(128, 128), chunks=(16, 16), encoding={"shards": (64, 64)})
plain("uncompressed.zarr", 3, encoding={"compressors": None})

# Groups of products.
root = zarr.open_group(folder / "S2.zarr", mode="w", zarr_format=2)
root.attrs.update({"other_metadata": {"horizontal_CRS_code": "EPSG:32633"}})
for group, n, metres, bands in (
    ("r10m", 120, 10, ("b02", "b03")),
    ("r20m", 60, 20, ("b02", "b05", "b11")),
    ("r60m", 20, 60, ("b01", "b05")),
):
    data = xr.Dataset(
        {band: (("y", "x"), scene((n, n), "u2", seed + n)) for seed, band in enumerate(bands)}, coords=coordinates(n, metres)
    )
    data.to_zarr(
        folder / "S2.zarr",
        group=f"measurements/reflectance/{group}",
        mode="a",
        zarr_format=2,
        consolidated=False,
        encoding={band: {"chunks": (n // 2, n // 3)} for band in bands},
    )
zarr.consolidate_metadata(folder / "S2.zarr", zarr_format=2)
groups = {
    group: xr.open_zarr(folder / "S2.zarr", group=f"measurements/reflectance/{group}", consolidated=False, mask_and_scale=False)
    for group in ("r10m", "r20m", "r60m")
}
for group, metres in (("r10m", 10), ("r20m", 20), ("r60m", 60)):
    read = groups[group]
    expect(f"S2.zarr/measurements/reflectance/{group}", [(band, read[band]) for band in read.data_vars], transform_of(metres))
    expect(f"S2.zarr/measurements/reflectance/{group}/{list(read.data_vars)[0]}", [(list(read.data_vars)[0], read[list(read.data_vars)[0]])], transform_of(metres))
fine = groups["r10m"]
on_fine = [(f"measurements/reflectance/r10m/{band}", fine[band]) for band in ("b02", "b03")]
for group, band in (("r20m", "b05"), ("r20m", "b11"), ("r60m", "b01")):
    near = groups[group][band].reindex(y=fine.y, x=fine.x, method="nearest")
    on_fine.append((f"measurements/reflectance/{group}/{band}", near))
expect("S2.zarr", on_fine, transform_of(10))

# A GeoZarr pyramid without coordinates.
pyramid = zarr.open_group(folder / "geo.zarr", mode="w", zarr_format=3)
pyramid.attrs.update(
    {
        "multiscales": {"layout": [{"asset": str(at), "spatial:transform": transform_of(10 * 2**at)} for at in range(3)]},
        "spatial:dimensions": ["y", "x"],
        "proj:code": "EPSG:32633",
    }
)
for at in range(3):
    data = xr.Dataset({"red": (("y", "x"), scene((128 >> at, 128 >> at), "u2", at))})
    data.to_zarr(folder / "geo.zarr", group=str(at), mode="a", zarr_format=3, consolidated=False, encoding={"red": {"chunks": (32, 32)}})
zarr.consolidate_metadata(folder / "geo.zarr", zarr_format=3)
for at in range(3):
    read = xr.open_zarr(folder / "geo.zarr", group=str(at), consolidated=False, mask_and_scale=False)
    expect(f"geo.zarr/{at}", [("red", read["red"])], transform_of(10 * 2**at))
read = xr.open_zarr(folder / "geo.zarr", group="0", consolidated=False, mask_and_scale=False)
expect("geo.zarr", [("0/red", read["red"])], transform_of(10))

# References to the chunks of a NetCDF-4 file.
size = {"y": 70, "x": 90}
netcdf = xr.Dataset(
    {"red": (("y", "x"), scene((70, 90), "u2", 1)), "nir": (("y", "x"), scene((70, 90), "f4", 2))},
    coords=coordinates(90, 10, 70),
    attrs={"proj:code": "EPSG:32633"},
)
netcdf.to_netcdf(
    folder / "virtual.nc",
    engine="h5netcdf",
    encoding={band: {"chunksizes": (32, 40), "zlib": True, "shuffle": True, "_FillValue": None} for band in ("red", "nir")},
)
with open(folder / "virtual.nc", "rb") as file:
    references = SingleHdf5ToZarr(file, "virtual.nc").translate()
(folder / "virtual.json").write_text(json.dumps(references))
expect("virtual.json", [("nir", netcdf["nir"]), ("red", netcdf["red"])], transform_of(10))
refs_to_dataframe(references, str(folder / "virtual.parq"), record_size=4)
expect("virtual.parq", [("nir", netcdf["nir"]), ("red", netcdf["red"])], transform_of(10))

(folder / "products.json").write_text(json.dumps(products))
