import { FilterError } from "./expression.ts";
import type { PageToken } from "./search-request.ts";

const BACKWARD = "prev";

/** A token as it stands in links: opaque to clients, and of no use to find out what they may not see. */
export function toTokenText({ values, n, matched, isBackward = false }: PageToken): string {
  const counted = matched === undefined ? null : matched.isLowerBound ? -matched.count : matched.count;
  const parts = [values, n, ...(counted === null && !isBackward ? [] : [counted]), ...(isBackward ? [BACKWARD] : [])];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws {FilterError} for anything that is not a token */
export function parseToken(text: string): PageToken {
  try {
    const [values, n, counted, direction] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (
      Array.isArray(values) &&
      values.every((value) => isScalar(value)) &&
      typeof n === "string" &&
      /^\d{1,18}$/.test(n)
    ) {
      return {
        values,
        n,
        ...(typeof counted === "number" && {
          matched: { count: Math.abs(counted), isLowerBound: counted < 0 },
        }),
        ...(direction === BACKWARD && { isBackward: true }),
      };
    }
  } catch {
    // Said below, as for any other text.
  }
  throw new FilterError("token is not one of this catalogue; follow the links next and prev instead of making one");
}

const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
