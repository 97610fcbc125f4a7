import { CwlError } from "../errors.ts";
import type { LinkMerge, PickValue } from "../model/process.ts";
import type { Value } from "../model/values.ts";

/** Joins the values of a sink's sources: linkMerge, then pickValue (Workflow description, "Merging multiple inputs"). */
export function mergeSources(
  values: readonly Value[],
  options: {
    readonly isList: boolean;
    readonly linkMerge: LinkMerge | undefined;
    readonly pickValue: PickValue | undefined;
    readonly what: string;
  },
): Value {
  const list =
    options.isList && (values.length > 1 || options.linkMerge !== undefined || options.pickValue === "all_non_null");
  const [first = null] = values;
  let merged: Value = first;
  if (list && options.linkMerge === "merge_flattened") {
    merged = values.flatMap((value) => (Array.isArray(value) ? (value as readonly Value[]) : [value]));
  } else if (list || (options.isList && values.length !== 1)) {
    merged = values;
  }
  // As with the reference runner, what is no list stays as it is: the value of a single source, null too.
  return options.pickValue === undefined || !Array.isArray(merged)
    ? merged
    : pick(merged as readonly Value[], options.pickValue, options.what);
}

function pick(list: readonly Value[], how: PickValue, what: string): Value {
  const present = list.filter((item) => item !== null);
  if (how === "all_non_null") {
    return present;
  }
  const [first] = present;
  if (first === undefined) {
    throw new CwlError("process-failed", `${what}: ${how} found that every value is null`);
  }
  if (how === "the_only_non_null" && present.length > 1) {
    throw new CwlError("process-failed", `${what}: the_only_non_null found ${present.length} values that are not null`);
  }
  return first;
}
