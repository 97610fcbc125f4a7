/**
 * The first date, or date and time, in a text, in UTC as RFC 3339: `2023-08-13T10:05:59Z`, `20230813T100559`, `2023:08:13 10:05:59`,
 * `S2B_33TWM_20230813_0_L2A`. Undefined where there is none.
 */
export function findInstant(text: string | undefined): string | undefined {
  const match =
    /(?<!\d)(\d{4})[-:_]?(\d{2})[-:_]?(\d{2})(?:[T _]?(\d{2}):?(\d{2}):?(\d{2})(\.\d{1,9})?Z?)?(?!\d)/i.exec(
      text ?? "",
    );
  if (match === null) {
    return undefined;
  }
  const [, year = "", month = "", day = "", hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const instant = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const isReal =
    !Number.isNaN(instant.getTime()) &&
    instant.getUTCDate() === Number(day) &&
    Number(year) >= 1900 &&
    Number(year) < 2100;
  return isReal ? instant.toISOString().replace(".000Z", `${fraction}Z`) : undefined;
}

/** An instant in UTC as RFC 3339; times without a zone are UTC. */
export function toUtc(text: string): string | undefined {
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text);
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?/.exec(text);
  if (match === null) {
    return undefined;
  }
  if (hasZone && !/Z$/i.test(text)) {
    const instant = new Date(text);
    return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
  }
  // Digits beyond milliseconds are kept.
  const [, date, time, fraction = ""] = match;
  const digits = fraction.slice(0, 7).replace(/0+$/, "").replace(/^\.$/, "");
  return `${date}T${time}${digits}Z`;
}
