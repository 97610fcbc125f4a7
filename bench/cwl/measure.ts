// Running the commands that the CWL benchmark compares.
import { execFile, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { median } from "../median.ts";
import type { BenchRow } from "../types.ts";

type Environment = { readonly [name: string]: string | undefined };

/** Seconds that a runner takes for a document, from nothing to its output object. */
export async function timeRun(
  folder: string,
  runner: readonly string[],
  document: string,
  inputs: string,
  env: Environment = process.env,
): Promise<number> {
  const out = join(folder, "out");
  mkdirSync(out, { recursive: true });
  const [file = "", ...args] = runner;
  try {
    return await time(
      () =>
        new Promise<void>((resolve, reject) => {
          const provided = [...args, "--outdir", out, document, inputs];
          execFile(file, provided, { env, maxBuffer: 1 << 28, cwd: folder }, (error, _stdout, stderr) => {
            if (error === null) {
              resolve();
            } else {
              reject(new Error(`${file} failed: ${stderr}`));
            }
          });
        }),
    );
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Seconds to start the same command so many times, as many at once as the engine would. */
export async function timeSpawns(
  count: number,
  [file = "", ...args]: readonly string[],
  options: { readonly env?: Environment; readonly filesIn?: string } = {},
): Promise<number> {
  const { env = process.env, filesIn } = options;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      const cwd = filesIn === undefined ? undefined : join(filesIn, String(next));
      if (cwd !== undefined) {
        mkdirSync(cwd);
      }
      const output = cwd === undefined ? "ignore" : openSync(join(cwd, "out.txt"), "w");
      await new Promise((resolve, reject) => {
        const child = spawn(file, args, { stdio: ["ignore", output, "ignore"], env, cwd });
        child.once("error", reject).once("close", resolve);
      });
      if (typeof output === "number") {
        closeSync(output);
      }
    }
  };
  return await time(async () => {
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
  });
}

export async function time(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return (performance.now() - started) / 1000;
}

export async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    times.push(await measure());
  }
  return median(times);
}

export function row(
  name: string,
  value: number,
  more: { readonly peer?: { name: string; value: number } | undefined; readonly aim?: string; readonly note?: string },
): BenchRow {
  const { peer, aim, note } = more;
  return {
    name: `cwl: ${name}`,
    value: round(value),
    unit: "s",
    ...(aim === undefined ? {} : { aim }),
    ...(note === undefined ? {} : { note }),
    ...(peer === undefined
      ? {}
      : { peer: { name: peer.name, value: round(peer.value) }, ratio: round(value / peer.value) }),
  };
}

export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
