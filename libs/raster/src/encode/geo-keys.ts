import {
  FALSE_ORIGIN,
  KEY,
  type KeyName,
  METHODS,
  USER_DEFINED,
  findUserDefinedCrs,
} from "../readers/geotiff/user-defined-crs.ts";
import type { Crs } from "../warp/crs.ts";

/** GeoKeys of a system (GeoTIFF 1.1): whole numbers by their key, and those that are real numbers. */
export interface GeoKeys {
  readonly shorts: ReadonlyMap<number, number>;
  readonly doubles: ReadonlyMap<number, number>;
}

const PROJECTED = 1;
const GEOGRAPHIC = 2;
const METRE = 9001;
/** Projections of UTM's zones have the number of their zone and these. */
const [UTM_NORTH, UTM_SOUTH] = [16_000, 16_100];
const FIGURE = [
  ["a", "majorAxis"],
  ["b", "minorAxis"],
  ["rf", "inverseFlattening"],
] as const;
const USER_DEFINED_BASE = [
  [KEY.geographic, USER_DEFINED],
  [KEY.datum, USER_DEFINED],
  [KEY.ellipsoid, USER_DEFINED],
] as const;
const USER_DEFINED_PLANE = [
  [KEY.model, PROJECTED],
  [KEY.projected, USER_DEFINED],
  [KEY.projection, USER_DEFINED],
  [KEY.linearUnits, METRE],
] as const;

/** `undefined` for systems that GeoTIFF cannot describe, or that would not be the same when read again. */
export function findGeoKeys(crs: Crs): GeoKeys | undefined {
  const code = crs.id === "OGC:CRS84" ? 4326 : Number(/^EPSG:(\d+)$/.exec(crs.id)?.[1]);
  if (Number.isInteger(code)) {
    const shorts = new Map([[KEY.model, crs.isGeographic ? GEOGRAPHIC : PROJECTED] as const]);
    return {
      shorts: new Map([...shorts, [crs.isGeographic ? KEY.geographic : KEY.projected, code]]),
      doubles: new Map(),
    };
  }
  const [, zone] = /\+proj=utm .*\+zone=(\d+)/.exec(crs.proj4) ?? [];
  return zone === undefined
    ? [...Object.keys(METHODS), undefined].map((method) => describe(crs, method)).find((keys) => keys !== undefined)
    : describeUtm(crs, Number(zone));
}

function describeUtm(crs: Crs, zone: number): GeoKeys | undefined {
  const doubles = toDoubles(crs, FIGURE);
  const projection = zone + (/\+south\b/.test(crs.proj4) ? UTM_SOUTH : UTM_NORTH);
  const shorts = new Map([...USER_DEFINED_BASE, ...USER_DEFINED_PLANE, [KEY.projection, projection] as const]);
  return check(crs, { shorts, doubles });
}

/** As a projection by a method, or as degrees; `undefined` where it is another. */
function describe(crs: Crs, number: string | undefined): GeoKeys | undefined {
  const method = METHODS[Number(number)];
  if (
    method === undefined ? !crs.isGeographic : crs.isGeographic || !crs.proj4.includes(`+proj=${method.projection} `)
  ) {
    return undefined;
  }
  if (method === undefined) {
    const shorts = new Map([...USER_DEFINED_BASE, [KEY.model, GEOGRAPHIC] as const]);
    return check(crs, { shorts, doubles: toDoubles(crs, FIGURE) });
  }
  const own = [...method.parameters, ...FALSE_ORIGIN].flatMap(([name, [key]]) =>
    key === undefined ? [] : [[name, key] as const],
  );
  const shorts = new Map([...USER_DEFINED_BASE, ...USER_DEFINED_PLANE, [KEY.method, Number(number)] as const]);
  return check(crs, { shorts, doubles: toDoubles(crs, [...FIGURE, ...own]) });
}

function toDoubles({ proj4 }: Crs, parameters: readonly (readonly [string, KeyName])[]): ReadonlyMap<number, number> {
  const values = new Map(
    [...proj4.matchAll(/\+(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, Number(value)] as const),
  );
  return new Map(
    parameters.flatMap(([name, key]) => {
      const value = values.get(name);
      return value === undefined || !Number.isFinite(value) ? [] : [[KEY[key], value] as const];
    }),
  );
}

function check(crs: Crs, keys: GeoKeys): GeoKeys | undefined {
  const again = findUserDefinedCrs(new Map([...keys.shorts, ...keys.doubles]));
  return again !== undefined && toSorted(again.proj4) === toSorted(crs.proj4) ? keys : undefined;
}

const toSorted = (definition: string) =>
  definition
    .split(/\s+/)
    .filter((part) => part !== "+no_defs" && part !== "+units=m")
    .map((part) => part.replace(/^\+k=/, "+k_0="))
    .toSorted()
    .join(" ");
