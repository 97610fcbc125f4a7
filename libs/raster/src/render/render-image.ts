import { LRUCache } from "lru-cache";

import { invalidRequest } from "../errors.ts";
import { type ColorOperation, type Curve, curveOf } from "./color-operations.ts";
import { type ColorTable, type ColormapSpec, namedColorTable, stopsColorTable } from "./colormaps.ts";
import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { Samples } from "../readers/raster.ts";
import { isClear, isFull, uniteInto } from "./masks.ts";
import type { Plane } from "./plane.ts";

export type Range = readonly [min: number, max: number];

export interface RenderOptions {
  /** One for all bands or one each; 0 to 255 for bytes when left out, else the caller's choice is required. */
  readonly rescale?: readonly Range[];
  readonly operations?: readonly ColorOperation[];
  /** For one band. */
  readonly colormap?: ColormapSpec;
  /** Colours of the values of a palette image, four bytes each. */
  readonly palette?: Uint8Array;
  /** What the image is kept in. */
  readonly memory?: Memory;
}

/** Pixels next to each other, 8 bits a channel. */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly data: Uint8Array;
  /** Colours of the values of one channel, four bytes each: up to 256. */
  readonly palette?: Uint8Array;
  /** No pixel is there. */
  readonly isEmpty: boolean;
}

/**
 * Turns one band into grey or colours, two into grey and alpha, three into colours, a fourth into transparency.
 * Alpha is left out when every pixel is there.
 */
export function renderImage(planes: readonly Plane[], width: number, height: number, options: RenderOptions): Image {
  const [first, second, third, fourth] = planes;
  const { memory = OWN_MEMORY } = options;
  if (first === undefined || planes.length > 4) {
    throw invalidRequest(`An image has one to four bands, not ${planes.length}.`);
  }
  if (planes.length === 1) {
    return options.colormap !== undefined || options.palette !== undefined
      ? renderColors(first, width, height, options)
      : composeImage(
          [toChannel(first, rangeOf(options, 0), curveFor(options, 0), memory)],
          first.mask,
          width,
          height,
          memory,
        );
  }
  if (options.colormap !== undefined) {
    throw invalidRequest(`A colour map is for one band, not ${planes.length}.`);
  }
  if (second === undefined || third === undefined) {
    throw invalidRequest("An image of two bands cannot be shown; choose one or three.");
  }
  const channels = [first, second, third].map((plane, index) =>
    toChannel(plane, rangeOf(options, index), curveFor(options, index), memory),
  );
  const mask = unionMasks([first.mask, second.mask, third.mask], memory);
  return composeImage(
    channels,
    fourth === undefined
      ? mask
      : multiply(mask, toBytes(toChannel(fourth, rangeOf(options, 3), undefined, memory), memory)),
    width,
    height,
    memory,
  );
}

function rangeOf({ rescale }: RenderOptions, index: number): Range {
  return rescale?.[index] ?? rescale?.[0] ?? [0, 255];
}

const curveFor = ({ operations = [] }: RenderOptions, index: number) => curveOf(operations, index);

/** Bands as they are shown, each a byte a pixel: those of its colours where there is a colour map. */
export function renderPlanes(
  planes: readonly Plane[],
  width: number,
  height: number,
  options: RenderOptions,
): readonly Plane[] {
  if (options.colormap === undefined) {
    return planes.map((plane, index) => ({
      samples: toBytes(toChannel(plane, rangeOf(options, index), curveFor(options, index), OWN_MEMORY), OWN_MEMORY),
      mask: plane.mask,
      type: "uint8",
    }));
  }
  const { channels, data, palette } = renderImage(planes, width, height, options);
  const colorAt = (pixel: number, band: number) =>
    palette === undefined ? data[pixel * channels + band]! : palette[data[pixel]! * 4 + band]!;
  const toPlane = (band: number) => Uint8Array.from({ length: width * height }, (_, pixel) => colorAt(pixel, band));
  const mask = toPlane(3);
  return [0, 1, 2].map((band) => ({ samples: toPlane(band), mask, type: "uint8" }));
}

const MAX_TABLES = 64;
const tables = new LRUCache<string, Uint8Array>({ max: MAX_TABLES });

