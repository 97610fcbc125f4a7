import { type Crs, findCrs, findCustomCrs } from "../../warp/crs.ts";

/** Numbers of GeoKeys (GeoTIFF 1.1 annex B). */
export const KEY = {
  model: 1024,
  geographic: 2048,
  datum: 2050,
  meridian: 2051,
  angularUnits: 2054,
  ellipsoid: 2056,
  majorAxis: 2057,
  minorAxis: 2058,
  inverseFlattening: 2059,
  meridianLongitude: 2061,
  shift: 2062,
  projected: 3072,
  projection: 3074,
  method: 3075,
  linearUnits: 3076,
  linearUnitSize: 3077,
  parallel1: 3078,
  parallel2: 3079,
  originLongitude: 3080,
  originLatitude: 3081,
  falseEasting: 3082,
  falseNorthing: 3083,
  falseOriginLongitude: 3084,
  falseOriginLatitude: 3085,
  falseOriginEasting: 3086,
  falseOriginNorthing: 3087,
  centreLongitude: 3088,
  centreLatitude: 3089,
  originScale: 3092,
  centreScale: 3093,
  azimuth: 3094,
  poleLongitude: 3095,
  rectifiedAngle: 3096,
} as const;
export type KeyName = keyof typeof KEY;

export type KeyValues = ReadonlyMap<number, number | readonly number[] | string>;

export const USER_DEFINED = 32_767;
const MODEL_PROJECTED = 1;
const MODEL_GEOGRAPHIC = 2;
const DEGREE = 9102;
const GREENWICH = 8901;
/** Metres of EPSG's units of length. */
const LINEAR_UNITS: Readonly<Record<number, number>> = { 9001: 1, 9002: 0.3048, 9003: 1200 / 3937, 9036: 1000 };
/** Ellipsoids of EPSG: half axes in metres, or the greater one and the inverse flattening. */
const ELLIPSOIDS: Readonly<Record<number, string>> = {
  7001: "+a=6377563.396 +rf=299.3249646",
  7004: "+a=6377397.155 +rf=299.1528128",
  7008: "+a=6378206.4 +b=6356583.8",
  7012: "+a=6378249.145 +rf=293.465",
  7019: "+a=6378137 +rf=298.257222101",
  7022: "+a=6378388 +rf=297",
  7024: "+a=6378245 +rf=298.3",
  7030: "+a=6378137 +rf=298.257223563",
  7035: "+a=6371000 +b=6371000",
  7043: "+a=6378135 +rf=298.26",
};

type Parameters = readonly (readonly [parameter: string, keys: readonly KeyName[], required?: true])[];

const NATURAL: Parameters = [
  ["lat_0", ["originLatitude", "centreLatitude"]],
  ["lon_0", ["originLongitude", "centreLongitude"]],
];
const CENTRE: Parameters = [
  ["lat_0", ["centreLatitude", "originLatitude"]],
  ["lon_0", ["centreLongitude", "originLongitude"]],
];
const MERIDIAN: Parameters = [["lon_0", ["centreLongitude", "originLongitude"]]];
const SCALE: Parameters = [["k_0", ["originScale", "centreScale"]]];
const PARALLELS: Parameters = [
  ["lat_1", ["parallel1"], true],
  ["lat_2", ["parallel2"], true],
];
const OBLIQUE: Parameters = [
  ["lat_0", ["centreLatitude"], true],
  ["lonc", ["centreLongitude"], true],
  ["alpha", ["azimuth"], true],
  ["gamma", ["rectifiedAngle"]],
  ["k_0", ["centreScale", "originScale"]],
];

/** Coordinate transformation methods (GeoTIFF 1.1 annex C) in terms of PROJ. Those left out are not read. */
export const METHODS: Readonly<Record<number, { readonly projection: string; readonly parameters: Parameters }>> = {
  1: { projection: "tmerc", parameters: [...NATURAL, ...SCALE] },
  3: { projection: "omerc +no_uoff", parameters: OBLIQUE },
  7: { projection: "merc", parameters: [["lon_0", ["originLongitude"]], ["lat_ts", ["parallel1"]], ...SCALE] },
  8: {
    projection: "lcc",
    parameters: [
      ["lat_0", ["falseOriginLatitude", "originLatitude"], true],
      ["lon_0", ["falseOriginLongitude", "originLongitude"], true],
      ...PARALLELS,
    ],
  },
  9: { projection: "lcc", parameters: [["lat_1", ["originLatitude"], true], ...NATURAL, ...SCALE] },
  10: { projection: "laea", parameters: CENTRE },
  11: { projection: "aea", parameters: [...NATURAL, ...PARALLELS] },
  12: { projection: "aeqd", parameters: CENTRE },
  13: { projection: "eqdc", parameters: [...NATURAL, ...PARALLELS] },
  14: { projection: "stere", parameters: [...CENTRE, ...SCALE] },
  16: { projection: "sterea", parameters: [...NATURAL, ...SCALE] },
  17: { projection: "eqc", parameters: [...CENTRE, ["lat_ts", ["parallel1"]]] },
  18: { projection: "cass", parameters: NATURAL },
  19: { projection: "gnom", parameters: CENTRE },
  20: { projection: "mill", parameters: MERIDIAN },
  21: { projection: "ortho", parameters: CENTRE },
  22: { projection: "poly", parameters: NATURAL },
  23: { projection: "robin", parameters: MERIDIAN },
  24: { projection: "sinu", parameters: MERIDIAN },
  25: { projection: "vandg", parameters: MERIDIAN },
  28: {
    projection: "cea",
    parameters: [
      ["lon_0", ["originLongitude"]],
      ["lat_ts", ["parallel1"]],
    ],
  },
};
const POLAR_STEREOGRAPHIC = 15;
export const FALSE_ORIGIN: Parameters = [
  ["x_0", ["falseEasting", "falseOriginEasting"]],
  ["y_0", ["falseNorthing", "falseOriginNorthing"]],
];

