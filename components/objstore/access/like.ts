/** `*` any text, `?` any character; linear in practice, never backtracks more than one star. */
export function isLike(text: string, pattern: string): boolean {
  let at = 0;
  let wild = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const expected = pattern[wild];
    if (expected === "*") {
      star = wild;
      resume = at;
      wild += 1;
    } else if (expected === "?" || (expected !== undefined && expected === text[at])) {
      at += 1;
      wild += 1;
    } else if (star >= 0) {
      wild = star + 1;
      resume += 1;
      at = resume;
    } else {
      return false;
    }
  }
  while (pattern[wild] === "*") {
    wild += 1;
  }
  return wild === pattern.length;
}
