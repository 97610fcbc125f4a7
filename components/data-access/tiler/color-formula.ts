import type { ColorOperation } from "@swath/raster";
import { Problem } from "@swath/service";

const OPERATION =
  /(gamma|sigmoidal)\s+(rgb|[rgb](?:,?[rgb])*|[1-4](?:,[1-4])*)\s+(\d+(?:\.\d+)?)(?:\s+(\d+(?:\.\d+)?))?(?=[\s,]|$)/iy;
const MAX_OPERATIONS = 16;
const MAX_CONTRAST = 100;

/**
 * The operations of a colour formula, as rio-color writes them: `gamma RGB 1.5, sigmoidal R 10 0.5`. Bands are letters or numbers from 1.
 * @throws {Problem} 400
 */
export function parseColorFormula(formula: string | undefined): readonly ColorOperation[] | undefined {
  if (formula === undefined) {
    return undefined;
  }
  const operations: ColorOperation[] = [];
  const text = formula.trim();
  for (let at = 0; at < text.length;) {
    OPERATION.lastIndex = at;
    const found = OPERATION.exec(text);
    const operation = found === null ? undefined : toOperation(found);
    if (found === null || operation === undefined || operations.length >= MAX_OPERATIONS) {
      throw new Problem(
        400,
        `color_formula must be up to ${MAX_OPERATIONS} operations: gamma BANDS GAMMA, or sigmoidal BANDS CONTRAST BIAS with a contrast up to ${MAX_CONTRAST} and a bias from 0 to 1, as in "gamma RGB 1.5, sigmoidal R 10 0.5". Saturation is not supported.`,
      );
    }
    operations.push(operation);
    at += found[0].length + (/^[\s,]+/.exec(text.slice(at + found[0].length))?.[0].length ?? 0);
  }
  return operations;
}

function toOperation([, name = "", letters = "", first = "", second]: RegExpExecArray): ColorOperation | undefined {
  const bands = Array.from(letters.toLowerCase().replaceAll(",", ""), (band) =>
    /\d/.test(band) ? Number(band) - 1 : "rgb".indexOf(band),
  );
  const value = Number(first);
  if (name.toLowerCase() === "gamma") {
    return second === undefined && value > 0 ? { kind: "gamma", bands, gamma: value } : undefined;
  }
  const bias = Number(second);
  return value <= MAX_CONTRAST && bias >= 0 && bias <= 1
    ? { kind: "sigmoidal", bands, contrast: value, bias }
    : undefined;
}
