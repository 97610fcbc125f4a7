/**
 * The smallest string greater than every string that begins with `prefix`, in the order of UTF-8 bytes; undefined when
 * there is none.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last < 0x10ffff) {
      // Surrogates are no characters of their own: the code point after U+D7FF is U+E000.
      return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
    }
  }
  return undefined;
}

/** Compares by UTF-8 bytes, which `<` on JavaScript strings does not do above U+FFFF. */
export function compareKeys(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
