"""Lists what PROJ knows of every EPSG and ESRI system: definitions that proj4js may be able to follow, and points as PROJ transforms them.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pyproj numpy
    /tmp/venv/bin/python libs/raster/tools/list-systems.py > /tmp/systems.jsonl
    tools/node libs/raster/tools/make-systems.ts /tmp/systems.jsonl

No grids of datum shifts are used: PROJ takes the best operation that needs none, as it does where none is installed.
"""
import json
import os
import re
import sqlite3
import sys
import warnings

import numpy as np
import pyproj
from pyproj import CRS, Geod, Transformer
from pyproj.database import query_crs_info
from pyproj.enums import PJType

warnings.simplefilter("ignore")
pyproj.network.set_network_enabled(False)

DEGREE = np.pi / 180
ORDERS = {("east", "north"), ("north", "east"), ("north", "north"), ("south", "south")}
DROPPED = re.compile(r"\+(datum|ellps|a|b|rf|R|towgs84|nadgrids|geoidgrids|type|no_defs|vunits|axis|wktext)(=\S+)?")


def list_codes():
    for authority in ("EPSG", "ESRI"):
        for kind in (PJType.PROJECTED_CRS, PJType.GEOGRAPHIC_2D_CRS):
            # Deprecated ESRI systems are those of EPSG under other numbers.
            for info in query_crs_info(auth_name=authority, pj_types=kind, allow_deprecated=authority == "EPSG"):
                yield f"{authority}:{info.code}"


def sample(area):
    west, south, east, north = area.west, area.south, area.east, area.north
    if east < west:
        east += 360
    shares = (0.08, 0.31, 0.5, 0.73, 0.92)
    return [
        (((west + (east - west) * x) + 540) % 360 - 180, south + (north - south) * y) for y in shares for x in shares
    ]


def to_geocentric(lon, lat, a, b):
    """Metres of longitudes and latitudes in degrees at height 0."""
    e2 = 1 - (b * b) / (a * a)
    phi, lam = np.radians(lat), np.radians(lon)
    n = a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
    return np.array([n * np.cos(phi) * np.cos(lam), n * np.cos(phi) * np.sin(lam), n * (1 - e2) * np.sin(phi)]).T


def fit_shifts(source, target):
    """Shifts to WGS 84 as proj4js has them: three translations, and the seven parameters of a position vector."""
    shifts = [[0.0, 0.0, 0.0], list((target - source).mean(axis=0))]
    if len(source) >= 4:
        rows, values = [], []
        for (x, y, z), goal in zip(source, target):
            rows += [[1, 0, 0, 0, z, -y, x], [0, 1, 0, -z, 0, x, y], [0, 0, 1, y, -x, 0, z]]
            values += list(goal - np.array([x, y, z]))
        # Rotations and scale around the area rather than around the centre of the Earth would differ: small ones only.
        found, *_ = np.linalg.lstsq(np.array(rows), np.array(values), rcond=1e-12)
        seconds = found[3:6] / DEGREE * 3600
        if np.all(np.abs(seconds) < 60) and abs(found[6]) < 1e-3 and np.all(np.abs(found[:3]) < 5000):
            shifts.append([*found[:3], *seconds, found[6] * 1e6])
    return shifts


def list_operations():
    """Helmert transformations of the database to WGS 84 by the system that they begin at, as position vectors."""
    path = os.path.join(pyproj.datadir.get_data_dir(), "proj.db")
    rows = sqlite3.connect(path).execute(
        """select source_crs_auth_name || ':' || source_crs_code, tx, ty, tz, rx, ry, rz, scale_difference,
                  rotation_uom_code, scale_difference_uom_code, method_name
           from helmert_transformation
           where target_crs_auth_name = 'EPSG' and target_crs_code in ('4326', '4978', '4979') and px is null
             and rate_tx is null order by accuracy"""
    )
    operations = {}
    for source, tx, ty, tz, rx, ry, rz, scale, turn_unit, scale_unit, method in rows:
        if rx is not None and (turn_unit != "9104" or scale_unit != "9202"):
            continue
        sign = -1 if "Coordinate Frame" in method else 1
        turn = [] if rx is None else [sign * rx, sign * ry, sign * rz, scale]
        operations.setdefault(source, []).append([tx, ty, tz, *turn])
    return operations


