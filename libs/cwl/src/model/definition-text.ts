/** Fields that say where something was written, not what it is. */
const places = new Set(["place", "id"]);

/**
 * A text that is the same for definitions that do the same, wherever they were written. What a definition holds more
 * than once (a record type may hold itself) is written out once.
 */
export function definitionText(definition: unknown): string {
  const seen = new Map<object, number>();
  return JSON.stringify(definition, (name, value: unknown) => {
    if (places.has(name)) {
      return undefined;
    }
    if (typeof value === "bigint") {
      return `${value}n`;
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    const before = seen.get(value);
    if (before !== undefined) {
      return `#${before}`;
    }
    seen.set(value, seen.size);
    return value;
  });
}
