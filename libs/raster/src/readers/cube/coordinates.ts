import { RasterError } from "../../errors.ts";
import { type Cube, type CubeVariable, sizeOf, toNumber, toText } from "./cube.ts";

/** Coordinates of a dimension that are read. */
const MAX_COORDINATES = 2 ** 20;
/** Share of a step by which a coordinate may be off: those stored with few digits are. */
const MAX_IRREGULARITY = 0.25;
const MILLISECONDS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    second: 1000,
    sec: 1000,
    s: 1000,
    minute: 60_000,
    min: 60_000,
    hour: 3_600_000,
    h: 3_600_000,
    hr: 3_600_000,
    day: 86_400_000,
    d: 86_400_000,
    millisecond: 1,
    microsecond: 0.001,
    nanosecond: 0.000_001,
  }),
);

export type Axis = "x" | "y" | "time" | "other";

/** Which way the coordinates of a variable go (CF conventions, chapter 4), else what its name lets expect. */
export function axisOf(name: string, variable: CubeVariable | undefined): Axis {
  const { attributes = {} } = variable ?? {};
  const standard = toText(attributes["standard_name"]) ?? "";
  const units = toText(attributes["units"]) ?? "";
  const axis = toText(attributes["axis"])?.toUpperCase();
  if (axis === "X" || /^(longitude|projection_x_coordinate)$/.test(standard) || /^degrees?_?e(ast)?$/i.test(units)) {
    return "x";
  }
  if (axis === "Y" || /^(latitude|projection_y_coordinate)$/.test(standard) || /^degrees?_?n(orth)?$/i.test(units)) {
    return "y";
  }
  if (axis === "T" || standard === "time" || parseTimeUnits(units) !== undefined) {
    return "time";
  }
  const short = (name.split("/").at(-1) ?? "").toLowerCase();
  return /^(x|lon|longitude|long|easting|xc)$/.test(short)
    ? "x"
    : /^(y|lat|latitude|northing|yc)$/.test(short)
      ? "y"
      : /^(time|t|date)$/.test(short)
        ? "time"
        : "other";
}

/** Whether coordinates are degrees of longitude and latitude. */
export function isInDegrees({ attributes, name }: CubeVariable): boolean {
  return (
    /^degrees?_?[en]/i.test(toText(attributes["units"]) ?? "") ||
    /^(longitude|latitude)$/.test(toText(attributes["standard_name"]) ?? "") ||
    /^(lon|lat|longitude|latitude)$/i.test(name.split("/").at(-1) ?? "")
  );
}

/** All values of a variable of one dimension, unpacked. */
export async function readCoordinates(cube: Cube, variable: CubeVariable, signal?: AbortSignal): Promise<Float64Array> {
  const count = sizeOf(variable.shape);
  if (variable.shape.length !== 1 || count > MAX_COORDINATES) {
    throw new RasterError(
      "unsupported",
      `The coordinates "${variable.name.slice(0, 100)}" are not a list that is read.`,
    );
  }
  const samples = await cube.read(variable, [0], [count], signal);
  const scale = toNumber(variable.attributes["scale_factor"]) ?? 1;
  const offset = toNumber(variable.attributes["add_offset"]) ?? 0;
  return Float64Array.from(samples, (value) => value * scale + offset);
}

/** Outer edge of the first pixel and the length of one, of coordinates of centres. */
export function toSpacing(name: string, values: Float64Array): { readonly origin: number; readonly step: number } {
  const [first = Number.NaN, last = Number.NaN] = [values[0], values.at(-1)];
  const step = (last - first) / (values.length - 1);
  if (!Number.isFinite(step) || step === 0) {
    throw new RasterError("unsupported", `The coordinates "${name.slice(0, 100)}" do not say how large a pixel is.`);
  }
  if (values.some((value, at) => !(Math.abs(value - (first + at * step)) <= Math.abs(step) * MAX_IRREGULARITY))) {
    throw new RasterError("unsupported", `The coordinates "${name.slice(0, 100)}" are not evenly spaced.`);
  }
  return { origin: first - step / 2, step };
}

/** Coordinates as clients name them: times as instants, anything else as numbers. */
export function toLabels(values: Float64Array, { attributes }: CubeVariable): readonly (string | number)[] {
  const units = parseTimeUnits(toText(attributes["units"]) ?? "");
  const calendar = toText(attributes["calendar"])?.toLowerCase() ?? "standard";
  if (units === undefined || !/^(standard|gregorian|proleptic_gregorian)$/.test(calendar)) {
    return [...values];
  }
  return [...values].map((value) => {
    const time = new Date(Math.round(units.start + value * units.length));
    return Number.isNaN(time.getTime()) ? value : time.toISOString().replace(".000Z", "Z");
  });
}

function parseTimeUnits(units: string): { start: number; length: number } | undefined {
  const [, unit = "", date = "", clock = "0:0", zone = "Z"] =
    /^(\w+?)s? since (-?\d{1,4}-\d{1,2}-\d{1,2})[T ]*(\d{1,2}(?::\d{1,2}(?::\d{1,2}(?:\.\d+)?)?)?)? *(Z|UTC|[+-]\d{1,2}:?\d{2})?/i.exec(
      units,
    ) ?? [];
  const length = MILLISECONDS.get(unit.toLowerCase());
  if (length === undefined) {
    return undefined;
  }
  const [year = "", month = "", day = ""] = date.split("-");
  const [hour = "0", minute = "0", second = "0"] = clock.split(":");
  const [, sign = "+", hours = "0", minutes = "0"] = /([+-])(\d{1,2}):?(\d{2})/.exec(zone) ?? [];
  const shift = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const start = new Date(0);
  start.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  start.setUTCHours(Number(hour), Number(minute), 0, Math.round(Number(second) * 1000));
  return Number.isNaN(start.getTime()) ? undefined : { start: start.getTime() - shift, length };
}
