import { CwlError } from "../errors.ts";
import type { ScatterMethod } from "../model/process.ts";
import type { Value, ValueObject } from "../model/values.ts";

/** The jobs that a scatter makes, and the shape in which their results are put together. */
export interface ScatterPlan {
  /** Lengths of the nested lists of results; one number unless nested_crossproduct. */
  readonly shape: readonly number[];
  readonly count: number;
  /** Inputs of one job. */
  readonly inputsOf: (index: number) => ValueObject;
}

/** Plans a scatter over some inputs. Nothing is copied until a job asks for its inputs. */
export function planScatter(
  inputs: ValueObject,
  names: readonly string[],
  method: ScatterMethod | undefined,
  step: string,
): ScatterPlan {
  const lists = names.map((name): readonly Value[] => {
    const value = inputs[name];
    if (!Array.isArray(value)) {
      throw new CwlError("process-failed", `${step}: scatter over "${name}" needs an array`);
    }
    return value as readonly Value[];
  });
  const lengths = lists.map((list) => list.length);
  if (method === undefined || method === "dotproduct") {
    if (new Set(lengths).size > 1) {
      const sizes = names.map((name, index) => `${name}: ${lengths[index]}`).join(", ");
      throw new CwlError("process-failed", `${step}: dotproduct needs arrays of one length (${sizes})`);
    }
    const count = lengths[0] ?? 0;
    return {
      shape: [count],
      count,
      inputsOf: (index) => ({
        ...inputs,
        ...Object.fromEntries(names.map((name, at) => [name, lists[at]?.[index] ?? null])),
      }),
    };
  }
  const count = lengths.reduce((product, length) => product * length, 1);
  return {
    shape: method === "nested_crossproduct" ? lengths : [count],
    count,
    inputsOf: (index) => {
      const chosen: Record<string, Value> = {};
      // The last input turns fastest.
      let rest = index;
      for (let at = names.length - 1; at >= 0; at -= 1) {
        const length = lengths[at] ?? 1;
        chosen[names[at] ?? ""] = lists[at]?.[rest % length] ?? null;
        rest = Math.floor(rest / length);
      }
      return { ...inputs, ...chosen };
    },
  };
}

/** Puts results into the nested lists of a shape; an empty list stays empty at its own level. */
export function gather(results: readonly Value[], shape: readonly number[]): Value {
  const [length = 0, ...inner] = shape;
  if (inner.length === 0) {
    return results.slice(0, length);
  }
  const size = inner.reduce((product, item) => product * item, 1);
  return Array.from({ length }, (_, index) => gather(results.slice(index * size, (index + 1) * size), inner));
}
