import { tokenize } from "../query/cql2-tokens.ts";
import { parseCql2Text } from "../query/cql2-text.ts";
import { type Expression, FilterError, MAX_FILTER_LENGTH } from "../query/expression.ts";

const RENAMED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    INTERSECTS: "S_INTERSECTS",
    WITHIN: "S_WITHIN",
    CONTAINS: "S_CONTAINS",
    DISJOINT: "S_DISJOINT",
  }),
);

/**
 * CQL text as CSW has it (OGC 07-006r1 §6.2.2.1): CQL2 text, where `BBOX(property, west, south, east, north)` is a predicate, spatial
 * functions have no `S_`, and `ILIKE` is LIKE without case.
 * @throws {FilterError} naming the character at fault
 */
export function parseCqlText(text: string): Expression {
  if (text.length > MAX_FILTER_LENGTH) {
    throw new FilterError(`the constraint has ${text.length} characters; at most ${MAX_FILTER_LENGTH} are taken`);
  }
  return parseCql2Text(toCql2(text));
}

/** The same filter in CQL2. */
function toCql2(text: string): string {
  const tokens = tokenize(text);
  const edits: { readonly from: number; readonly to: number; readonly by: string }[] = [];
  for (const [index, token] of tokens.entries()) {
    const [next, second] = [tokens[index + 1], tokens[index + 2]];
    if (token.type !== "word" || next === undefined) {
      continue;
    }
    const word = token.text.toUpperCase();
    const renamed = next.text === "(" ? RENAMED.get(word) : undefined;
    if (renamed !== undefined) {
      edits.push({ from: token.at, to: token.at + token.text.length, by: renamed });
    } else if (word === "BBOX" && next.text === "(" && (second?.type === "word" || second?.type === "quoted")) {
      const comma = tokens[index + 3];
      const close = tokens.slice(index).find(({ type, text: symbol }) => type === "symbol" && symbol === ")");
      if (comma?.text !== "," || close === undefined) {
        throw new FilterError("BBOX takes a property and 4 numbers");
      }
      edits.push({ from: token.at, to: token.at + 4, by: "S_INTERSECTS" });
      edits.push({ from: comma.at, to: comma.at + 1, by: ", BBOX(" });
      edits.push({ from: close.at, to: close.at + 1, by: "))" });
    } else if (word === "ILIKE") {
      const name = tokens[index - 1];
      if (name === undefined || next.type !== "string") {
        throw new FilterError("ILIKE takes a property and a text");
      }
      const nextEnd = tokens[index + 2]?.at ?? text.length;
      edits.push({ from: name.at, to: token.at + 5, by: `CASEI(${text.slice(name.at, token.at).trim()}) LIKE ` });
      edits.push({ from: next.at, to: nextEnd, by: `CASEI(${text.slice(next.at, nextEnd).trim()}) ` });
    }
  }
  let result = "";
  let done = 0;
  for (const { from, to, by } of edits) {
    if (from < done) {
      throw new FilterError("the constraint cannot be read; put parentheses around its parts");
    }
    result += text.slice(done, from) + by;
    done = to;
  }
  return result + text.slice(done);
}