/** Samples and the bytes that they become, indexed by their lowest 16 bits. */
interface Channel {
  readonly samples: Samples;
  readonly table: Uint8Array;
}

const IDENTITY = Uint8Array.from({ length: 256 }, (_, value) => value);

/** Rescales to bytes, by a table where there are few possible values. */
function toChannel({ samples, type }: Plane, [min, max]: Range, curve: Curve | undefined, memory: Memory): Channel {
  if (!Number.isFinite(min) || !Number.isFinite(max) || min === max) {
    throw invalidRequest("Rescaling needs two different numbers: min,max.");
  }
  if (type === "uint8" && min === 0 && max === 255 && curve === undefined) {
    return { samples, table: IDENTITY };
  }
  const scale = 255 / (max - min);
  const toByte = (value: number): number => {
    const linear = Math.max(0, Math.min(255, (value - min) * scale));
    return curve === undefined ? linear : 255 * curve.apply(linear / 255);
  };
  if (type === "uint8" || type === "uint16" || type === "int16") {
    const key = `${type} ${min} ${max} ${curve?.key ?? ""}`;
    let table = tables.get(key);
    if (table === undefined) {
      table = new Uint8Array(type === "uint8" ? 256 : 65_536);
      for (let bits = 0; bits < table.length; bits += 1) {
        table[bits] = toByte(type === "int16" ? (bits << 16) >> 16 : bits) + 0.5;
      }
      tables.set(key, table);
    }
    return { samples, table };
  }
  const bytes = memory.take("uint8", samples.length);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = toByte(samples[at]!) + 0.5;
  }
  return { samples: bytes, table: IDENTITY };
}

function toBytes({ samples, table }: Channel, memory: Memory): Uint8Array {
  const output = memory.take("uint8", samples.length);
  for (let at = 0; at < output.length; at += 1) {
    output[at] = table[samples[at]! & 0xff_ff]!;
  }
  return output;
}

function renderColors(
  plane: Plane,
  width: number,
  height: number,
  { colormap, palette, rescale, operations = [], memory = OWN_MEMORY }: RenderOptions,
): Image {
  const { samples, mask } = plane;
  const data = memory.take("uint8", width * height * 4);
  const paint = (at: number, table: Uint8Array, entry: number) => {
    data[at * 4] = table[entry]!;
    data[at * 4 + 1] = table[entry + 1]!;
    data[at * 4 + 2] = table[entry + 2]!;
    data[at * 4 + 3] = Math.round((table[entry + 3]! * mask[at]!) / 255);
  };
  if (colormap === undefined || colormap.kind === "classes" || colormap.kind === "intervals") {
    const find = colormap === undefined ? findInPalette(palette ?? new Uint8Array(0)) : toClassFinder(colormap);
    for (let at = 0; at < mask.length; at += 1) {
      if (mask[at] !== 0) {
        const color = find(samples[at]!);
        if (color !== undefined) {
          paint(at, color, 0);
        }
      }
    }
  } else {
    const table: ColorTable =
      colormap.kind === "named" ? namedColorTable(colormap.name) : stopsColorTable(colormap.stops);
    const bytes = toBytes(toChannel(plane, rescale?.[0] ?? [0, 255], curveOf(operations, 0), memory), memory);
    const indexed = toIndexed(bytes, mask, table);
    if (indexed !== undefined) {
      return { width, height, channels: 1, ...indexed };
    }
    for (let at = 0; at < mask.length; at += 1) {
      if (mask[at] !== 0) {
        paint(at, table, bytes[at]! * 4);
      }
    }
  }
  return { width, height, channels: 4, data, isEmpty: isClear(mask) };
}

/**
 * Values with their colours, a quarter of the bytes of colours alone. Missing pixels need a value of their own;
 * `undefined` where all values are in use, or pixels are half transparent.
 */