operations = list_operations()


def describe(code):
    crs = CRS.from_user_input(code)
    directions = tuple(axis.direction for axis in crs.axis_info[:2])
    if directions not in ORDERS or crs.area_of_use is None:
        return {"code": code, "why": "axes or area"}
    is_geographic = crs.is_geographic
    unit = crs.axis_info[0].unit_conversion_factor
    if crs.axis_info[1].unit_conversion_factor != unit or (is_geographic and abs(unit - DEGREE) > 1e-12):
        return {"code": code, "why": "unit"}
    definition = crs.to_proj4()
    if "+proj=" not in definition:
        return {"code": code, "why": "no definition"}
    points = sample(crs.area_of_use)
    lons, lats = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    forward = Transformer.from_crs("OGC:CRS84", crs, always_xy=True)
    xs, ys = forward.transform(lons, lats)
    good = np.isfinite(xs) & np.isfinite(ys)
    if good.sum() < 2:
        return {"code": code, "why": "no points"}
    ellipsoid = crs.ellipsoid
    a, b = ellipsoid.semi_major_metre, ellipsoid.semi_minor_metre
    base = crs if is_geographic else crs.geodetic_crs
    base_lons, base_lats = (xs, ys) if is_geographic else pyproj.Proj(crs)(xs, ys, inverse=True)
    # Longitudes from Greenwich: `Proj` gives those already, a geographic system has its own.
    meridian = crs.prime_meridian.longitude if crs.prime_meridian else 0
    if crs.prime_meridian and crs.prime_meridian.unit_name not in ("degree", None):
        meridian = meridian * crs.prime_meridian.unit_conversion_factor / DEGREE
    usable = np.isfinite(base_lons) & np.isfinite(base_lats)
    identifier = base.to_json_dict().get("id", {})
    known = operations.get(f"{identifier.get('authority')}:{identifier.get('code')}", [])
    plain, moved, *turned = fit_shifts(
        to_geocentric(np.asarray(base_lons)[usable] + (meridian if is_geographic else 0), np.asarray(base_lats)[usable], a, b),
        to_geocentric(lons[usable], lats[usable], 6378137.0, 6356752.314245179),
    )
    shifts = [plain, *known, moved, *turned]
    unit_text = "" if is_geographic else f" +to_meter={unit!r}" if unit != 1 else ""
    body = re.sub(r"\+(units|to_meter|pm)=\S+", "", DROPPED.sub("", definition))
    body = re.sub(r"\s+", " ", body).strip()
    figure = f"+a={a!r} +b={b!r}"
    pm = f" +pm={meridian!r}" if meridian else ""
    return {
        "code": code,
        "north": directions == ("north", "east")
        or (directions[0] == directions[1] and crs.axis_info[0].name.lower().startswith("northing")),
        "definition": f"{body} {figure}{pm}{unit_text}",
        "geographic": is_geographic,
        "shifts": shifts,
        "accuracy": forward.accuracy,
        "points": [[lons[i], lats[i], xs[i], ys[i]] for i in range(len(points)) if good[i]],
    }


COMMON_DEGREES = [4326, 4258, 4269, 4283, 7844, 4167, 4171, 4674, 4617, 4612, 6668, 4490, 4148, 4230, 4277, 4267, 4289, 4314, 4312, 4149]


def rank(code):
    """Common ones come first: a list may be ended early."""
    authority, number = code.split(":")[0], int(code.split(":")[1])
    if authority == "EPSG":
        if number in COMMON_DEGREES:
            return 0
        return 1 if 32600 < number < 32761 or 25800 < number < 25840 else 3 if number >= 26700 else 5
    return 2 if 53000 < number < 55000 or 102000 < number < 102040 else 4


# Several processes share the work: `list-systems.py 0 3`, `list-systems.py 1 3` …
share, shares = (int(text) for text in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1)
# Codes that an earlier list has are not listed again.
done = {json.loads(line)["code"] for path in sys.argv[3:] for line in open(path)}
for code in sorted((code for code in list_codes() if code not in done), key=rank)[share::shares]:
    try:
        entry = describe(code)
    except Exception as error:
        entry = {"code": code, "why": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(entry), flush=True)
    if entry.get("why"):
        print(code, entry["why"], file=sys.stderr)
