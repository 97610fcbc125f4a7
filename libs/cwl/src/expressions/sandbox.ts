import type { QuickJSContext, QuickJSHandle, QuickJSSyncVariant, QuickJSWASMModule } from "quickjs-emscripten-core";
import { CwlError } from "../errors.ts";
import type { SandboxLimits } from "./limits.ts";
import { nestingOf } from "./scan.ts";
import { webAssembly } from "./web-assembly.ts";
import type { WebAssemblyMemory, WebAssemblyModule } from "./web-assembly.ts";

/** Everything a script may see, as text: nothing of the host crosses over, only JSON. */
export interface Script {
  readonly library: readonly string[];
  /** A JavaScript expression. */
  readonly code: string;
  /** JSON of each global. */
  readonly globals: { readonly inputs: string; readonly self: string; readonly runtime: string };
}

export interface ScriptResult {
  /** JSON of what the script gave; undefined when it returned nothing. */
  readonly json: string | undefined;
  /** What it wrote to the console. */
  readonly log: string;
}

const PAGE_BYTES = 65_536;

/** What the machine takes before any script runs: its stack and its own data. */
const MACHINE_BYTES = 16 * 1024 * 1024;

/** A machine that has grown beyond this is dropped after use: its memory never shrinks. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

const MAX_LOG_CHARACTERS = 65_536;

/** Whoever walks a value does so level by level. */
const MAX_DEPTH = 500;

/** The parser calls itself for each bracket: its stack holds some 900 of the costliest kind. */
const MAX_NESTING = 500;

interface Machine {
  readonly module: QuickJSWASMModule;
  readonly memory: WebAssemblyMemory;
  readonly pages: number;
}

/** Runs scripts, each in a fresh JavaScript runtime without any host object, in a WebAssembly memory that cannot grow past its limit. */
export class Sandbox {
  private readonly machineCode: WebAssemblyModule;
  private machine: Machine | undefined;
  /** Whose nesting was checked last. */
  private library: readonly string[] = [];

  constructor(machineCode: WebAssemblyModule) {
    this.machineCode = machineCode;
  }

  /** `onStart` is called when the time of the script begins. Throws `expression` when the script fails and `limit` when it costs too much. */
  async run(script: Script, limits: SandboxLimits, onStart: () => void): Promise<ScriptResult> {
    this.checkNesting(script);
    const { module, memory } = await this.machineFor(limits);
    onStart();
    try {
      return runScript(module, script, limits);
    } catch (error) {
      if (!(error instanceof CwlError && error.code === "expression")) {
        // A runtime that was stopped half-way cannot be taken apart safely: its machine goes with all its memory.
        this.machine = undefined;
      }
      throw error instanceof CwlError ? error : asLimit(error, limits);
    } finally {
      if (memory.buffer.byteLength > MAX_KEPT_BYTES) {
        this.machine = undefined;
      }
    }
  }

  /** What is wrong with each source, in words; undefined where it is right. Nothing is run. */
  async check(sources: readonly string[], limits: SandboxLimits): Promise<(string | undefined)[]> {
    const messages: (string | undefined)[] = [];
    for (const source of sources) {
      messages.push(nestingProblem(source) ?? (await this.compile(source, limits)));
    }
    return messages;
  }

  private async compile(source: string, limits: SandboxLimits): Promise<string | undefined> {
    const { module } = await this.machineFor(limits);
    try {
      const runtime = module.newRuntime();
      runtime.setMemoryLimit(limits.memoryBytes);
      runtime.setMaxStackSize(limits.stackBytes);
      const context = runtime.newContext();
      const result = context.evalCode(source, "expression", { compileOnly: true });
      const handle = result.error ?? result.value;
      const failure: unknown = result.error === undefined ? undefined : context.dump(handle);
      handle.dispose();
      context.dispose();
      runtime.dispose();
      return result.error === undefined ? undefined : compileMessage(asError(failure, false, limits));
    } catch (error) {
      // A machine whose stack ran out gives wrong answers from then on.
      this.machine = undefined;
      return compileMessage(asLimit(error, limits));
    }
  }

