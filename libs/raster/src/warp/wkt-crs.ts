import proj4 from "proj4";

import { type Crs, findCustomCrs } from "./crs.ts";

/** What proj4js reads of WKT: angles in radians, lengths in metres. */
interface Parsed {
  readonly projName: string;
  readonly names?: readonly string[];
  readonly datumCode?: string;
  readonly datum_params?: readonly (number | string)[] | null;
  readonly from_greenwich?: number;
  readonly a: number;
  readonly b: number;
  readonly to_meter?: number;
  readonly axis?: string;
  readonly [name: string]: unknown;
}

const DEGREE = Math.PI / 180;
const ANGLES: readonly (readonly [field: string, parameter: string])[] = [
  ["lat0", "lat_0"],
  ["long0", "lon_0"],
  ["longc", "lonc"],
  ["lat1", "lat_1"],
  ["lat2", "lat_2"],
  ["lat_ts", "lat_ts"],
  ["alpha", "alpha"],
];
const LENGTHS: readonly (readonly [field: string, parameter: string])[] = [
  ["k0", "k_0"],
  ["x0", "x_0"],
  ["y0", "y_0"],
];
/** Parameters of a method that WKT may name; others would be left out in silence. */
const METHODS: ReadonlyMap<string, { readonly projection: string; readonly parameters: readonly string[] }> = new Map(
  Object.entries<{ readonly projection: string; readonly parameters: readonly string[] }>({
    transverse_mercator: { projection: "tmerc", parameters: ["lat_0", "lon_0", "k_0"] },
    gauss_kruger: { projection: "tmerc", parameters: ["lat_0", "lon_0", "k_0"] },
    lambert_conformal_conic_2sp: { projection: "lcc", parameters: ["lat_0", "lon_0", "lat_1", "lat_2"] },
    lambert_conic_conformal_2sp: { projection: "lcc", parameters: ["lat_0", "lon_0", "lat_1", "lat_2"] },
    lambert_azimuthal_equal_area: { projection: "laea", parameters: ["lat_0", "lon_0"] },
    albers_conic_equal_area: { projection: "aea", parameters: ["lat_0", "lon_0", "lat_1", "lat_2"] },
    albers_equal_area: { projection: "aea", parameters: ["lat_0", "lon_0", "lat_1", "lat_2"] },
    albers: { projection: "aea", parameters: ["lat_0", "lon_0", "lat_1", "lat_2"] },
    sinusoidal: { projection: "sinu", parameters: ["lon_0"] },
    mollweide: { projection: "moll", parameters: ["lon_0"] },
    azimuthal_equidistant: { projection: "aeqd", parameters: ["lat_0", "lon_0"] },
  }),
);
/** Datums within a metre of WGS 84, and figures without one; any other needs its own shift. */
const CLOSE_TO_WGS84 =
  /wgs_?(19)?84|etrs_?(19)?89|european_terrestrial|nad_?(19)?83|north_american(_datum)?_1983|itrf|grs_?(19)?80/i;

/** A system of WKT without a code. `undefined` where proj4js could take any of it for something else. */
export function findWktCrs(wkt: string): Crs | undefined {
  let parsed: Parsed;
  try {
    parsed = proj4.Proj(wkt) as unknown as Parsed;
  } catch {
    return undefined;
  }
  const datum = String(parsed.datumCode ?? "").replace(/\s/g, "_");
  // proj4js knows shifts of some datums by their names, which are not those that PROJ takes.
  const shift = /TOWGS84\[|ABRIDGEDTRANSFORMATION\[/i.test(wkt) ? parsed.datum_params?.map(Number) : undefined;
  const isSphere = parsed.a === parsed.b;
  if ((shift === undefined && !isSphere && !CLOSE_TO_WGS84.test(datum)) || (parsed.axis ?? "enu") !== "enu") {
    return undefined;
  }
  const base = [
    `+a=${parsed.a} +b=${parsed.b}`,
    ...((parsed.from_greenwich ?? 0) === 0 ? [] : [`+pm=${parsed.from_greenwich! / DEGREE}`]),
    ...(shift === undefined ? (isSphere ? [] : ["+towgs84=0,0,0"]) : [`+towgs84=${shift.join(",")}`]),
  ].join(" ");
  if (parsed.projName === "longlat") {
    return findCustomCrs(`+proj=longlat ${base}`);
  }
  const method = METHODS.get(parsed.projName.toLowerCase().replace(/\W+/g, "_").replace(/_$/, ""));
  if (method === undefined) {
    return undefined;
  }
  const angles = ANGLES.filter(([, parameter]) => method.parameters.includes(parameter)).flatMap(
    ([field, parameter]) => {
      const value = parsed[field];
      return typeof value === "number" && Number.isFinite(value) ? [`+${parameter}=${toDegrees(value)}`] : [];
    },
  );
  const lengths = LENGTHS.flatMap(([field, parameter]) => {
    const value = parsed[field];
    return typeof value === "number" && (parameter !== "k_0" || method.parameters.includes(parameter))
      ? [`+${parameter}=${value}`]
      : [];
  });
  const unit = parsed.to_meter === undefined || parsed.to_meter === 1 ? "" : ` +to_meter=${parsed.to_meter}`;
  return findCustomCrs(`+proj=${method.projection} ${[...angles, ...lengths].join(" ")} ${base}${unit}`);
}

/** Whole and half degrees come back from radians with an error in the last digit. */
const toDegrees = (radians: number): number => Number((radians / DEGREE).toFixed(11));
