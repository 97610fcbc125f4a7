const POWERS: ReadonlyMap<string, number> = new Map(Object.entries<number>({ k: 1, M: 2, G: 3, T: 4, P: 5 }));

/** Bytes of a Kubernetes quantity of memory or disk: `G` is 10^9, `Gi` 2^30; undefined when it is not one above zero. */
export function parseQuantity(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(?:([kMGTP])|([KMGTP])i)?$/.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, amount, decimal, binary] = match;
  const factor =
    decimal !== undefined
      ? 1000 ** (POWERS.get(decimal) ?? 0)
      : 1024 ** (binary === undefined ? 0 : (POWERS.get(binary === "K" ? "k" : binary) ?? 0));
  const bytes = Math.floor(Number(amount) * factor);
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/**
 * Bytes of a Kubernetes quantity of memory or disk: "512Mi", "8G".
 * @throws {TypeError} when it is none
 */
export function toBytes(quantity: string): number {
  const bytes = parseQuantity(quantity);
  if (bytes === undefined) {
    throw new TypeError(`"${quantity}" is no quantity; write it like 512Mi or 8G`);
  }
  return bytes;
}
