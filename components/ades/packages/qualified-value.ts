/** The value of an input or output: `{"value": x}` means x; what else it has, its media type say, is beside it. */
export const unwrapValue = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && "value" in value ? value.value : value;
