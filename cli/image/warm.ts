import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

/** Milliseconds after which a program that does not end is given up; a build machine may be busy. */
const LONGEST = 120_000;
/**
 * The same code gives the same files: V8 writes the seed of its hash tables into what it compiles, and drops compiled functions
 * whenever its collector finds them old, so that collects nothing here. Programs without these options take the files as well.
 */
const SAME_EVERY_TIME = [
  "--random-seed=1",
  "--single-threaded-gc",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
];

/**
 * Starts every program of the components without settings: all their modules are loaded, and Node.js keeps the compiled
 * code in NODE_COMPILE_CACHE.
 */
export async function warmCompileCache(root: string): Promise<void> {
  const programs = globSync(["components/*/main.ts", "components/*/*/main.ts"], { cwd: root }).sort();
  for (const program of programs) {
    const [, component = "", ...rest] = program.split("/");
    const entry = rest.join("/").replace(/\.ts$/, "");
    const seconds = await runBriefly(join(root, "cli/image/main.ts"), ["serve", component, entry]);
    console.log(`${component} ${entry}: ${seconds.toFixed(1)} s`);
  }
  await runBriefly(join(root, "cli/image/main.ts"), ["probe", "postgres"]);
}

/** Programs end by themselves, with what is wrong about their settings: an address that is none at least. */
async function runBriefly(file: string, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [...SAME_EVERY_TIME, file, ...args], {
    stdio: "ignore",
    // Files are read one after another.
    env: { PATH, HOME, NODE_COMPILE_CACHE, LISTEN: "nowhere", UV_THREADPOOL_SIZE: "1" },
    timeout: LONGEST,
    killSignal: "SIGKILL",
  });
  await new Promise<void>((resolve, reject) => child.once("close", () => resolve()).once("error", reject));
  return (performance.now() - started) / 1000;
}
