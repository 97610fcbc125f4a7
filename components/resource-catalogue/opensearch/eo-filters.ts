import { badParameter } from "../http/errors.ts";
import { type Expression, allOf, call, property } from "../query/expression.ts";

/** Properties of STAC that parameters of the EO extension look at: texts without case, numbers by range. */
const TEXTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    platform: ["platform"],
    instrument: ["instruments"],
    sensorMode: ["sar:instrument_mode"],
    productType: ["product:type", "sar:product_type", "s2:product_type"],
    processingLevel: ["processing:level"],
    orbitDirection: ["sat:orbit_state"],
    polarisationChannels: ["sar:polarizations"],
  }),
);
const NUMBERS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    orbitNumber: "sat:absolute_orbit",
    track: "sat:relative_orbit",
    resolution: "gsd",
    cloudCover: "eo:cloud_cover",
    snowCover: "eo:snow_cover",
    illuminationElevationAngle: "view:sun_elevation",
  }),
);

/** The filter that parameters of the EO extension (OGC 13-026r9 §9) make. @throws {Problem} 400 for a range that is none */
export function toEoFilter(parameters: ReadonlyMap<string, string>): Expression | undefined {
  const filters = [...parameters].map(([name, value]): Expression | undefined => {
    const texts = TEXTS.get(name);
    if (texts !== undefined) {
      return anyOf(texts.flatMap((text) => splitList(value).map((requested) => isText(text, requested))));
    }
    const number = NUMBERS.get(name);
    if (number !== undefined) {
      return parseRange(name, value, property(number));
    }
    return name === "sensorType" ? toSensorFilter(value) : undefined;
  });
  return allOf(filters);
}

/** `a`, or `{a,b}` for any of them. */
const splitList = (value: string): readonly string[] =>
  /^\{.*\}$/.test(value) ? value.slice(1, -1).split(",") : [value];

const isText = (name: string, requested: string): Expression =>
  call(
    "like",
    call("casei", property(name)),
    call("casei", { kind: "string", value: requested.replaceAll(/[\\%_]/g, "\\$&") }),
  );

const anyOf = (filters: readonly Expression[]): Expression =>
  filters.length === 1 ? (filters[0] as Expression) : call("or", ...filters);

function toSensorFilter(value: string): Expression {
  switch (value.toUpperCase()) {
    case "OPTICAL":
      return call("not", call("isNull", property("eo:cloud_cover")));
    case "RADAR":
      return call("not", call("isNull", property("sar:instrument_mode")));
    default:
      throw badParameter("sensorType", "must be OPTICAL or RADAR");
  }
}

const NUMBER = String.raw`([+-]?(?:\d+\.?\d*|\.\d+))`;

/** `n`, `[a,b]`, `]a,b[`, `[a`, `b]`, `{a,b}`; and `b[` for less, `]a` for more (OGC 13-026r9 §9.2). */
export function parseRange(name: string, text: string, subject: Expression): Expression {
  const number = (value: string): Expression => ({ kind: "number", value: Number(value) });
  const set = splitList(text);
  if (set.every((entry) => new RegExp(`^${NUMBER}$`).test(entry))) {
    return anyOf(set.map((entry) => call("=", subject, number(entry))));
  }
  const match = new RegExp(`^([[\\]])?${NUMBER}?(?:,${NUMBER}?)?([[\\]])?$`).exec(text);
  const [, open, first, second, close] = match ?? [];
  const isPair = text.includes(",");
  const low = isPair || open !== undefined ? first : undefined;
  const high = isPair ? second : open === undefined ? first : undefined;
  if (match === null || (low === undefined && high === undefined) || (open === undefined && close === undefined)) {
    throw badParameter(name, "must be a number or a range: 10, [0,10], ]0,10[, [10, 10], {1,2}");
  }
  return allOf([
    low === undefined ? undefined : call(open === "]" ? ">" : ">=", subject, number(low)),
    high === undefined ? undefined : call(close === "[" ? "<" : "<=", subject, number(high)),
  ]) as Expression;
}
