import { type Memory, OWN_MEMORY } from "../memory.ts";
import { commonTypeOf } from "../readers/common-type.ts";
import { type SampleType, createSamples } from "../readers/raster.ts";
import type { Plane } from "../render/plane.ts";
import type { Part } from "../warp/map-parts.ts";

/** What a pixel becomes where several scenes have it. `first` takes them in the order that they come in: newest, least cloudy … */
export const PIXEL_SELECTIONS = ["first", "mean", "median", "min", "max", "count"] as const;
export type PixelSelection = (typeof PIXEL_SELECTIONS)[number];

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Takes scenes one after another. */
export interface Mosaic {
  /** Where further scenes can change something; `undefined` for nowhere. */
  readonly requested: () => Part | undefined;
  /** The planes of a part of the picture. The mosaic may go on to write into them. */
  readonly add: (planes: readonly Plane[], part: Part) => void;
  /** The whole picture; `undefined` when nothing was added. */
  readonly finish: () => readonly Plane[] | undefined;
}

export function createMosaic(selection: PixelSelection, size: Size, memory: Memory = OWN_MEMORY): Mosaic {
  return selection === "first"
    ? createFirst(size, memory)
    : selection === "median"
      ? createMedian(size, memory)
      : createFolding(selection, size);
}

function createFirst(size: Size, memory: Memory): Mosaic {
  let result: readonly Plane[] | undefined;
  let missing: Part | undefined = wholeOf(size);
  let isShared = true;
  let isMissingKnown = true;
  return {
    // Looked for only when there is another scene to look in.
    requested: () => {
      if (!isMissingKnown && result !== undefined) {
        missing = missing && findMissing(result, missing, size);
        isMissingKnown = true;
      }
      return missing;
    },
    add: (planes, part) => {
      if (result === undefined) {
        result = planes.map((plane) => placePlane(plane, part, size, memory));
      } else {
        // Bands of one scene may share a mask, and even samples; those of several scenes cannot.
        if (isShared) {
          result = result.map(({ samples, mask, type }) => ({ samples: samples.slice(), mask: mask.slice(), type }));
          isShared = false;
        }
        result = result.map((plane, band) => widenPlane(plane, planes[band]?.type ?? plane.type));
        fillMissing(result, planes, part, size);
      }
      isMissingKnown = false;
    },
    finish: () => result,
  };
}

/** Of a type that holds the values of another scene as well. */
function widenPlane(plane: Plane, other: SampleType): Plane {
  const type = commonTypeOf([plane.type, other]);
  if (type === plane.type) {
    return plane;
  }
  const samples = createSamples(type, plane.samples.length);
  samples.set(plane.samples);
  return { samples, mask: plane.mask, type };
}

/** All bands of a pixel come from one scene. */
function fillMissing(result: readonly Plane[], planes: readonly Plane[], part: Part, { width }: Size): void {
  const masks = result.map(({ mask }) => mask);
  for (let row = 0; row < part.height; row += 1) {
    let to = (part.y + row) * width + part.x;
    for (let from = row * part.width, end = from + part.width; from < end; from += 1, to += 1) {
      if (isMissing(masks, to)) {
        for (let band = 0; band < planes.length; band += 1) {
          const [plane, target] = [planes[band]!, result[band]!];
          target.samples[to] = plane.samples[from]!;
          target.mask[to] = plane.mask[from]!;
        }
      }
    }
  }
}

