/** A value in the JSON type that a mapper's `jsonType.label` says; `undefined` where it cannot be one. */
export function toJsonType(value: unknown, label: string | undefined): unknown {
  if (label === undefined || label === "" || !isScalar(value)) {
    return value;
  }
  switch (label) {
    case "String":
      return String(value);
    case "boolean":
      return String(value) === "true";
    case "long":
    case "int": {
      const number = Number(value);
      return Number.isFinite(number) ? Math.trunc(number) : undefined;
    }
    case "JSON":
      try {
        return JSON.parse(String(value)) as unknown;
      } catch {
        return undefined;
      }
    default:
      return value;
  }
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
