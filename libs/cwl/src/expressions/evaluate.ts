import { CwlError, messageOf } from "../errors.ts";
import type { CwlVersion } from "../model/process.ts";
import { formatNumber } from "../model/numbers.ts";
import type { Value } from "../model/values.ts";
import { toJson } from "../model/values.ts";
import type { ExpressionContext } from "./parameter-reference.ts";
import { followReference, parseReference } from "./parameter-reference.ts";
import { defaultSandboxLimits } from "./limits.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Script } from "./sandbox.ts";
import type * as poolCode from "./sandbox-pool.ts";
import { mayHoldExpression, scanExpressions } from "./scan.ts";
import type { Piece } from "./scan.ts";

export interface EvaluatorOptions {
  /** Whether InlineJavascriptRequirement is in force. */
  readonly javascript: boolean;
  readonly library: readonly string[];
  readonly version: CwlVersion;
  readonly limits?: SandboxLimits | undefined;
  /** Told what scripts write to the console. */
  readonly onLog?: ((text: string) => void) | undefined;
}

/** Evaluates the expressions of one process. Holds no state between evaluations but parsed strings. */
export class Evaluator {
  private readonly options: EvaluatorOptions;
  private readonly scanned = new Map<string, readonly Piece[]>();

  constructor(options: EvaluatorOptions) {
    this.options = options;
  }

  /** Value of a field: the expression's own value when it is the whole string, otherwise the interpolated text. */
  async evaluate(text: string, context: ExpressionContext, options: { keepSpace?: boolean } = {}): Promise<Value> {
    if (!mayHoldExpression(text)) {
      return text;
    }
    // YAML block scalars end in a newline, which must not turn a value into text; in a file's text it counts.
    const pieces = this.scan(options.keepSpace === true ? text : text.trim());
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined && only.kind !== "text") {
      return await this.evaluatePiece(only, context);
    }
    let result = "";
    for (const piece of pieces) {
      result += piece.kind === "text" ? piece.text : interpolate(await this.evaluatePiece(piece, context));
    }
    return result;
  }

  /** A field that must be a string. */
  async evaluateText(text: string, context: ExpressionContext, what: string): Promise<string> {
    const value = await this.evaluate(text, context);
    if (typeof value !== "string") {
      throw new CwlError("expression", `${what} must be a string, but ${quote(text)} gave ${toJson(value)}`);
    }
    return value;
  }

  private scan(text: string): readonly Piece[] {
    let pieces = this.scanned.get(text);
    if (pieces === undefined) {
      try {
        pieces = scanExpressions(text, {
          javascript: this.options.javascript,
          escaping: this.options.version >= "v1.2" ? "v1.2" : "v1.0",
        });
      } catch (error) {
        throw new CwlError("expression", messageOf(error));
      }
      this.scanned.set(text, pieces);
    }
    return pieces;
  }

  private async evaluatePiece(piece: Exclude<Piece, { kind: "text" }>, context: ExpressionContext): Promise<Value> {
    const reference = piece.kind === "reference" ? parseReference(piece.code) : undefined;
    if (reference !== undefined) {
      const lookup = followReference(reference, context);
      if (lookup.found) {
        return lookup.value;
      }
      if (!this.options.javascript) {
        throw new CwlError("expression", `${quote(piece.source)}: ${lookup.why}`);
      }
    } else if (!this.options.javascript) {
      throw new CwlError(
        "expression",
        `${quote(piece.source)} is not a parameter reference; JavaScript needs InlineJavascriptRequirement`,
      );
    }
    try {
      const json = await this.runJavaScript(piece, context);
      return json === undefined ? null : (JSON.parse(json) as Value);
    } catch (error) {
      if (error instanceof CwlError) {
        throw new CwlError(error.code, `${quote(piece.source)}: ${error.message}`, { cause: error });
      }
      throw error;
    }
  }

  private async runJavaScript(
    piece: Exclude<Piece, { kind: "text" }>,
    context: ExpressionContext,
  ): Promise<string | undefined> {
    const { library, limits = defaultSandboxLimits } = this.options;
    const seen = `${piece.code}\n${library.join("\n")}`;
    const pass = (name: keyof ExpressionContext): string => (seen.includes(name) ? jsonOf(context[name]) : "null");
    const script: Script = {
      library,
      // On its own line, so that a comment at the end of the code does not swallow the bracket.
      code: piece.kind === "reference" ? `(${piece.code}\n)` : `(function () {"use strict"; ${piece.code}\n})()`,
      globals: { inputs: pass("inputs"), self: pass("self"), runtime: pass("runtime") },
    };
    const sandboxPool = await loadPool();
    const { json } = await sandboxPool.run(script, limits, this.options.onLog ?? (() => undefined));
    return json;
  }
}

let poolModule: Promise<typeof poolCode> | undefined;

/** Most documents have no JavaScript, and need neither its threads nor their code. */
async function loadPool(): Promise<typeof poolCode.sandboxPool> {
  poolModule ??= import("./sandbox-pool.ts");
  return (await poolModule).sandboxPool;
}

const jsonCache = new WeakMap<object, string>();

/** The inputs of a job are written as JSON once, however many expressions read them. */
function jsonOf(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return toJson(value ?? null);
  }
  let json = jsonCache.get(value);
  if (json === undefined) {
    json = toJson(value);
    jsonCache.set(value, json);
  }
  return json;
}

/** How a value reads inside a longer string: strings as they are, everything else as JSON with sorted keys. */
export function interpolate(value: Value): string {
  return typeof value === "string" ? value : sortedJson(value);
}

export function sortedJson(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") {
    return formatNumber(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map(sortedJson).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}: ${sortedJson(item)}`);
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value ?? null);
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 120 ? `${line.slice(0, 117)}…` : line;
}
