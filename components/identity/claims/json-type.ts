/** A value in the JSON type that a mapper's `jsonType.label` says; `undefined` where it cannot be one. */
export function toJsonType(value: unknown, label: string | undefined): unknown {
  if (value === undefined || label === undefined || label === "" || Array.isArray(value) || typeof value === "object") {
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
