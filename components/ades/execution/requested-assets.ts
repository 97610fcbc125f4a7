import type { PackageFacts } from "../packages/package-facts.ts";

/**
 * Which assets a package asks for, by input: of all others nothing is fetched. It says so in a hint, in words or by its other inputs:
 *
 *     hints:
 *       swath:StageIn: { assets: { scenes: [$(inputs.red), $(inputs.nir), scl] } }    # $namespaces: { swath: "urn:swath:" }
 *
 * @param values inputs that were given; defaults count for the others
 */
export function findWantedAssets(
  { inputs, stageIn: assets }: Pick<PackageFacts, "inputs" | "stageIn">,
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, readonly string[]> {
  if (typeof assets !== "object" || assets === null) {
    return new Map();
  }
  const valueOf = (name: string): unknown => values[name] ?? inputs.find((input) => input.name === name)?.default;
  const resolve = (word: unknown): readonly string[] => {
    const reference = typeof word === "string" ? /^\$\(inputs\.([\w-]+)\)$/.exec(word)?.[1] : undefined;
    const value = reference === undefined ? word : valueOf(reference);
    return [value]
      .flat()
      .filter((key): key is string => typeof key === "string" && key !== "")
      .map(withoutBand);
  };
  return new Map(
    Object.entries(assets as Readonly<Record<string, unknown>>).flatMap(([input, words]) => {
      const keys = [...new Set([words].flat().flatMap(resolve))];
      // A reference to an input that nobody gave says nothing, and then all assets are wanted.
      return keys.length === 0 ? [] : [[input, keys] as const];
    }),
  );
}

/** `visual#2` is a band of the asset `visual`. */
const withoutBand = (key: string): string => key.split("#", 1)[0] ?? key;