/** The box of pixels that no band has, within the one that was so far. */
function findMissing(result: readonly Plane[], { x, y, width, height }: Part, size: Size): Part | undefined {
  const masks = [...new Set(result.map(({ mask }) => mask))];
  let [left, right, top, bottom] = [x + width, x - 1, y + height, y - 1];
  for (let row = y; row < y + height; row += 1) {
    for (let column = x; column < x + width; column += 1) {
      if (isMissing(masks, row * size.width + column)) {
        left = column < left ? column : left;
        right = column > right ? column : right;
        top = row < top ? row : top;
        bottom = row;
      }
    }
  }
  return right < left ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

function isMissing(masks: readonly Uint8Array[], at: number): boolean {
  for (let band = 0; band < masks.length; band += 1) {
    if (masks[band]![at] !== 0) {
      return false;
    }
  }
  return true;
}

/** Mean, least, greatest and number, without keeping the scenes. */
function createFolding(selection: "mean" | "min" | "max" | "count", size: Size): Mosaic {
  let result: { values: Float64Array; counts: Uint32Array; type: Plane["type"] }[] | undefined;
  return {
    requested: () => wholeOf(size),
    add: (planes, part) => {
      result ??= planes.map(({ type }) => ({
        values: new Float64Array(size.width * size.height),
        counts: new Uint32Array(size.width * size.height),
        type: selection === "mean" ? "float32" : selection === "count" ? "uint16" : type,
      }));
      for (const [index, { samples, mask, type }] of planes.entries()) {
        const { values, counts } = result[index]!;
        if (selection === "min" || selection === "max") {
          result[index]!.type = commonTypeOf([result[index]!.type, type]);
        }
        for (let row = 0; row < part.height; row += 1) {
          let to = (part.y + row) * size.width + part.x;
          for (let from = row * part.width, end = from + part.width; from < end; from += 1, to += 1) {
            if (mask[from] === 0) {
              continue;
            }
            const value = samples[from]!;
            values[to] =
              counts[to] === 0
                ? value
                : selection === "min"
                  ? Math.min(values[to]!, value)
                  : selection === "max"
                    ? Math.max(values[to]!, value)
                    : values[to]! + value;
            counts[to] = counts[to]! + 1;
          }
        }
      }
    },
    finish: () =>
      result?.map(({ values, counts, type }) => {
        const samples = createSamples(type, values.length);
        for (let at = 0; at < values.length; at += 1) {
          samples[at] =
            selection === "mean"
              ? values[at]! / Math.max(1, counts[at]!)
              : selection === "count"
                ? counts[at]!
                : values[at]!;
        }
        return { samples, mask: Uint8Array.from(counts, (count) => (count > 0 ? 255 : 0)), type };
      }),
  };
}

function createMedian(size: Size, memory: Memory): Mosaic {
  const scenes: (readonly Plane[])[] = [];
  return {
    requested: () => wholeOf(size),
    add: (planes, part) => scenes.push(planes.map((plane) => placePlane(plane, part, size, memory))),
    finish: () =>
      scenes[0]?.map(({ samples: first }, index) => {
        const samples = new Float32Array(first.length);
        const mask = new Uint8Array(first.length);
        const values = new Float64Array(scenes.length);
        for (let at = 0; at < first.length; at += 1) {
          let count = 0;
          for (const scene of scenes) {
            const plane = scene[index]!;
            if (plane.mask[at] !== 0) {
              values[count] = plane.samples[at]!;
              count += 1;
            }
          }
          if (count > 0) {
            const sorted = values.subarray(0, count).sort();
            samples[at] = (sorted[Math.floor((count - 1) / 2)]! + sorted[Math.ceil((count - 1) / 2)]!) / 2;
            mask[at] = 255;
          }
        }
        return { samples, mask, type: "float32" as const };
      }),
  };
}

const wholeOf = ({ width, height }: Size): Part => ({ x: 0, y: 0, width, height });

/** A plane of a part as one of the whole picture. */
function placePlane(plane: Plane, part: Part, { width, height }: Size, memory: Memory): Plane {
  if (part.width === width && part.height === height) {
    return plane;
  }
  const samples = memory.take(plane.type, width * height);
  const mask = memory.take("uint8", width * height);
  for (let row = 0; row < part.height; row += 1) {
    const [from, to] = [row * part.width, (part.y + row) * width + part.x];
    samples.set(plane.samples.subarray(from, from + part.width), to);
    mask.set(plane.mask.subarray(from, from + part.width), to);
  }
  return { samples, mask, type: plane.type };
}