  private async machineFor(limits: SandboxLimits): Promise<Machine> {
    const pages = Math.ceil((MACHINE_BYTES + limits.memoryBytes) / PAGE_BYTES);
    if (this.machine?.pages !== pages) {
      this.machine = { ...(await this.start(pages)), pages };
    }
    return this.machine;
  }

  /** A library is the same for all expressions of its process. */
  private checkNesting({ code, library }: Script): void {
    const isKnown = library.length === this.library.length && library.every((text, at) => text === this.library[at]);
    for (const source of isKnown ? [code] : [code, ...library]) {
      const problem = nestingProblem(source);
      if (problem !== undefined) {
        throw new CwlError("limit", problem);
      }
    }
    this.library = library;
  }

  private async start(pages: number): Promise<{ module: QuickJSWASMModule; memory: WebAssemblyMemory }> {
    const { newQuickJSWASMModuleFromVariant, newVariant } = await import("quickjs-emscripten-core");
    const { default: variant } = (await import("@jitl/quickjs-wasmfile-release-sync")) as unknown as {
      default: QuickJSSyncVariant;
    };
    const memory = new webAssembly.Memory({ initial: MACHINE_BYTES / PAGE_BYTES, maximum: pages });
    const own = newVariant(variant, { wasmMemory: memory, wasmModule: this.machineCode });
    return { module: await newQuickJSWASMModuleFromVariant(own), memory };
  }
}

function runScript(module: QuickJSWASMModule, script: Script, limits: SandboxLimits): ScriptResult {
  const runtime = module.newRuntime();
  const deadline = performance.now() + limits.milliseconds;
  let late = false;
  runtime.setMemoryLimit(limits.memoryBytes);
  runtime.setMaxStackSize(limits.stackBytes);
  runtime.setInterruptHandler(() => {
    late ||= performance.now() > deadline;
    return late;
  });
  const context = runtime.newContext();
  let broken = true;
  try {
    const result = evaluateAll(context, script, limits, (failure) => asError(failure, late, limits));
    broken = false;
    return result;
  } catch (error) {
    broken = !(error instanceof CwlError && error.code === "expression");
    throw error;
  } finally {
    if (!broken) {
      context.dispose();
      runtime.dispose();
    }
  }
}

const setUp = "for (const name of ['inputs', 'self', 'runtime']) globalThis[name] = JSON.parse(globalThis[name]);";

/** Gives the script a console, and the host a function that takes what was written. */
const makeConsole = `(() => {
  let written = "";
  const stringify = JSON.stringify;
  const text = (item) => (typeof item === "string" ? item : (stringify(item) ?? String(item)));
  const log = (...items) => {
    if (written.length < ${MAX_LOG_CHARACTERS}) written += items.map(text).join(" ").slice(0, ${MAX_LOG_CHARACTERS}) + "\\n";
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  return () => written;
})()`;

function evaluateAll(
  context: QuickJSContext,
  script: Script,
  limits: SandboxLimits,
  toError: (failure: unknown) => CwlError,
): ScriptResult {
  const evaluate = (source: string, name: string): QuickJSHandle => {
    const result = context.evalCode(source, name);
    if (result.error !== undefined) {
      const failure: unknown = context.dump(result.error);
      result.error.dispose();
      throw toError(failure);
    }
    return result.value;
  };
  for (const [name, json] of Object.entries(script.globals)) {
    // JSON is not quite JavaScript in a string literal, so it goes in as a value and is parsed inside.
    const text = context.newString(json);
    context.setProp(context.global, name, text);
    text.dispose();
  }
  evaluate(setUp, "set-up").dispose();
  const usesConsole = [script.code, ...script.library].some((source) => source.includes("console"));
  const takeLog = usesConsole ? evaluate(makeConsole, "console") : undefined;
  try {
    for (const source of script.library) {
      evaluate(source, "expressionLib").dispose();
    }
    const value = evaluate(`"use strict"; JSON.stringify(${script.code});`, "expression");
    const json = context.typeof(value) === "string" ? textOf(context, value, limits) : undefined;
    value.dispose();
    return { json, log: logOf(context, takeLog) };
  } catch (error) {
    if (error instanceof CwlError && error.code === "expression" && takeLog !== undefined) {
      throw new ScriptError(error, logOf(context, takeLog));
    }
    throw error;
  } finally {
    takeLog?.dispose();
  }
}

