import type { BandStatistics } from "@swath/raster";

/** A band of an answer: `b1`, `b2`, … with what it is. */
export interface NamedBand {
  readonly name: string;
  readonly expression: string;
  readonly description: string;
}

/**
 * Names of the bands of an answer, as in titiler 2: those of the file where bands are chosen by their numbers (`describe` gives their
 * descriptions), else by their order, described by their expressions.
 */
export function nameBands(
  expressions: readonly string[],
  describe?: (band: number) => string | undefined,
): readonly NamedBand[] {
  return expressions.map((expression, at) => {
    const number = /^b(\d+)$/.exec(expression)?.[1];
    return describe === undefined || number === undefined
      ? { name: `b${at + 1}`, expression, description: expression }
      : { name: expression, expression, description: describe(Number(number) - 1) ?? expression };
  });
}

/** Names of bands within their asset: `b1` of `red_b1`. */
export const nameAssetBands = (expressions: readonly string[]): readonly NamedBand[] =>
  expressions.map((expression, at) => {
    const name = /^\w+_(b\d+)$/.exec(expression)?.[1] ?? `b${at + 1}`;
    return { name, expression, description: name };
  });

export const toBandFields = (bands: readonly NamedBand[]) => ({
  band_names: bands.map(({ name }) => name),
  band_descriptions: bands.map(({ description }) => description),
});

export const toNamedStatistics = (
  bands: readonly NamedBand[],
  values: Readonly<Record<string, BandStatistics>>,
): Readonly<Record<string, BandStatistics & { readonly description: string }>> =>
  Object.fromEntries(
    bands.flatMap(({ name, expression, description }) => {
      const own = values[expression];
      return own === undefined ? [] : [[name, { ...own, description }]];
    }),
  );
