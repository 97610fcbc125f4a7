import { parseDate, parseTimestamp } from "./cql2-literals.ts";
import { type Token, tokenize } from "./cql2-tokens.ts";
import {
  ARRAY,
  type Expression,
  FilterError,
  MAX_FILTER_DEPTH,
  MAX_FILTER_LENGTH,
  MAX_FILTER_NODES,
  type Operator,
  SPATIAL,
  TEMPORAL,
  call,
} from "./expression.ts";
import { isGeometryKeyword, readGeometry } from "./wkt.ts";

const FUNCTIONS = new Map<string, Operator>(
  [...SPATIAL, ...TEMPORAL, ...ARRAY, "casei" as const, "accenti" as const].map((op) => [op.toUpperCase(), op]),
);
const KEYWORDS = new Set(["AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS", "NULL", "TRUE", "FALSE", "DIV"]);
const COMPARISON = new Set(["=", "<>", "<", ">", "<=", ">="]);

/**
 * Parses a filter in CQL2 text (OGC 21-065r2 §9, cql2.bnf).
 * @throws {FilterError} naming the character at fault and what is expected there
 */
export function parseCql2Text(text: string): Expression {
  if (text.length > MAX_FILTER_LENGTH) {
    throw new FilterError(`the filter has ${text.length} characters; at most ${MAX_FILTER_LENGTH} are taken`);
  }
  const parser = new Parser(tokenize(text));
  const expression = parser.readOr();
  parser.expectEnd();
  return expression;
}