/** The system that keys describe without a code; `undefined` where any of them is not understood. */
export function findUserDefinedCrs(keys: KeyValues): Crs | undefined {
  const model = numberOf(keys, "model");
  const base = toBase(keys);
  if (base === undefined || (numberOf(keys, "angularUnits") ?? DEGREE) !== DEGREE) {
    return undefined;
  }
  if (model === MODEL_GEOGRAPHIC) {
    return findCustomCrs(`+proj=longlat ${base} +no_defs`);
  }
  const unit = toUnit(keys);
  const projection = toProjection(keys, unit ?? 1);
  return model === MODEL_PROJECTED && unit !== undefined && projection !== undefined
    ? findCustomCrs(`${projection} ${base}${unit === 1 ? "" : ` +to_meter=${unit}`} +no_defs`)
    : undefined;
}

/** Ellipsoid, meridian and shift of the system of degrees: that of its code, or what keys say. */
function toBase(keys: KeyValues): string | undefined {
  const code = numberOf(keys, "geographic");
  if (code !== undefined && code !== USER_DEFINED) {
    const known = findCrs(`EPSG:${code}`);
    return known?.isGeographic === true ? known.proj4.replace("+proj=longlat ", "") : undefined;
  }
  const datum = numberOf(keys, "datum");
  const [a, b, rf] = [numberOf(keys, "majorAxis"), numberOf(keys, "minorAxis"), numberOf(keys, "inverseFlattening")];
  const ofDatum =
    datum === undefined || datum === USER_DEFINED ? undefined : findCrs(`EPSG:${datum - DATUM_TO_SYSTEM}`);
  if (datum !== undefined && datum !== USER_DEFINED) {
    return ofDatum?.isGeographic === true ? ofDatum.proj4.replace("+proj=longlat ", "") : undefined;
  }
  const ellipsoid = numberOf(keys, "ellipsoid");
  const figure =
    a !== undefined
      ? rf !== undefined && rf !== 0
        ? `+a=${a} +rf=${rf}`
        : `+a=${a} +b=${b ?? a}`
      : ellipsoid === undefined
        ? undefined
        : ELLIPSOIDS[ellipsoid];
  const meridian =
    numberOf(keys, "meridianLongitude") ?? ((numberOf(keys, "meridian") ?? GREENWICH) === GREENWICH ? 0 : undefined);
  const shift = keys.get(KEY.shift);
  if (figure === undefined || meridian === undefined || (shift !== undefined && !Array.isArray(shift))) {
    return undefined;
  }
  return [
    figure,
    ...(meridian === 0 ? [] : [`+pm=${meridian}`]),
    ...(Array.isArray(shift) ? [`+towgs84=${shift.join(",")}`] : []),
  ].join(" ");
}

/** A geodetic datum of EPSG has the number of its system of degrees, and 2000. */
const DATUM_TO_SYSTEM = 2000;

function toUnit(keys: KeyValues): number | undefined {
  const code = numberOf(keys, "linearUnits") ?? 9001;
  return code === USER_DEFINED ? numberOf(keys, "linearUnitSize") : LINEAR_UNITS[code];
}

function toProjection(keys: KeyValues, unit: number): string | undefined {
  const zone = numberOf(keys, "projection");
  if (zone !== undefined && zone !== USER_DEFINED) {
    // UTM: 16001 to 16060 north, 16101 to 16160 south. Other projections of EPSG come with a code of their own system.
    const [isNorth, isSouth] = [zone > 16_000 && zone <= 16_060, zone > 16_100 && zone <= 16_160];
    return isNorth || isSouth ? `+proj=utm +zone=${zone % 100}${isSouth ? " +south" : ""}` : undefined;
  }
  const number = numberOf(keys, "method");
  const method = number === POLAR_STEREOGRAPHIC ? toPolar(keys) : number === undefined ? undefined : METHODS[number];
  if (method === undefined) {
    return undefined;
  }
  const parts = [`+proj=${method.projection}`];
  for (const [parameter, names, isRequired] of method.parameters) {
    const value = names.map((name) => numberOf(keys, name)).find((each) => each !== undefined);
    if (value === undefined && isRequired === true) {
      return undefined;
    }
    parts.push(...(value === undefined ? [] : [`+${parameter}=${value}`]));
  }
  // Coordinates of the origin are in the units of the system, those of a definition in metres.
  for (const [parameter, names] of FALSE_ORIGIN) {
    const value = names.map((name) => numberOf(keys, name)).find((each) => each !== undefined);
    parts.push(...(value === undefined ? [] : [`+${parameter}=${value * unit}`]));
  }
  return parts.join(" ");
}

/** The latitude is where the scale is true, or, at a pole, its place. */
function toPolar(keys: KeyValues): (typeof METHODS)[number] | undefined {
  const latitude = numberOf(keys, "originLatitude");
  if (latitude === undefined) {
    return undefined;
  }
  const isPole = Math.abs(latitude) === 90;
  return {
    projection: `stere +lat_0=${latitude < 0 ? -90 : 90}${isPole ? "" : ` +lat_ts=${latitude}`}`,
    parameters: [["lon_0", ["poleLongitude", "originLongitude"]], ...(isPole ? SCALE : [])],
  };
}

function numberOf(keys: KeyValues, name: KeyName): number | undefined {
  const value = keys.get(KEY[name]);
  return typeof value === "number" ? value : undefined;
}
