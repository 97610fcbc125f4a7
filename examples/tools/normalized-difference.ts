import type { Band } from "./band.ts";
import { ToolError } from "./errors.ts";
import { checkSameGrid } from "./grid.ts";

/** Value of pixels without one; outside [-1, 1]. */
export const EMPTY = -9999;

/**
 * (one − other) ÷ (one + other) of two bands, in double precision, kept as single. Empty where a band is, and where the sum is 0.
 */
export function normalizedDifference(one: Band, other: Band, names: string): Float32Array {
  checkSameGrid(one.grid, other.grid, names);
  const result = new Float32Array(one.data.length);
  for (let index = 0; index < result.length; index += 1) {
    const [first = 0, second = 0] = [one.data[index], other.data[index]];
    const [left, right] = [first + one.shift, second + other.shift];
    const isEmpty = one.mask[index] === 0 || other.mask[index] === 0 || left + right === 0;
    result[index] = isEmpty ? EMPTY : (left - right) / (left + right);
  }
  if (result.every((value) => value === EMPTY)) {
    throw new ToolError(`${names} have no pixel where both have a value`);
  }
  return result;
}

/** Mean of the pixels that have a value. */
export function meanOf(values: Float32Array): { readonly mean: number; readonly count: number } {
  let [sum, count] = [0, 0];
  for (const value of values) {
    if (value !== EMPTY) {
      sum += value;
      count += 1;
    }
  }
  return { mean: count === 0 ? 0 : sum / count, count };
}