/** The tokens of a filter and how far they have been read. */
class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;
  #nodes = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get token(): Token {
    return this.#tokens[this.#index] as Token;
  }

  peek(ahead = 1): Token {
    return this.#tokens[Math.min(this.#index + ahead, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    const { token } = this;
    this.#index = Math.min(this.#index + 1, this.#tokens.length - 1);
    return token;
  }

  isSymbol(text: string): boolean {
    return this.token.type === "symbol" && this.token.text === text;
  }

  isWord(word: string): boolean {
    return this.token.type === "word" && this.token.text.toUpperCase() === word;
  }

  take(text: string): boolean {
    const exists = this.isSymbol(text) || this.isWord(text);
    if (exists) {
      this.next();
    }
    return exists;
  }

  expect(text: string): void {
    if (!this.take(text)) {
      throw this.fault(`"${text}"`);
    }
  }

  expectEnd(): void {
    if (this.token.type !== "end") {
      throw this.fault("the end of the filter, AND or OR");
    }
  }

  fault(expected: string): FilterError {
    const { token } = this;
    const found = token.type === "end" ? "the filter ends" : `there is ${JSON.stringify(token.text.slice(0, 40))}`;
    return new FilterError(`${found} at character ${token.at + 1} of the filter where ${expected} is expected`);
  }

  readOr(): Expression {
    return this.#readChain("OR", "or", () => this.#readChain("AND", "and", () => this.#readNot()));
  }

  #readChain(word: string, op: Operator, read: () => Expression): Expression {
    return this.#nest(() => {
      const args = [read()];
      while (this.take(word)) {
        args.push(read());
      }
      return args.length === 1 ? (args[0] as Expression) : call(op, ...args);
    });
  }

  #readNot(): Expression {
    return this.take("NOT") ? this.#nest(() => call("not", this.#readNot())) : this.#readPredicate();
  }

  #readPredicate(): Expression {
    const left = this.readScalar(true);
    const { token } = this;
    if (token.type === "symbol" && COMPARISON.has(token.text)) {
      this.next();
      return call(token.text as Operator, left, this.readScalar());
    }
    if (this.take("IS")) {
      const isNot = this.take("NOT");
      this.expect("NULL");
      return negate(call("isNull", left), isNot);
    }
    const isNot = this.take("NOT");
    if (this.take("LIKE")) {
      return negate(call("like", left, this.readScalar()), isNot);
    }
    if (this.take("BETWEEN")) {
      const low = this.readScalar();
      this.expect("AND");
      return negate(call("between", left, low, this.readScalar()), isNot);
    }
    if (this.take("IN")) {
      this.expect("(");
      return negate(call("in", left, { kind: "array", items: this.#readList() }), isNot);
    }
    if (isNot) {
      throw this.fault("LIKE, BETWEEN or IN");
    }
    return left;
  }

  /** An expression of `+ -`, tightest last: `^`, `* / % DIV`, `+ -`. Where a predicate may stand, parentheses may hold a filter. */
  readScalar(mayBeFilter = false): Expression {
    return this.#nest(() => {
      let left = this.#readTerm(mayBeFilter);
      while (this.isSymbol("+") || this.isSymbol("-")) {
        const op = this.next().text as Operator;
        left = call(op, left, this.#readTerm(false));
      }
      return left;
    });
  }

  #readTerm(mayBeFilter: boolean): Expression {
    let left = this.#readPower(mayBeFilter);
    for (;;) {
      if (this.isSymbol("*") || this.isSymbol("/") || this.isSymbol("%")) {
        left = call(this.next().text as Operator, left, this.#readPower(false));
      } else if (this.take("DIV")) {
        left = call("div", left, this.#readPower(false));
      } else {
        return left;
      }
      this.#count();
    }
  }

  #readPower(mayBeFilter: boolean): Expression {
    const base = this.#readOperand(mayBeFilter);
    return this.take("^") ? call("^", base, this.#readOperand(false)) : base;
  }

  #readOperand(mayBeFilter: boolean): Expression {
    this.#count();
    if (this.take("-")) {
      const operand = this.#nest(() => this.#readOperand(false));
      return operand.kind === "number"
        ? { kind: "number", value: -operand.value }
        : call("*", { kind: "number", value: -1 }, operand);
    }
    if (this.take("+")) {
      return this.#nest(() => this.#readOperand(false));
    }
    if (this.take("(")) {
      return this.#readParentheses(mayBeFilter);
    }
    const token = this.next();
    switch (token.type) {
      case "number":
        return { kind: "number", value: token.value };
      case "string":
        return { kind: "string", value: token.text };
      case "quoted":
        return { kind: "property", name: token.text };
      case "word":
        return this.#readWord(token);
      case "symbol":
      case "end":
        this.#index -= token.type === "end" ? 0 : 1;
        throw this.fault("a property, a literal or a function");
    }
  }

  /** A filter, a value in parentheses, or an array. */
  #readParentheses(mayBeFilter: boolean): Expression {
    const first = this.#nest(() => (mayBeFilter ? this.readOr() : this.readScalar()));
    if (this.isSymbol(",")) {
      this.next();
      return { kind: "array", items: [first, ...this.#readList()] };
    }
    this.expect(")");
    return first;
  }

  /** Values up to the closing parenthesis. */
  #readList(): Expression[] {
    const items: Expression[] = [];
    if (this.take(")")) {
      return items;
    }
    do {
      this.#count();
      items.push(this.readScalar());
    } while (this.take(","));
    this.expect(")");
    return items;
  }

  #readWord(token: Token): Expression {
    const word = token.text.toUpperCase();
    if (word === "TRUE" || word === "FALSE") {
      return { kind: "boolean", value: word === "TRUE" };
    }
    if (this.isSymbol("(")) {
      return this.#readCall(token, word);
    }
    if (isGeometryKeyword(word) && this.token.type === "word" && this.token.text.toUpperCase() === "Z") {
      this.next();
      return { kind: "geometry", geometry: readGeometry(this, word) };
    }
    if (KEYWORDS.has(word)) {
      this.#index -= 1;
      throw this.fault("a property, a literal or a function (quote a property of this name)");
    }
    return { kind: "property", name: token.text };
  }

  #readCall(token: Token, word: string): Expression {
    if (word === "DATE" || word === "TIMESTAMP") {
      this.next();
      const text = this.#readText();
      this.expect(")");
      return word === "DATE" ? parseDate(text) : parseTimestamp(text);
    }
    if (word === "INTERVAL") {
      this.next();
      const start = this.#readEnd();
      this.expect(",");
      const end = this.#readEnd();
      this.expect(")");
      return { kind: "interval", start, end };
    }
    if (word === "BBOX") {
      this.next();
      const bbox = this.#readList().map((item) => {
        if (item.kind !== "number") {
          throw new FilterError("BBOX takes 4 or 6 numbers");
        }
        return item.value;
      });
      return { kind: "bbox", bbox };
    }
    if (isGeometryKeyword(word)) {
      return { kind: "geometry", geometry: readGeometry(this, word) };
    }
    const op = FUNCTIONS.get(word);
    if (op === undefined) {
      throw new FilterError(
        `the filter calls ${token.text} at character ${token.at + 1}, which is not a function of this catalogue; it has ${[...FUNCTIONS.keys()].join(", ")}`,
      );
    }
    this.next();
    const args = this.#nest(() => this.#readList());
    return call(op, ...args.map((arg) => (op.startsWith("a_") ? toArray(arg) : arg)));
  }

  #readText(): string {
    const token = this.next();
    if (token.type !== "string") {
      this.#index -= 1;
      throw this.fault("a text in single quotes");
    }
    return token.text;
  }

  /** An end of an interval: a text, `'..'`, or a property. */
  #readEnd(): Expression | undefined {
    const value = this.readScalar();
    if (value.kind !== "string") {
      return value;
    }
    return value.value === ".." || value.value === ""
      ? undefined
      : value.value.length === 10
        ? parseDate(value.value)
        : parseTimestamp(value.value);
  }

  #nest<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_FILTER_DEPTH * 4) {
      throw new FilterError(`the filter has more than ${MAX_FILTER_DEPTH} operators inside each other`);
    }
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_FILTER_NODES) {
      throw new FilterError(`the filter has more than ${MAX_FILTER_NODES} operands`);
    }
  }
}

const negate = (expression: Expression, isNot: boolean): Expression => (isNot ? call("not", expression) : expression);

const toArray = (arg: Expression): Expression =>
  arg.kind === "array" || arg.kind === "property" ? arg : { kind: "array", items: [arg] };
