import { findExcess, withoutStackTraces } from "@swath/cwl";
import { parse } from "yaml";

/** Most values of a package. */
export const MAX_VALUES = 100_000;
/** Most tokens of a package in YAML: about 30,000 lines. */
export const MAX_YAML_TOKENS = 100_000;

/**
 * The values of a text in JSON or YAML, without where they stand in it.
 * @throws {Error} for what is neither, and for more than is read
 */
export function readYaml(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // It is YAML, or nothing.
  }
  // As many values, each with a key.
  const excess = findExcess(text, { scalars: 2 * MAX_VALUES, tokens: MAX_YAML_TOKENS });
  if (excess !== undefined) {
    throw new Error(`the document has ${excess}`);
  }
  // Unique keys would compare each with all before it.
  return withoutStackTraces(
    () => parse(text, { logLevel: "silent", maxAliasCount: 1000, uniqueKeys: false }) as unknown,
  );
}
