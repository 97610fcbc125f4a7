"""Makes TIFFs of every combination of the dimensions below, with what GDAL reads of each.

    python3 make-corpus.py FOLDER EVERY FIRST

Takes each EVERY-th combination from FIRST on. Prints a line of JSON a file: its path, and where GDAL's values are: `values` (all bands,
float64, band after band), `masks` (a byte a pixel, band after band), `window` (of the first band, warped to Web Mercator by nearest), and
statistics of the first band.
"""

import itertools
import json
import os
import sys

import numpy
from osgeo import gdal, osr

gdal.UseExceptions()
gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")

WIDTH, HEIGHT = 90, 70
LAYOUTS = {
    "strips": ["BLOCKYSIZE=16"],
    "rows": ["BLOCKYSIZE=1"],
    "one strip": ["BLOCKYSIZE=70"],
    "tiles": ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=48"],
    "planes in tiles": ["TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "INTERLEAVE=BAND"],
    "planes in strips": ["BLOCKYSIZE=16", "INTERLEAVE=BAND"],
}
TYPES = {
    "Byte": numpy.uint8,
    "UInt16": numpy.uint16,
    "Int16": numpy.int16,
    "UInt32": numpy.uint32,
    "Int32": numpy.int32,
    "Float32": numpy.float32,
    "Float64": numpy.float64,
}
COMPRESSIONS = {
    "NONE": [],
    "LZW": [],
    "LZW with differences": ["PREDICTOR=2"],
    "DEFLATE": [],
    "DEFLATE with differences": ["PREDICTOR=2"],
    "DEFLATE of floats": ["PREDICTOR=3"],
    "PACKBITS": [],
    "ZSTD": [],
    "LERC": [],
}
MISSING = ["none", "nodata", "mask", "alpha"]
SHAPES = {"grey": (1, "MINISBLACK"), "white": (1, "MINISWHITE"), "rgb": (3, "RGB"), "many": (5, "MINISBLACK")}
OVERVIEWS = [False, True]
SYSTEMS = {"utm": (32633, (500000, 40, 0, 5150000, 0, -40)), "degrees": (4326, (15, 0.0005, 0, 46.5, 0, -0.0005))}


def is_possible(layout, kind, compression, missing, shape):
    bands = SHAPES[shape][0]
    is_float = kind.startswith("Float")
    return not (
        ("planes" in layout and bands + (missing == "alpha") == 1)
        or ("floats" in compression) > is_float
        or ("differences" in compression and is_float)
        or (missing == "alpha" and (shape != "rgb" or kind not in ("Byte", "UInt16")))
        or (shape == "rgb" and kind not in ("Byte", "UInt16"))
        or (shape == "white" and kind != "Byte")
    )


def combinations():
    for case in itertools.product(LAYOUTS, TYPES, COMPRESSIONS, MISSING, SHAPES):
        if is_possible(*case):
            yield case


def values_of(kind, band):
    rows, columns = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    base = (columns * (band + 3) + rows * 7 + (rows * columns) // (11 + band)) % 251
    if kind == "Byte":
        return base
    if kind.startswith("Float"):
        return base * 1.25 - 100
    return base * 97 + (0 if kind.startswith("U") else -9000)


def make(folder, number, case):
    layout, kind, compression, missing, shape = case
    bands, photometric = SHAPES[shape]
    code, transform = SYSTEMS["utm" if number % 2 else "degrees"]
    has_overviews = number % 3 == 0
    count = bands + (missing == "alpha")
    memory = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, count, gdal.GetDataTypeByName(kind))
    system = osr.SpatialReference()
    system.ImportFromEPSG(code)
    memory.SetProjection(system.ExportToWkt())
    memory.SetGeoTransform(transform)
    for band in range(bands):
        memory.GetRasterBand(band + 1).WriteArray(values_of(kind, band).astype(TYPES[kind]))
        if missing == "nodata":
            memory.GetRasterBand(band + 1).SetNoDataValue(float(values_of(kind, 0)[5, 5]))
    if missing == "alpha":
        full = 255 if kind == "Byte" else 65535
        alpha = numpy.where(numpy.mgrid[0:HEIGHT, 0:WIDTH][1] < 20, 0, full)
        memory.GetRasterBand(count).WriteArray(alpha.astype(TYPES[kind]))
    options = [f"COMPRESS={compression.split()[0]}", f"PHOTOMETRIC={photometric}", *COMPRESSIONS[compression], *LAYOUTS[layout]]
    if missing == "alpha":
        options.append("ALPHA=YES")
    path = os.path.join(folder, f"{number}.tif")
    file = gdal.GetDriverByName("GTiff").CreateCopy(path, memory, options=options)
    if missing == "mask":
        file.CreateMaskBand(gdal.GMF_PER_DATASET)
        columns = numpy.mgrid[0:HEIGHT, 0:WIDTH][1]
        file.GetRasterBand(1).GetMaskBand().WriteArray(numpy.where(columns % 17 < 5, 0, 255).astype(numpy.uint8))
    file = None
    if has_overviews:
        file = gdal.Open(path, gdal.GA_Update)
        file.BuildOverviews("NEAREST", [2])
        file = None
    return path, describe(path, folder, number, {"name": ", ".join(case), "count": count, "hasOverviews": has_overviews})


def describe(path, folder, number, facts):
    file = gdal.Open(path)
    values = file.ReadAsArray().astype(numpy.float64).reshape(-1)
    masks = numpy.stack([file.GetRasterBand(band + 1).GetMaskBand().ReadAsArray() for band in range(file.RasterCount)])
    first = file.GetRasterBand(1).ReadAsArray().astype(numpy.float64)[masks[0] != 0]
    place = lambda name: os.path.join(folder, f"{number}.{name}")
    values.tofile(place("values"))
    masks.astype(numpy.uint8).tofile(place("masks"))
    warped = gdal.Warp("", file, format="MEM", dstSRS="EPSG:3857", width=40, height=30, dstNodata=None, dstAlpha=True, errorThreshold=0)
    warped.ReadAsArray().astype(numpy.float64).tofile(place("window"))
    corner = warped.GetGeoTransform()
    box = [corner[0], corner[3] + 30 * corner[5], corner[0] + 40 * corner[1], corner[3]]
    overview = None
    if facts["hasOverviews"]:
        overview = place("overview")
        file.GetRasterBand(1).GetOverview(0).ReadAsArray().astype(numpy.float64).tofile(overview)
    statistics = {"min": first.min(), "max": first.max(), "mean": first.mean(), "std": first.std(), "count": int(first.size)}
    return {**facts, "statistics": statistics, "box": box}


def main():
    folder, every, start = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    all_cases = list(combinations())
    for number, case in enumerate(all_cases):
        if number % every == start % every:
            path, facts = make(folder, number, case)
            print(json.dumps({"path": path, "number": number, "of": len(all_cases), **facts}))


main()
