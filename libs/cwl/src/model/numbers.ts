/**
 * Decimal text of a number without an exponent, as command lines and interpolated strings need it:
 * `1e42` is written out in full and `1e-7` as `0.0000001`.
 */
export function formatNumber(value: number | bigint): string {
  const text = String(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) {
    return text;
  }
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) {
    return `${sign}0.${"0".repeat(-point)}${digits}`;
  }
  return point >= digits.length
    ? sign + digits + "0".repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
