import { parseQuantity } from "@swath/manifest";

/**
 * `tool`: as local cluster tools and container engines write sizes. Units are powers of 1024 whatever their case, a bare
 * number is mebibytes, `max` is all there is. `kubernetes`: quantities of its API, where `G` is 10^9 and `Gi` is 2^30.
 */
export type SizeDialect = "tool" | "kubernetes";

const binary: ReadonlyMap<string, number> = new Map(Object.entries<number>({ k: 1, m: 2, g: 3, t: 4, p: 5 }));

/** Bytes of a text like `12g`, `8Gi`, `max`; undefined when it is not a size above zero. */
export function parseSize(text: string, dialect: SizeDialect): number | "max" | undefined {
  if (dialect === "tool" && text === "max") {
    return "max";
  }
  return dialect === "tool" ? parseToolSize(text) : parseQuantity(text);
}

function parseToolSize(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)([A-Za-z]{0,3})$/.exec(text);
  const factor = match === null ? undefined : toolUnit(match[2] ?? "");
  const bytes = factor === undefined ? 0 : Math.floor(Number(match?.[1]) * factor);
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

function toolUnit(unit: string): number | undefined {
  if (unit === "") {
    return 1024 ** 2;
  }
  const match = /^([kmgtp])(i?b|i)?$/.exec(unit.toLowerCase());
  return unit.toLowerCase() === "b" ? 1 : match?.[1] === undefined ? undefined : 1024 ** (binary.get(match[1]) ?? 0);
}

/** Number of processors of a text like `4` or `2.5`; `max` is all there are. */
export function parseCpus(text: string): number | "max" | undefined {
  if (text === "max") {
    return "max";
  }
  return /^\d{1,4}(\.\d{1,3})?$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
