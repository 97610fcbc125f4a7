/** Deepest nesting of JSON that requests may send: what is passed on and checked goes through it recursively. */
const MAX_JSON_DEPTH = 100;

/**
 * What PostgreSQL, or another program that the value is passed to, cannot keep: NUL and lone surrogates in texts (RFC 8259 §8.2,
 * the type json of PostgreSQL), and nesting without end. `undefined` for a value that can be kept.
 * @returns where it is and what it is
 */
export function findUnstorable(value: unknown, path = ""): string | undefined {
  // By hand instead of by calls: the depth is the sender's.
  const waiting: { readonly value: unknown; readonly path: string; readonly depth: number }[] = [
    { value, path, depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value === "string") {
      const wrong = findInText(next.value);
      if (wrong !== undefined) {
        return `${next.path} ${wrong}`;
      }
    } else if (typeof next.value === "object" && next.value !== null) {
      if (next.depth >= MAX_JSON_DEPTH) {
        return `${next.path.slice(0, 200)} is nested deeper than ${MAX_JSON_DEPTH} levels`;
      }
      for (const [name, item] of Object.entries(next.value)) {
        const wrong = Array.isArray(next.value) ? undefined : findInText(name);
        if (wrong !== undefined) {
          return `a name in ${next.path} ${wrong}`;
        }
        const inner = Array.isArray(next.value) ? `${next.path}[${name}]` : `${next.path}.${name}`;
        waiting.push({ value: item, path: inner, depth: next.depth + 1 });
      }
    }
  }
  return undefined;
}

function findInText(text: string): string | undefined {
  if (text.includes("\0")) {
    return "holds a NUL character, which cannot be kept";
  }
  return text.isWellFormed() ? undefined : "holds half of a character (a lone surrogate), which cannot be kept";
}

/** The same with U+FFFD in the place of what cannot be kept: tools may write any byte. */
export function toStorable(value: unknown): unknown {
  if (typeof value === "string") {
    return toStorableText(value);
  }
  if (Array.isArray(value)) {
    return value.map(toStorable);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [toStorableText(name), toStorable(item)]))
    : value;
}

/** PostgreSQL keeps no NUL and no half characters in texts. */
export const toStorableText = (text: string): string => text.replaceAll("\0", "\u{FFFD}").toWellFormed();
