import { parseInstant } from "../model/instant.ts";
import { type Expression, FilterError } from "./expression.ts";

/** @throws {FilterError} for a text that is no date */
export function parseDate(text: string): Expression {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || parseInstant(`${text}T00:00:00Z`) === undefined) {
    throw new FilterError(`${JSON.stringify(text.slice(0, 60))} is not a date; write it as 2020-12-31`);
  }
  return { kind: "date", value: text };
}

/** @throws {FilterError} for a text that is no time with a zone */
export function parseTimestamp(text: string): Expression {
  const value = parseInstant(text);
  if (value === undefined) {
    throw new FilterError(`${JSON.stringify(text.slice(0, 60))} is not a timestamp; write it as 2020-12-31T23:59:59Z`);
  }
  return { kind: "timestamp", value };
}
