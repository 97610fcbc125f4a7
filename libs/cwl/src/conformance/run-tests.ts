import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../errors.ts";
import { parseYaml } from "../load/yaml.ts";
import { differences } from "./differences.ts";
import type { ConformanceTest } from "./load-tests.ts";

export type TestState = "passed" | "failed" | "unsupported";

export interface TestResult {
  readonly test: ConformanceTest;
  readonly state: TestState;
  /** Why it did not pass. */
  readonly reasons: readonly string[];
  readonly exitCode: number | undefined;
  readonly seconds: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestRunOptions {
  /** A runner with its arguments; called with `--outdir=DIR --quiet TOOL [JOB]`. */
  readonly runner: readonly string[];
  readonly jobs: number;
  readonly timeoutSeconds: number;
  readonly env: { readonly [name: string]: string | undefined };
  readonly signal: AbortSignal;
  readonly onResult?: ((result: TestResult) => void) | undefined;
}

/** By which a runner says that it lacks a feature. */
const UNSUPPORTED = 33;

const MAX_OUTPUT_CHARACTERS = 64 * 1024 * 1024;

/** Runs tests, some at a time, and gives their results in the order of the suite. */
export async function runConformanceTests(
  tests: readonly ConformanceTest[],
  options: TestRunOptions,
): Promise<TestResult[]> {
  const results: TestResult[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tests.length && !options.signal.aborted; index = next++) {
      const test = tests[index];
      if (test !== undefined) {
        const result = await runConformanceTest(test, options);
        if (!options.signal.aborted) {
          results[index] = result;
          options.onResult?.(result);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.jobs) }, worker));
  return results.filter((result) => result !== undefined);
}

export async function runConformanceTest(
  test: ConformanceTest,
  options: Omit<TestRunOptions, "jobs" | "onResult">,
): Promise<TestResult> {
  const started = performance.now();
  const outDir = mkdtempSync(join(tmpdir(), "cwl-test-"));
  try {
    const args = [`--outdir=${outDir}`, "--quiet", test.tool, ...(test.job === undefined ? [] : [test.job])];
    const ended = await execute([...options.runner, ...args], outDir, options);
    const verdict = judge(test, ended, options.timeoutSeconds);
    const { exitCode, stdout, stderr } = ended;
    return { test, ...verdict, exitCode, stdout, stderr, seconds: (performance.now() - started) / 1000 };
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

interface Ended {
  readonly exitCode: number | undefined;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

function judge(
  test: ConformanceTest,
  { exitCode, timedOut, stdout, stderr }: Ended,
  timeoutSeconds: number,
): Pick<TestResult, "state" | "reasons"> {
  if (timedOut) {
    return { state: "failed", reasons: [`no result within ${timeoutSeconds} s`] };
  }
  if (exitCode === UNSUPPORTED) {
    // What every runner must have cannot be left out.
    const state = test.tags.includes("required") ? "failed" : "unsupported";
    return { state, reasons: [lastOf(stderr) || "the runner does not support a feature"] };
  }
  if (test.shouldFail) {
    return exitCode === 0 ? { state: "failed", reasons: ["it should have failed"] } : { state: "passed", reasons: [] };
  }
  if (exitCode !== 0) {
    return { state: "failed", reasons: [`exit status ${exitCode ?? "none"}: ${lastOf(stderr)}`] };
  }
  let output: unknown;
  try {
    // The second keeps the digits of large integers, the first refuses what is no JSON.
    output = stdout.trim() === "" ? {} : JSON.parse(stdout) && parseYaml({ uri: "output", text: stdout });
  } catch (error) {
    return { state: "failed", reasons: [`the output object is not JSON: ${messageOf(error)}`] };
  }
  const found = differences(test.output ?? {}, output ?? {});
  return { state: found.length === 0 ? "passed" : "failed", reasons: found };
}

function lastOf(text: string): string {
  return text.trim().slice(-500);
}

/** Runs a command in a process group of its own, which ends with it, with its time or with the signal. */
function execute(
  [command = "", ...args]: readonly string[],
  cwd: string,
  { env, signal, timeoutSeconds }: Pick<TestRunOptions, "env" | "signal" | "timeoutSeconds">,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const output = { stdout: "", stderr: "" };
    let timedOut = false;
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] = (output[name] + text).slice(-MAX_OUTPUT_CHARACTERS);
      });
    }
    const end = (kind: NodeJS.Signals): void => {
      try {
        process.kill(-(child.pid ?? 0), kind);
      } catch {
        // It has ended by itself.
      }
    };
    const abort = (): void => end("SIGTERM");
    const timer = setTimeout(() => {
      timedOut = true;
      // A runner removes its containers on the first; the second is for one that does not end.
      end("SIGTERM");
      killer = setTimeout(() => end("SIGKILL"), KILL_AFTER_MS);
    }, timeoutSeconds * 1000);
    let killer: NodeJS.Timeout | undefined;
    const finish = (exitCode: number | undefined, error?: Error): void => {
      clearTimeout(timer);
      clearTimeout(killer);
      signal.removeEventListener("abort", abort);
      resolve({
        exitCode,
        timedOut,
        stdout: output.stdout,
        stderr: error === undefined ? output.stderr : error.message,
      });
    };
    signal.addEventListener("abort", abort, { once: true });
    child.once("error", (error) => finish(undefined, error));
    child.once("close", (code) => finish(code ?? undefined));
  });
}

const KILL_AFTER_MS = 5000;
