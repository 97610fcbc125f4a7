import { Problem } from "@swath/service";

/**
 * The gamma of a colour formula: `gamma RGB 1.5`. Other operations, and bands of their own, have no meaning here and are refused.
 * @throws {Problem} 400
 */
export function parseGamma(formula: string | undefined): number | undefined {
  if (formula === undefined) {
    return undefined;
  }
  const [, bands = "", number = ""] =
    /^\s*gamma\s+(rgb|[1-4](?:,[1-4])*)\s+(\d+(?:\.\d+)?)\s*,?\s*$/i.exec(formula) ?? [];
  const gamma = Number(number);
  const isAll = /^rgb$/i.test(bands) || ["1", "1,2,3", "1,2,3,4"].includes(bands);
  if (!isAll || !(gamma > 0)) {
    throw new Problem(
      400,
      "color_formula must be a gamma of all bands: gamma RGB 1.5. Sigmoidal and saturation are not supported.",
    );
  }
  return gamma;
}
