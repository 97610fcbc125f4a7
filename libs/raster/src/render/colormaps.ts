import * as chromatic from "d3-scale-chromatic";

import { invalidRequest } from "../errors.ts";

/** Red, green, blue, alpha for 256 values. */
export type ColorTable = Uint8Array;

/**
 * How a single band gets its colours: by name, by stops along the rescaled range, or by classes of values.
 * Classes leave every other value transparent.
 */
export type ColormapSpec =
  | { readonly kind: "named"; readonly name: string }
  /** Position from 0 to 1 and colour. */
  | { readonly kind: "stops"; readonly stops: readonly (readonly [number, Color])[] }
  | { readonly kind: "classes"; readonly classes: readonly (readonly [value: number, Color])[] }
  /** Values from the first number on and below the second. */
  | { readonly kind: "intervals"; readonly intervals: readonly (readonly [from: number, to: number, Color])[] };

export type Color = readonly [red: number, green: number, blue: number, alpha: number];

const NAMED: ReadonlyMap<string, (position: number) => string> = new Map(
  Object.entries(chromatic)
    .filter(([key, value]) => key.startsWith("interpolate") && typeof value === "function")
    .map(([key, value]) => [key.slice("interpolate".length).toLowerCase(), value as (position: number) => string]),
);

const STOPS: Readonly<Record<string, readonly (readonly [number, Color])[]>> = {
  gray: [
    [0, [0, 0, 0, 255]],
    [1, [255, 255, 255, 255]],
  ],
  terrain: [
    [0, [51, 102, 153, 255]],
    [0.02, [148, 191, 139, 255]],
    [0.2, [168, 198, 143, 255]],
    [0.4, [239, 235, 192, 255]],
    [0.6, [211, 202, 157, 255]],
    [0.8, [185, 152, 90, 255]],
    [1, [245, 244, 242, 255]],
  ],
};

/** Names that `colormap_name` takes; each also with `_r`, reversed. */
export const COLORMAP_NAMES: readonly string[] = [...NAMED.keys(), ...Object.keys(STOPS)].toSorted();

const cache = new Map<string, ColorTable>();

/** @throws {RasterError} `invalid-request` for names that nobody knows */
export function namedColorTable(name: string): ColorTable {
  const known = cache.get(name);
  if (known !== undefined) {
    return known;
  }
  const lower = name.toLowerCase();
  const base = lower.replace(/_r$/, "");
  const stops = Object.hasOwn(STOPS, base) ? STOPS[base] : undefined;
  const interpolate = NAMED.get(base);
  if (stops === undefined && interpolate === undefined) {
    throw invalidRequest(
      `The colour map "${name.slice(0, 50)}" does not exist; there are: ${COLORMAP_NAMES.join(", ")}.`,
    );
  }
  const table = new Uint8Array(1024);
  const forward = stops === undefined ? undefined : stopsColorTable(stops);
  for (let index = 0; index < 256; index += 1) {
    const from = lower.endsWith("_r") ? 255 - index : index;
    table.set(
      forward === undefined
        ? parseColor(interpolate?.(from / 255) ?? "#000")
        : forward.subarray(from * 4, from * 4 + 4),
      index * 4,
    );
  }
  cache.set(name, table);
  return table;
}

export function stopsColorTable(stops: readonly (readonly [number, Color])[]): ColorTable {
  if (stops.length === 0) {
    throw invalidRequest("A colour map needs at least one colour.");
  }
  const sorted = stops.toSorted(([a], [b]) => a - b);
  const table = new Uint8Array(1024);
  for (let index = 0; index < 256; index += 1) {
    const position = index / 255;
    const after = sorted.findIndex(([at]) => at >= position);
    const [high, highColor] = sorted[after < 0 ? sorted.length - 1 : after]!;
    const [low, lowColor] = sorted[after < 0 ? sorted.length - 1 : Math.max(0, after - 1)]!;
    const share = high === low ? 0 : (position - low) / (high - low);
    for (let channel = 0; channel < 4; channel += 1) {
      table[index * 4 + channel] = Math.round(
        lowColor[channel]! + (highColor[channel]! - lowColor[channel]!) * Math.max(0, Math.min(1, share)),
      );
    }
  }
  return table;
}

/**
 * Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb(…)`, or three or four numbers.
 * @throws {RasterError} `invalid-request`
 */
export function parseColor(value: unknown): Color {
  if (
    Array.isArray(value) &&
    (value.length === 3 || value.length === 4) &&
    value.every((part) => Number.isFinite(Number(part)))
  ) {
    const [red = 0, green = 0, blue = 0, alpha = 255] = value.map((part) => Math.max(0, Math.min(255, Number(part))));
    return [red, green, blue, alpha];
  }
  const text = typeof value === "string" ? value.trim() : "";
  const numbers = /^rgba?\(([\d.,\s]+)\)$/.exec(text)?.[1];
  if (numbers !== undefined) {
    return parseColor(numbers.split(",").map(Number).slice(0, 3));
  }
  const hex = /^(?:#|0x)?([0-9a-f]{3,8})$/i.exec(text)?.[1] ?? "";
  const digits = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
  if (digits.length !== 6 && digits.length !== 8) {
    throw invalidRequest("A colour is #rrggbb, #rrggbbaa or three or four numbers from 0 to 255.");
  }
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16);
  return [part(0), part(2), part(4), digits.length === 8 ? part(6) : 255];
}

/**
 * The `colormap` parameter of tilers: `{"1": [r, g, b], …}` for classes or 256 steps, `[[[from, to], color], …]` for intervals,
 * and `{"stops": [[0, color], [1, color]]}`.
 * @throws {RasterError} `invalid-request`
 */
export function parseColormap(value: unknown): ColormapSpec {
  if (Array.isArray(value)) {
    return {
      kind: "intervals",
      intervals: value.slice(0, 4096).map((entry: unknown) => {
        const [range, color] = Array.isArray(entry) ? (entry as unknown[]) : [];
        const [from, to] = Array.isArray(range) ? range.map(Number) : [];
        if (from === undefined || to === undefined || Number.isNaN(from) || Number.isNaN(to)) {
          throw invalidRequest("An interval of a colour map is [[from, to], colour].");
        }
        return [from, to, parseColor(color)] as const;
      }),
    };
  }
  if (typeof value !== "object" || value === null) {
    throw invalidRequest("A colour map is an object of values and colours or a list of intervals.");
  }
  const { stops } = value as { stops?: unknown };
  if (Array.isArray(stops)) {
    return {
      kind: "stops",
      stops: stops
        .slice(0, 4096)
        .map((entry: unknown) => [Number((entry as unknown[])[0]), parseColor((entry as unknown[])[1])] as const),
    };
  }
  const entries = Object.entries(value).slice(0, 65_536);
  if (entries.length === 0 || entries.some(([key]) => !Number.isFinite(Number(key)))) {
    throw invalidRequest("The keys of a colour map are numbers.");
  }
  return { kind: "classes", classes: entries.map(([key, color]) => [Number(key), parseColor(color)] as const) };
}
