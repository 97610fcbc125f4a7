import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Programs without settings end by themselves; one that needs none is asked to stop once it runs. */
const LONGEST = 15_000;
const UNTIL_ASKED = 5000;

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

async function runBriefly(file: string, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...args], { stdio: "ignore", env: { PATH, HOME, NODE_COMPILE_CACHE } });
  const ended = new Promise<void>((resolve, reject) => child.once("close", () => resolve()).once("error", reject));
  const askToStop = setTimeout(() => child.kill("SIGTERM"), UNTIL_ASKED);
  const kill = setTimeout(() => child.kill("SIGKILL"), LONGEST);
  await Promise.race([ended, sleep(LONGEST + 1000, undefined, { ref: false })]);
  clearTimeout(askToStop);
  clearTimeout(kill);
  return (performance.now() - started) / 1000;
}
