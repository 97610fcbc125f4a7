const WIDTH = 100;

/** JSON for reading: a line for each member, but what fits on a line stays on it, so that coordinates do not fill pages. */
export function formatJson(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || isShort(value, flat, indent)) {
    return flat;
  }
  const inner = `${indent}  `;
  const [open, lines, close] = Array.isArray(value)
    ? ["[", value.map((each) => formatJson(each, inner)), "]"]
    : ["{", Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${formatJson(each, inner)}`), "}"];
  return `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`;
}

/** Lists of numbers and texts, and what is empty. */
function isShort(value: object, flat: string, indent: string): boolean {
  const parts = Object.values(value) as unknown[];
  return (
    parts.length === 0 ||
    (Array.isArray(value) &&
      indent.length + flat.length <= WIDTH &&
      parts.every((part) => typeof part !== "object" || part === null || Array.isArray(part)))
  );
}
