import { type Crs, findCrs, findCustomCrs } from "../../warp/crs.ts";
import { findWktCrs } from "../../warp/wkt-crs.ts";
import { toNumber, toText } from "./cube.ts";

type Attributes = Readonly<Record<string, unknown>>;

const MAX_WKT_CHARACTERS = 20_000;
const MAX_NAME = 100;

/** Projections of the CF conventions (appendix F) by their name in PROJ, with the parameters they take. */
const PROJECTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    albers_conical_equal_area: "aea",
    azimuthal_equidistant: "aeqd",
    lambert_azimuthal_equal_area: "laea",
    lambert_conformal_conic: "lcc",
    lambert_cylindrical_equal_area: "cea",
    latitude_longitude: "longlat",
    mercator: "merc",
    orthographic: "ortho",
    polar_stereographic: "stere",
    sinusoidal: "sinu",
    stereographic: "stere",
    transverse_mercator: "tmerc",
  }),
);
const PARAMETERS: readonly (readonly [string, string])[] = [
  ["latitude_of_projection_origin", "lat_0"],
  ["longitude_of_central_meridian", "lon_0"],
  ["longitude_of_projection_origin", "lon_0"],
  ["straight_vertical_longitude_from_pole", "lon_0"],
  ["scale_factor_at_central_meridian", "k_0"],
  ["scale_factor_at_projection_origin", "k_0"],
  ["false_easting", "x_0"],
  ["false_northing", "y_0"],
  ["semi_major_axis", "a"],
  ["semi_minor_axis", "b"],
  ["inverse_flattening", "rf"],
  ["earth_radius", "R"],
];

/** The system that a grid mapping variable or the attributes of a cube name; `undefined` where none is named that is known. */
export function findCubeCrs(attributes: Attributes): Crs | undefined {
  const { _CRS: gdal } = attributes;
  const code = toText(attributes["proj:code"]) ?? toText(attributes["epsg_code"]);
  const number = toNumber(attributes["proj:epsg"]) ?? toNumber(attributes["epsg_code"]);
  return (
    (code === undefined ? undefined : findCrs(code)) ??
    (number === undefined ? undefined : findCrs(`EPSG:${number}`)) ??
    fromWkt(
      toText(attributes["crs_wkt"]) ??
        toText(attributes["spatial_ref"]) ??
        toText(attributes["proj:wkt2"]) ??
        toText((gdal as { wkt?: unknown } | undefined)?.wkt),
    ) ??
    fromProjJson(attributes["proj:projjson"]) ??
    fromMapping(attributes)
  );
}

/** The system that a product of EOPF names at its root, for all that is in it. */
export function findProductCrs(attributes: Attributes): Crs | undefined {
  const { other_metadata: other, stac_discovery: item } = attributes as Record<string, Attributes | undefined>;
  const code = toText(other?.["horizontal_CRS_code"]);
  const properties = item?.["properties"];
  return (
    (code === undefined ? undefined : findCrs(code)) ??
    (typeof properties === "object" && properties !== null ? findCubeCrs(properties as Attributes) : undefined)
  );
}

/** PROJJSON by the code that it names itself with; the whole of it is not read. */
function fromProjJson(value: unknown): Crs | undefined {
  const id = (value as { id?: { authority?: unknown; code?: unknown } } | null | undefined)?.id;
  const [authority, code] = [toText(id?.authority), typeof id?.code === "number" ? String(id.code) : toText(id?.code)];
  return authority === undefined || code === undefined ? undefined : findCrs(`${authority}:${code}`);
}

/** What attributes call a system, where that is none which `findCubeCrs` knows: it must not be taken for another one. */
export function nameUnknownCrs(attributes: Attributes): string | undefined {
  if (findCubeCrs(attributes) !== undefined) {
    return undefined;
  }
  const name =
    toText(attributes["grid_mapping_name"]) ??
    toText(attributes["proj:code"]) ??
    toText(attributes["crs_wkt"]) ??
    toText(attributes["spatial_ref"]) ??
    toText(attributes["proj:wkt2"]) ??
    (attributes["proj:projjson"] === undefined ? undefined : "PROJJSON without a known code");
  return name?.slice(0, MAX_NAME);
}

function fromWkt(text: string | undefined): Crs | undefined {
  if (text === undefined || text.length > MAX_WKT_CHARACTERS) {
    return undefined;
  }
  // The code of the whole stands at its end.
  const code = /(?:AUTHORITY\["EPSG",\s*"(\d+)"\]|ID\["EPSG",\s*(\d+)\])\s*\]\s*$/i.exec(text);
  const known = code === null ? undefined : findCrs(`EPSG:${code[1] ?? code[2]}`);
  if (known !== undefined) {
    return known;
  }
  return findWktCrs(text);
}

function fromMapping(attributes: Attributes): Crs | undefined {
  const name = toText(attributes["grid_mapping_name"])?.toLowerCase() ?? "";
  const projection = PROJECTIONS.get(name);
  if (projection === undefined) {
    return undefined;
  }
  const parts = PARAMETERS.flatMap(([attribute, parameter]) => {
    const value = toNumber(attributes[attribute]);
    return value === undefined ? [] : [`+${parameter}=${value}`];
  });
  const parallels = attributes["standard_parallel"];
  const list = (
    Array.isArray(parallels) || ArrayBuffer.isView(parallels)
      ? [...(parallels as unknown as readonly unknown[])]
      : [parallels]
  ).flatMap((value) => toNumber(value) ?? []);
  // Of a polar projection the parallel is where its scale is true; its origin is the pole.
  const named = projection === "stere" || projection === "merc" ? ["lat_ts"] : ["lat_1", "lat_2"];
  parts.push(...list.slice(0, named.length).map((value, at) => `+${named[at]}=${value}`));
  const hasFigure = parts.some((part) => /^\+(a|R)=/.test(part));
  return findCustomCrs(`+proj=${projection} ${parts.join(" ")}${hasFigure ? "" : " +datum=WGS84"} +no_defs`);
}
