import type { QuickJSContext, QuickJSWASMModule } from "quickjs-emscripten-core";
import { CwlError } from "../errors.ts";

/** What one evaluation may cost. */
export interface SandboxLimits {
  readonly milliseconds: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  /** Largest result, in characters of JSON. */
  readonly resultCharacters: number;
}

export const defaultSandboxLimits: SandboxLimits = {
  milliseconds: 10_000,
  memoryBytes: 128 * 1024 * 1024,
  stackBytes: 256 * 1024,
  resultCharacters: 64 * 1024 * 1024,
};

/** Everything a script may see, as text: nothing of the host crosses over, only JSON. */
export interface Script {
  readonly library: readonly string[];
  /** A JavaScript expression. */
  readonly code: string;
  /** JSON of each global. */
  readonly globals: { readonly inputs: string; readonly self: string; readonly runtime: string };
}

/** Cause of the error of a script that ran out of time. */
export const tooSlow = Symbol("too slow");

let loading: Promise<QuickJSWASMModule> | undefined;

/** The WebAssembly module is compiled once a process, on first need. */
export function loadSandbox(): Promise<QuickJSWASMModule> {
  loading ??= (async () => {
    const { newQuickJSWASMModuleFromVariant } = await import("quickjs-emscripten-core");
    return await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"));
  })();
  return loading;
}

/**
 * Runs a script in a fresh JavaScript runtime without any host object and gives back the JSON of its result
 * (undefined when it returned nothing). Throws `expression` when the script fails and `limit` when it costs too much.
 */
export function runScript(module: QuickJSWASMModule, script: Script, limits: SandboxLimits): string | undefined {
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
  try {
    const answer = evaluateAll(context, script, (failure) => asError(failure, late, limits));
    if (answer !== undefined && answer.length > limits.resultCharacters) {
      throw new CwlError("limit", `the result of the expression is longer than ${limits.resultCharacters} characters`);
    }
    context.dispose();
    runtime.dispose();
    return answer;
  } catch (error) {
    if (error instanceof CwlError && error.code === "expression") {
      context.dispose();
      runtime.dispose();
    } else {
      // A runtime that was stopped half-way cannot be taken apart safely. The whole module is dropped with its memory;
      // the next expression gets a new one.
      loading = undefined;
    }
    throw error instanceof CwlError ? error : asLimit(error);
  }
}

function evaluateAll(
  context: QuickJSContext,
  script: Script,
  toError: (failure: unknown) => CwlError,
): string | undefined {
  for (const [name, json] of Object.entries(script.globals)) {
    // JSON is not quite JavaScript in a string literal, so it goes in as a value and is parsed inside.
    const text = context.newString(json);
    context.setProp(context.global, name, text);
    text.dispose();
  }
  const sources = [
    "for (const name of ['inputs', 'self', 'runtime']) globalThis[name] = JSON.parse(globalThis[name]);",
    ...script.library,
    `"use strict"; JSON.stringify(${script.code});`,
  ];
  let answer: string | undefined;
  for (const [index, source] of sources.entries()) {
    const last = index === sources.length - 1;
    const result = context.evalCode(source, index === 0 ? "set-up" : last ? "expression" : "expressionLib");
    if (result.error !== undefined) {
      const failure: unknown = context.dump(result.error);
      result.error.dispose();
      throw toError(failure);
    }
    if (last) {
      answer = context.typeof(result.value) === "string" ? context.getString(result.value) : undefined;
    }
    result.value.dispose();
  }
  return answer;
}

/** The WebAssembly machine itself gave up: its stack or memory is smaller than what the script went through. */
function asLimit(error: unknown): CwlError {
  const why = error instanceof RangeError ? "recursed too deeply" : "broke the sandbox's limits";
  return new CwlError("limit", `the expression ${why} and was stopped`, { cause: error });
}

function asError(failure: unknown, late: boolean, limits: SandboxLimits): CwlError {
  if (late) {
    return new CwlError("limit", `the expression ran longer than ${limits.milliseconds} ms and was stopped`, {
      cause: tooSlow,
    });
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
