"""Writes real pixels at the places that the notebooks have in their code: place-scenes.py SCENE_FOLDER TARGET_FOLDER

elevation.tif   the area around San Francisco that `data-access.ipynb` asks WCS 1.0.0 for
B04.tif B08.tif in UTM 25N, which `datacube-access.ipynb` loads them in
"""

import sys

import rasterio
from rasterio.transform import from_bounds, from_origin

source, target = sys.argv[1:]


def place(name, copy, crs, transform_of):
    with rasterio.open(f"{source}/{name}") as scene:
        pixels = scene.read(1)
    height, width = pixels.shape
    profile = {"driver": "COG", "height": height, "width": width, "count": 1, "dtype": pixels.dtype, "crs": crs}
    with rasterio.open(f"{target}/{copy}", "w", transform=transform_of(width, height), **profile) as written:
        written.write(pixels, 1)


place("B08.tif", "elevation.tif", "EPSG:4326", lambda width, height: from_bounds(-124, 36, -120, 39, width, height))
for band in ("B04.tif", "B08.tif"):
    place(band, band, "EPSG:32625", lambda width, height: from_origin(500_000, 7_400_000, 10, 10))
