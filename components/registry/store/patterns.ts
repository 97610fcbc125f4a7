const MAX_PATTERN_CHARACTERS = 256;

/**
 * A pattern of names as a test: `*` is any text without a slash, `**` any text, `?` one character, `{a,b}` one of several.
 * Undefined for a text that is no pattern. Linear in the length of names: no two stars are ever tried against each other.
 */
export function compilePattern(pattern: string): ((name: string) => boolean) | undefined {
  if (pattern === "" || pattern.length > MAX_PATTERN_CHARACTERS) {
    return undefined;
  }
  const alternatives = expandBraces(pattern);
  return alternatives && ((name) => alternatives.some((each) => matches(each, name)));
}

/** `a{b,c}` as `ab` and `ac`; one level. */
function expandBraces(pattern: string): readonly string[] | undefined {
  const open = pattern.indexOf("{");
  if (open < 0) {
    return pattern.includes("}") ? undefined : [pattern];
  }
  const close = pattern.indexOf("}", open);
  const rest = close < 0 ? undefined : pattern.slice(close + 1);
  const inner = pattern.slice(open + 1, close);
  if (rest === undefined || /[{}]/.test(rest) || inner.includes("{")) {
    return undefined;
  }
  return inner.split(",").map((each) => `${pattern.slice(0, open)}${each}${rest}`);
}

/** Dynamic programming over positions: states after each character of the name. */
function matches(pattern: string, name: string): boolean {
  const tokens = pattern.match(/\*\*|[^]/g) ?? [];
  let states = closure(new Set([0]), tokens);
  for (const character of name) {
    const next = new Set<number>();
    for (const state of states) {
      const token = tokens[state];
      if (token === "**" || (token === "*" && character !== "/")) {
        next.add(state);
      } else if (token === character || (token === "?" && character !== "/")) {
        next.add(state + 1);
      }
    }
    states = closure(next, tokens);
  }
  return states.has(tokens.length);
}

/** A star may also be nothing. */
function closure(states: Set<number>, tokens: readonly string[]): Set<number> {
  for (const state of states) {
    if (tokens[state] === "*" || tokens[state] === "**") {
      states.add(state + 1);
    }
  }
  return states;
}
