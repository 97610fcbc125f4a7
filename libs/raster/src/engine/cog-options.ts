import type { CogOptions } from "../encode/cog.ts";
import { commonTypeOf, widerTypeOf } from "../readers/common-type.ts";
import { type BandInfo, type SampleType, createSamples, rangeOf } from "../readers/raster.ts";

export type WrittenBand = BandInfo & { readonly isPlain: boolean };

/**
 * One sample type for all bands, and how missing pixels are told apart from every value: by the nodata that all bands share, by NaN, by a
 * mask where no band has nodata, else by a value that none of them can have.
 */
export function toCogOptions(bands: readonly WrittenBand[], unscaled: boolean): CogOptions {
  const type = commonTypeOf(bands.map((band) => band.type));
  const isRgb =
    bands.length >= 3 && bands.slice(0, 3).every(({ color }, index) => color === ["red", "green", "blue"][index]);
  return {
    ...toMissing(bands, type),
    isRgb,
    bands: bands.map(({ scale, offset, unit, description, color, isPlain }) =>
      isPlain
        ? {
            color,
            ...(!unscaled && {
              ...(scale !== undefined && { scale }),
              ...(offset !== undefined && { offset }),
              ...(unit !== undefined && { unit }),
              ...(description !== undefined && { description }),
            }),
          }
        : { color },
    ),
  };
}

function toMissing(bands: readonly WrittenBand[], type: SampleType): Pick<CogOptions, "type" | "nodata" | "hasMask"> {
  const [first] = bands;
  const nodata = first?.nodata;
  if (nodata !== undefined && bands.every((band) => Object.is(band.nodata, nodata)) && holds(type, nodata)) {
    return { type, nodata };
  }
  if (rangeOf(type) === undefined) {
    return { type, nodata: Number.NaN };
  }
  if (bands.every((band) => band.nodata === undefined || !holds(band.type, band.nodata))) {
    return { type, hasMask: true };
  }
  const wider = widerTypeOf(type);
  return { type: wider, nodata: rangeOf(wider)?.[0] ?? Number.NaN };
}

/** What the type cannot hold is no pixel's value. */
function holds(type: SampleType, value: number): boolean {
  const one = createSamples(type, 1);
  one[0] = value;
  return type === "float32" || Object.is(one[0], value);
}

/** Of a band that several scenes have: of a type that holds all values, with the nodata that is the same in all of them. */
export function mergeInfos(bands: readonly WrittenBand[], others: readonly WrittenBand[]): readonly WrittenBand[] {
  return bands.map((band, index) => {
    const other = others[index] ?? band;
    const { nodata, ...rest } = band;
    const type = commonTypeOf([band.type, other.type]);
    return Object.is(nodata, other.nodata) && nodata !== undefined ? { ...rest, type, nodata } : { ...rest, type };
  });
}