/** The failure of a script, with what it had written to the console before. */
export class ScriptError extends CwlError {
  readonly log: string;

  constructor(error: CwlError, log: string) {
    super(error.code, error.problems, { cause: error });
    this.log = log;
  }
}

function nestingProblem(source: string): string | undefined {
  const nesting = source.length > MAX_NESTING ? nestingOf(source) : 0;
  return nesting > MAX_NESTING
    ? `the expression is nested ${nesting} brackets deep; allowed: ${MAX_NESTING}`
    : undefined;
}

/** Nothing runs yet: what recursed is the parser. */
function compileMessage({ code, message }: CwlError): string {
  if (code !== "limit") {
    return `not valid JavaScript: ${message}`;
  }
  return message.includes("recursed")
    ? "the expression is nested too deeply to be read; split it into shorter ones or functions of expressionLib"
    : message;
}

function textOf(context: QuickJSContext, value: QuickJSHandle, { resultCharacters }: SandboxLimits): string {
  const length = context.getProp(value, "length");
  const characters = context.getNumber(length);
  length.dispose();
  if (characters > resultCharacters) {
    throw new CwlError("limit", `the result of the expression is longer than ${resultCharacters} characters`);
  }
  const json = context.getString(value);
  if (depthOf(json) > MAX_DEPTH) {
    throw new CwlError("limit", `the result of the expression is nested deeper than ${MAX_DEPTH} levels`);
  }
  return json;
}

/** How deep a JSON text is nested. */
function depthOf(json: string): number {
  let [depth, deepest, inString] = [0, 0, false];
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === "\\") {
      at += 1;
    } else if (char === '"') {
      inString = !inString;
    } else if (!inString && (char === "[" || char === "{")) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (!inString && (char === "]" || char === "}")) {
      depth -= 1;
    }
  }
  return deepest;
}

function logOf(context: QuickJSContext, takeLog: QuickJSHandle | undefined): string {
  if (takeLog === undefined) {
    return "";
  }
  const result = context.callFunction(takeLog, context.undefined);
  const handle = result.error ?? result.value;
  const text = result.error === undefined ? context.getString(handle) : "";
  handle.dispose();
  return text.slice(0, 2 * MAX_LOG_CHARACTERS);
}

/** The WebAssembly machine itself gave up: its stack or memory is smaller than what the script went through. */
function asLimit(error: unknown, limits: SandboxLimits): CwlError {
  const why =
    error instanceof RangeError
      ? "recursed too deeply"
      : `broke the sandbox's limits (${Math.round(limits.memoryBytes / 1048576)} MiB of memory)`;
  return new CwlError("limit", `the expression ${why} and was stopped`, { cause: error });
}

function asError(failure: unknown, late: boolean, limits: SandboxLimits): CwlError {
  if (late) {
    return new CwlError("limit", `the expression ran longer than ${limits.milliseconds} ms and was stopped`);
  }
  const { name, message } = (typeof failure === "object" && failure !== null ? failure : {}) as {
    name?: unknown;
    message?: unknown;
  };
  const text = typeof message === "string" ? `${String(name)}: ${message}` : String(failure);
  if (text.includes("out of memory")) {
    return new CwlError(
      "limit",
      `the expression needed more than ${Math.round(limits.memoryBytes / 1048576)} MiB and was stopped`,
    );
  }
  if (text.includes("stack overflow") || text.includes("Maximum call stack")) {
    return new CwlError("limit", "the expression recursed too deeply and was stopped");
  }
  return new CwlError("expression", text);
}
