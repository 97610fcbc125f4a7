import { isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Document, Node, Pair } from "yaml";
import { CwlError, messageOf } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { defaultLoadLimits } from "./budget.ts";
import type { LoadLimits } from "./budget.ts";
import { indentFlowLines } from "./flow-indent.ts";
import { readJson } from "./json-text.ts";
import { lineAndColumn, setOrigin } from "./origin.ts";
import type { SourceText } from "./origin.ts";
import { findExcess, withoutStackTraces } from "./yaml-bounds.ts";

/** What one text may cost. */
export type ParseLimits = Pick<LoadLimits, "documentBytes" | "nodes" | "yamlTokens" | "depth">;

/** One slip makes many syntax errors; the first few say where it is. */
const mostErrors = 20;

/**
 * Parses YAML 1.2 (so also JSON) into plain values and remembers where each was written.
 * Throws `invalid-document` with every syntax error, or `limit`.
 */
export function parseYaml(source: SourceText, limits: ParseLimits = defaultLoadLimits): unknown {
  return parseText(source, limits).value;
}

/** The same with the number of values. */
export function parseText(
  source: SourceText,
  limits: ParseLimits,
): { readonly value: unknown; readonly nodes: number } {
  const { text, uri } = source;
  if (text.length > limits.documentBytes) {
    throw new CwlError("limit", [
      {
        severity: "error",
        message: `the document has ${text.length} characters; at most ${limits.documentBytes} are accepted`,
        file: uri,
      },
    ]);
  }
  const json = readJson(source, limits);
  if (json !== undefined) {
    return json;
  }
  refuseDeepText(source, limits.depth);
  let document = parse(source, limits);
  let read = source;
  if (document.errors.length > 0) {
    const moved = { ...source, ...indentFlowLines(text) };
    const again = moved.text === text ? document : parse(moved, limits);
    if (again.errors.length === 0) {
      [document, read] = [again, moved];
    }
  }
  if (document.errors.length > 0) {
    throw new CwlError(
      "invalid-document",
      document.errors.slice(0, mostErrors).map((error): Problem => {
        const { line, column } = lineAndColumn(read, error.pos[0]);
        const message = `not valid YAML: ${error.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? error.code}`;
        return { severity: "error", message, file: uri, line, column };
      }),
    );
  }
  const converter = new Converter(read, limits);
  const value = converter.convert(document.contents, 0);
  if (converter.problems.length > 0) {
    throw new CwlError("invalid-document", converter.problems.slice(0, mostErrors));
  }
  return { value, nodes: converter.count };
}

function parse(source: SourceText, { nodes, yamlTokens }: ParseLimits): Document.Parsed {
  const excess = findExcess(source.text, { scalars: nodes, tokens: yamlTokens });
  if (excess !== undefined) {
    throw new CwlError("limit", [{ severity: "error", message: `the document has ${excess}`, file: source.uri }]);
  }
  try {
    return withoutStackTraces(() =>
      parseDocument(source.text, {
        prettyErrors: false,
        // The parser compares each key with all before it; the converter looks them up.
        uniqueKeys: false,
        merge: true,
        strict: false,
      }),
    );
  } catch (error) {
    throw new CwlError("invalid-document", [
      { severity: "error", message: `not readable as YAML: ${messageOf(error)}`, file: source.uri },
    ]);
  }
}

/**
 * Brackets nested by the ten thousand overflow the parser's stack; counting them first is cheap. Quotes and comments
 * can hold brackets too, so this is an upper bound that no honest document comes near.
 */
function refuseDeepText(source: SourceText, limit: number): void {
  const most = limit * 10;
  let depth = 0;
  for (const { 0: bracket, index } of source.text.matchAll(/[[\]{}]|^(?: *- ){64,}/gm)) {
    depth += bracket === "[" || bracket === "{" ? 1 : bracket.length > 1 ? 0 : -1;
    if (depth > most || (bracket.length > 1 && bracket.length / 2 > most)) {
      const message = `brackets or list items are nested deeper than ${most} levels; allowed: ${limit} in a document`;
      throw new CwlError("limit", [{ severity: "error", message, file: source.uri, ...lineAndColumn(source, index) }]);
    }
  }
}

