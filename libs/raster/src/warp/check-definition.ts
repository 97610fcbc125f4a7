/** Projections of proj4js that were compared with PROJ, and all of the parameters that each takes beside the common ones. */
const PROJECTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    aea: ["lat_0", "lon_0", "lat_1", "lat_2"],
    aeqd: ["lat_0", "lon_0"],
    cass: ["lat_0", "lon_0"],
    cea: ["lon_0", "lat_ts"],
    eqc: ["lat_0", "lon_0", "lat_ts"],
    eqdc: ["lat_0", "lon_0", "lat_1", "lat_2"],
    eqearth: ["lon_0"],
    geos: ["lon_0", "h", "sweep"],
    gnom: ["lat_0", "lon_0"],
    laea: ["lat_0", "lon_0"],
    lcc: ["lat_0", "lon_0", "lat_1", "lat_2", "k", "k_0"],
    longlat: [],
    merc: ["lon_0", "lat_ts", "k", "k_0"],
    mill: ["lon_0"],
    moll: ["lon_0"],
    omerc: ["lat_0", "lonc", "alpha", "gamma", "k", "k_0", "no_uoff", "no_off"],
    ortho: ["lat_0", "lon_0"],
    poly: ["lat_0", "lon_0"],
    robin: ["lon_0"],
    sinu: ["lon_0"],
    somerc: ["lat_0", "lon_0", "k", "k_0"],
    stere: ["lat_0", "lon_0", "lat_ts", "k", "k_0"],
    sterea: ["lat_0", "lon_0", "k", "k_0"],
    tmerc: ["lat_0", "lon_0", "k", "k_0"],
    utm: ["zone", "south"],
    vandg: ["lon_0"],
  }),
);
const COMMON = ["a", "b", "rf", "R", "ellps", "datum", "towgs84", "pm", "x_0", "y_0", "units", "to_meter"];
/** Without a meaning for where points are. */
const IGNORED = ["no_defs", "type", "wktext", "over"];
const FLAGS = ["south", "no_uoff", "no_off", ...IGNORED];
const WORDS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    // Others need grids, or shifts that proj4js knows otherwise than PROJ.
    datum: ["WGS84", "NAD83"],
    ellps: ["WGS84", "GRS80", "bessel", "clrk66", "intl", "krass", "airy", "mod_airy", "aust_SA", "sphere"],
    units: ["m", "km", "ft", "us-ft"],
    sweep: ["x", "y"],
  }),
);

/**
 * Rewrites a PROJ definition for proj4js, which takes what it does not know for something else in silence.
 * `undefined` where any part of it is not one of those that were compared with PROJ.
 */
export function toKnownDefinition(text: string): string | undefined {
  const parts = text
    .trim()
    .split(/\s+/)
    .map((part) => /^\+(\w+)(?:=(\S+))?$/.exec(part));
  const values = new Map(parts.map((part) => [part?.[1] ?? "", part?.[2] ?? ""]));
  const name = values.get("proj") === "latlong" ? "longlat" : (values.get("proj") ?? "");
  const own = PROJECTIONS.get(name);
  // A parameter that is said twice would be read in two ways.
  if (own === undefined || parts.includes(null) || values.size !== parts.length) {
    return undefined;
  }
  for (const [key, value] of values) {
    if (
      key === "proj" ||
      (key === "nadgrids" && value === "@null") ||
      (IGNORED.includes(key) && (key !== "type" || value === "crs"))
    ) {
      continue;
    }
    const isKnown = own.includes(key) || COMMON.includes(key);
    const words = WORDS.get(key);
    const isValid =
      words !== undefined
        ? words.includes(value)
        : key === "towgs84"
          ? isShift(value)
          : FLAGS.includes(key)
            ? value === ""
            : isNumber(value);
    if (!isKnown || !isValid) {
      return undefined;
    }
  }
  const [a, b] = [Number(values.get("a")), Number(values.get("b"))];
  if (a !== b && a > 0 && b > 0) {
    // Some projections of proj4js look at the flattening alone.
    values.delete("b");
    values.set("rf", String(a / (a - b)));
  }
  return isComplete(name, values)
    ? [...values]
        .filter(([key]) => !IGNORED.includes(key))
        .map(([key, value]) => (key === "proj" ? `+proj=${name}` : value === "" ? `+${key}` : `+${key}=${value}`))
        .join(" ")
    : undefined;
}

function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
}

const isShift = (text: string): boolean =>
  [3, 7].includes(text.split(",").length) && text.split(",").every((each) => isNumber(each));

/** What PROJ requires, and proj4js would make up. */
function isComplete(name: string, values: ReadonlyMap<string, string>): boolean {
  switch (name) {
    case "utm":
      return /^([1-9]|[1-5]\d|60)$/.test(values.get("zone") ?? "");
    case "aea":
    case "eqdc":
    case "lcc":
      return values.has("lat_1");
    case "omerc":
      return values.has("lonc") && values.has("alpha");
    case "geos":
      return Number(values.get("h")) > 0;
    default:
      return true;
  }
}
