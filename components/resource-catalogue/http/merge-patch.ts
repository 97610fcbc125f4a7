import { requirePatchDepth } from "./patch-budget.ts";

/**
 * JSON Merge Patch (RFC 7386 §2): null removes, objects are merged, everything else replaces.
 * @throws {Problem} 413 for a patch that is nested too deeply
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  requirePatchDepth(patch, "The patch");
  return merge(target, patch);
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) {
    return patch;
  }
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      merged.delete(key);
    } else {
      merged.set(key, merge(merged.get(key), value));
    }
  }
  return Object.fromEntries(merged);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