function toIndexed(
  bytes: Uint8Array,
  mask: Uint8Array,
  table: ColorTable,
): Pick<Image, "data" | "palette" | "isEmpty"> | undefined {
  const used = new Uint8Array(256);
  let [some, none] = [false, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const value = mask[at]!;
    if (value === 255) {
      used[bytes[at]!] = 1;
      some = true;
    } else if (value === 0) {
      none = true;
    } else {
      return undefined;
    }
  }
  const palette = Uint8Array.from(table.subarray(0, 1024));
  if (!none) {
    return { data: bytes, palette, isEmpty: false };
  }
  const missing = used.indexOf(0);
  if (missing < 0) {
    return undefined;
  }
  palette.fill(0, missing * 4, missing * 4 + 4);
  for (let at = 0; at < bytes.length; at += 1) {
    if (mask[at] === 0) {
      bytes[at] = missing;
    }
  }
  return { data: bytes, palette, isEmpty: !some };
}

function findInPalette(palette: Uint8Array): (value: number) => Uint8Array | undefined {
  return (value) => (value >= 0 && value * 4 < palette.length ? palette.subarray(value * 4, value * 4 + 4) : undefined);
}

function toClassFinder(colormap: ColormapSpec): (value: number) => Uint8Array | undefined {
  if (colormap.kind === "classes") {
    const colors = new Map(colormap.classes.map(([value, color]) => [value, Uint8Array.from(color)]));
    return (value) => colors.get(value);
  }
  const intervals =
    colormap.kind === "intervals"
      ? colormap.intervals.map(([from, to, color]) => ({ from, to, color: Uint8Array.from(color) }))
      : [];
  return (value) => intervals.find(({ from, to }) => value >= from && value < to)?.color;
}

/** A pixel is there when any of the bands has it. */
function unionMasks(masks: readonly Uint8Array[], memory: Memory): Uint8Array {
  const [first, ...others] = masks;
  const different = others.filter((mask) => mask !== first);
  if (first === undefined || different.length === 0) {
    return first ?? new Uint8Array(0);
  }
  const output = memory.take("uint8", first.length);
  output.set(first);
  for (const mask of different) {
    uniteInto(output, mask);
  }
  return output;
}

function multiply(mask: Uint8Array, alpha: Uint8Array): Uint8Array {
  return mask.map((value, at) => Math.round((value * alpha[at]!) / 255));
}

function composeImage(
  channels: readonly Channel[],
  mask: Uint8Array,
  width: number,
  height: number,
  memory: Memory,
): Image {
  const isWhole = isFull(mask);
  const isEmpty = isClear(mask);
  const [red, green, blue] = channels;
  if (red === undefined) {
    throw invalidRequest("An image has at least one band.");
  }
  const count = width * height;
  if (green === undefined || blue === undefined) {
    if (isWhole) {
      return { width, height, channels: 1, data: toBytes(red, memory), isEmpty };
    }
    const data = memory.take("uint8", count * 2);
    for (let at = 0; at < count; at += 1) {
      data[at * 2] = mask[at] === 0 ? 0 : red.table[red.samples[at]! & 0xff_ff]!;
      data[at * 2 + 1] = mask[at]!;
    }
    return { width, height, channels: 2, data, isEmpty };
  }
  const [{ samples: reds, table: toRed }, { samples: greens, table: toGreen }, { samples: blues, table: toBlue }] = [
    red,
    green,
    blue,
  ];
  if (isWhole) {
    const data = memory.take("uint8", count * 3);
    for (let at = 0, to = 0; at < count; at += 1, to += 3) {
      data[to] = toRed[reds[at]! & 0xff_ff]!;
      data[to + 1] = toGreen[greens[at]! & 0xff_ff]!;
      data[to + 2] = toBlue[blues[at]! & 0xff_ff]!;
    }
    return { width, height, channels: 3, data, isEmpty };
  }
  const data = memory.take("uint8", count * 4);
  for (let at = 0, to = 0; at < count; at += 1, to += 4) {
    const alpha = mask[at]!;
    if (alpha !== 0) {
      data[to] = toRed[reds[at]! & 0xff_ff]!;
      data[to + 1] = toGreen[greens[at]! & 0xff_ff]!;
      data[to + 2] = toBlue[blues[at]! & 0xff_ff]!;
      data[to + 3] = alpha;
    }
  }
  return { width, height, channels: 4, data, isEmpty };
}
