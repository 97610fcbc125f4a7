import { type Plane } from "../render/plane.ts";
import { createSamples } from "../readers/raster.ts";

/** What a pixel becomes where several scenes have it. `first` takes them in the order that they come in: newest, least cloudy … */
export const PIXEL_SELECTIONS = ["first", "mean", "median", "min", "max", "count"] as const;
export type PixelSelection = (typeof PIXEL_SELECTIONS)[number];

/** Takes scenes one after another. */
export interface Mosaic {
  /** False once further scenes cannot change anything. */
  readonly wantsMore: () => boolean;
  readonly add: (planes: readonly Plane[]) => void;
  /** `undefined` when nothing was added. */
  readonly finish: () => readonly Plane[] | undefined;
}

export function createMosaic(selection: PixelSelection): Mosaic {
  return selection === "first" ? createFirst() : selection === "median" ? createMedian() : createFolding(selection);
}

function createFirst(): Mosaic {
  let result: Plane[] | undefined;
  let isFull = false;
  return {
    wantsMore: () => !isFull,
    add: (planes) => {
      if (result === undefined) {
        result = planes.map(({ samples, mask, type }) => ({ samples: samples.slice(), mask: mask.slice(), type }));
      } else {
        // All bands of a pixel come from one scene.
        const filled = result.map(({ mask }) => mask);
        const size = filled[0]?.length ?? 0;
        for (let at = 0; at < size; at += 1) {
          if (filled.some((mask) => mask[at] !== 0)) {
            continue;
          }
          for (const [index, plane] of planes.entries()) {
            const target = result[index]!;
            target.samples[at] = plane.samples[at]!;
            target.mask[at] = plane.mask[at]!;
          }
        }
      }
      isFull = result.every(({ mask }) => mask.every((value) => value !== 0));
    },
    finish: () => result,
  };
}

/** Mean, least, greatest and number, without keeping the scenes. */
function createFolding(selection: "mean" | "min" | "max" | "count"): Mosaic {
  let result: { values: Float64Array; counts: Uint32Array; type: Plane["type"] }[] | undefined;
  return {
    wantsMore: () => true,
    add: (planes) => {
      result ??= planes.map(({ samples, type }) => ({
        values: new Float64Array(samples.length),
        counts: new Uint32Array(samples.length),
        type: selection === "mean" ? "float32" : selection === "count" ? "uint16" : type,
      }));
      for (const [index, { samples, mask }] of planes.entries()) {
        const { values, counts } = result[index]!;
        for (let at = 0; at < samples.length; at += 1) {
          if (mask[at] === 0) {
            continue;
          }
          const value = samples[at]!;
          values[at] =
            counts[at] === 0
              ? value
              : selection === "min"
                ? Math.min(values[at]!, value)
                : selection === "max"
                  ? Math.max(values[at]!, value)
                  : values[at]! + value;
          counts[at] = counts[at]! + 1;
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

function createMedian(): Mosaic {
  const scenes: (readonly Plane[])[] = [];
  return {
    wantsMore: () => true,
    add: (planes) => scenes.push(planes),
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
