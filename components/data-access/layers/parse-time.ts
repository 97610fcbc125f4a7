import { Problem } from "@swath/service";

import type { TimeRange } from "./layer.ts";

const MAX_TIMES = 20;

/**
 * TIME of WMS and `datetime` of OGC APIs: an instant, an interval (`a/b`, open with `..` or nothing, a period after it is left aside), or
 * a list of them. A date of lower precision is the whole day, month or year.
 * @throws {Problem} 400
 */
export function parseTimes(text: string | undefined): readonly TimeRange[] | undefined {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "" || trimmed === "current" || trimmed === "../..") {
    return undefined;
  }
  const parts = trimmed.split(",");
  if (parts.length > MAX_TIMES) {
    throw new Problem(400, `A list of times has up to ${MAX_TIMES} of them.`);
  }
  return parts.map((part): TimeRange => {
    const [from = "", to] = part.split("/");
    if (to === undefined) {
      return parseInstant(from);
    }
    const start = isOpen(from) ? -8.64e15 : parseInstant(from)[0];
    const end = isOpen(to) ? 8.64e15 : parseInstant(to)[1];
    if (start > end) {
      throw new Problem(400, `The interval "${part.slice(0, 60)}" ends before it begins.`);
    }
    return [start, end];
  });
}

const isOpen = (text: string) => text === "" || text === "..";

function parseInstant(text: string): TimeRange {
  const [, year, month, day, rest] = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(T.+)?)?)?$/.exec(text.trim()) ?? [];
  if (year === undefined) {
    throw new Problem(400, `"${text.slice(0, 40)}" is no time; use one such as 2023-08-20 or 2023-08-20T10:00:00Z.`);
  }
  if (rest !== undefined) {
    const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
    if (Number.isNaN(time)) {
      throw new Problem(400, `"${text.slice(0, 40)}" is no time; use one such as 2023-08-20T10:00:00Z.`);
    }
    // Clients cut off fractions of seconds that a scene's time has.
    return /\.\d+/.test(text) ? [time, time] : [time, time + 999];
  }
  const [y, m, d] = [
    Number(year),
    month === undefined ? undefined : Number(month),
    day === undefined ? undefined : Number(day),
  ];
  const start = Date.UTC(y, (m ?? 1) - 1, d ?? 1);
  const end =
    d !== undefined ? Date.UTC(y, (m ?? 1) - 1, d + 1) : m !== undefined ? Date.UTC(y, m, 1) : Date.UTC(y + 1, 0, 1);
  return [start, end - 1];
}
