const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/**
 * A Kubernetes quantity of memory or disk in bytes: "512Mi", "8G".
 * @throws {TypeError} when it is none
 */
export function toBytes(quantity: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([a-zA-Z]*)$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  if (amount === undefined || factor === undefined) {
    throw new TypeError(`"${quantity}" is no quantity; write it like 512Mi or 8G`);
  }
  return Number(amount) * factor;
}