class Converter {
  readonly problems: Problem[] = [];
  count = 0;
  private readonly source: SourceText;
  private readonly limits: ParseLimits;
  /** What aliases refer to: the last node of that name before them. */
  private readonly anchors = new Map<string, unknown>();

  constructor(source: SourceText, limits: ParseLimits) {
    this.source = source;
    this.limits = limits;
  }

  convert(node: unknown, depth: number): unknown {
    this.count += 1;
    if (this.count > this.limits.nodes) {
      throw new CwlError("limit", [
        {
          severity: "error",
          message: `the document expands to more than ${this.limits.nodes} values`,
          hint: "aliases that refer to aliases grow quickly",
          file: this.source.uri,
        },
      ]);
    }
    if (depth > this.limits.depth) {
      const message = `the document is nested deeper than ${this.limits.depth} levels`;
      const location = lineAndColumn(this.source, offsetOf(node) ?? 0);
      throw new CwlError("limit", [{ severity: "error", message, file: this.source.uri, ...location }]);
    }
    this.remember(node);
    if (isScalar(node)) {
      return scalarValue(node.value, node.source);
    }
    if (isMap(node)) {
      return this.convertMap(node.items as Pair[], node, depth);
    }
    if (isSeq(node)) {
      const result: unknown[] = [];
      const places = new Map<string | number, number>();
      for (const [index, item] of node.items.entries()) {
        places.set(index, offsetOf(item) ?? offsetOf(node) ?? 0);
        result.push(this.convert(item, depth + 1));
      }
      setOrigin(result, this.source, offsetOf(node) ?? 0, places);
      return result;
    }
    if (isAlias(node)) {
      if (!this.anchors.has(node.source)) {
        this.report(`the alias *${node.source} refers to nothing before it`, offsetOf(node));
      }
      return this.convert(this.anchors.get(node.source), depth + 1);
    }
    return null;
  }

  private remember(node: unknown): void {
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor !== undefined) {
      this.anchors.set(anchor, node);
    }
  }

  private report(message: string, offset = 0): void {
    const location = lineAndColumn(this.source, offset);
    this.problems.push({
      severity: "error",
      message: `not valid YAML: ${message}`,
      file: this.source.uri,
      ...location,
    });
  }

  private keyOf(pair: Pair): string {
    this.remember(pair.key);
    const key = isAlias(pair.key) ? this.anchors.get(pair.key.source) : pair.key;
    if (isMap(key) || isSeq(key)) {
      this.report("a key is a list or an object", offsetOf(key));
    }
    return isScalar(key) ? String(key.value) : "";
  }

  private convertMap(pairs: readonly Pair[], node: Node, depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    const places = new Map<string | number, number>();
    for (const pair of pairs) {
      const key = this.keyOf(pair);
      if (key === "<<" && (isAlias(pair.value) || isMap(pair.value) || isSeq(pair.value))) {
        this.merge(result, this.convert(pair.value, depth + 1));
        continue;
      }
      if (places.has(key)) {
        this.report(`the key ${JSON.stringify(key)} is there twice`, offsetOf(pair.key));
      }
      places.set(key, offsetOf(pair.key) ?? 0);
      define(result, key, this.convert(pair.value, depth + 1));
    }
    setOrigin(result, this.source, offsetOf(node) ?? 0, places);
    return result;
  }

  private merge(target: Record<string, unknown>, from: unknown): void {
    for (const part of Array.isArray(from) ? from : [from]) {
      if (typeof part === "object" && part !== null) {
        for (const [key, value] of Object.entries(part)) {
          if (!Object.hasOwn(target, key)) {
            define(target, key, value);
          }
        }
      }
    }
  }
}

/** Assigns without running the `__proto__` setter, so a document cannot change the prototype of what it makes. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[key] = value;
  }
}

function offsetOf(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] | null } | null)?.range?.[0];
}

/** Integers that a double cannot hold keep their digits as a bigint. */
function scalarValue(value: unknown, source: string | undefined): unknown {
  if (typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^[-+]?\d+$/.test(source)) {
    return BigInt(source);
  }
  return typeof value === "object" && value !== null ? String(source) : (value ?? null);
}
