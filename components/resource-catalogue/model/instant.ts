const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
/** The same in UTC and of a day that every month has: most of what comes, which needs no closer look. */
const PLAIN =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;
const WIDTH = "2020-02-29T23:59:59.000000".length;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * A date-time of RFC 3339 as PostgreSQL takes it, in UTC and with microseconds; `undefined` for any other text.
 * `2020-02-29T23:59:60.5+01:00` → `2020-02-29T23:00:00.500000Z`
 */
export function parseInstant(text: string): string | undefined {
  if (PLAIN.test(text)) {
    return `${(text.length === 20 ? `${text.slice(0, 19)}.` : text.slice(0, -1)).padEnd(WIDTH, "0")}Z`;
  }
  const match = RFC_3339.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  if (y === 0 || mo < 1 || mo > 12 || d < 1 || d > (mo === 2 && !isLeap ? 28 : (DAYS[mo - 1] ?? 0))) {
    return undefined;
  }
  if (h > 23 || mi > 59 || s > 60 || Number(zoneHour) > 23 || Number(zoneMinute) > 59) {
    return undefined;
  }
  const micro = fraction.slice(0, 6).padEnd(6, "0");
  if (sign === undefined && s < 60) {
    return `${year}-${month}-${day}T${hour}:${minute}:${second}.${micro}Z`;
  }
  const away = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === "-" ? 60_000 : -60_000);
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  date.setUTCHours(h, mi, s);
  const moved = new Date(date.getTime() + away);
  return moved.getUTCFullYear() < 1 || moved.getUTCFullYear() > 9999
    ? undefined
    : `${moved.toISOString().slice(0, 19)}.${micro}Z`;
}

/** A closed interval; `undefined` at an end that is open. Both ends are the same for an instant. */
export interface Interval {
  readonly start: string | undefined;
  readonly end: string | undefined;
}

/**
 * The parameter `datetime` of OGC API and STAC: an instant, or two ends of which one may be open (`..` or nothing).
 * @returns why it is none, as a text that goes on from the name of the parameter
 */
export function parseInterval(text: string): Interval | string {
  const parts = text.split("/");
  if (parts.length > 2) {
    return "must be a date-time or an interval of two, start/end";
  }
  if (parts.length === 1) {
    const instant = parseInstant(text);
    return instant === undefined ? wrongInstant(text) : { start: instant, end: instant };
  }
  const ends: (string | undefined)[] = [];
  for (const part of parts) {
    if (part === "" || part === "..") {
      ends.push(undefined);
      continue;
    }
    const instant = parseInstant(part);
    if (instant === undefined) {
      return wrongInstant(part);
    }
    ends.push(instant);
  }
  const [start, end] = ends;
  if (start === undefined && end === undefined) {
    return "must have a date-time at one end at least; leave it out for all times";
  }
  if (start !== undefined && end !== undefined && start > end) {
    return "must not end before it starts";
  }
  return { start, end };
}

const wrongInstant = (text: string): string =>
  `must be a date-time of RFC 3339 with a zone, 2020-12-31T23:59:59Z, and not ${JSON.stringify(text.slice(0, 60))}`;
