import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

/** Milliseconds after which a program that neither ends nor serves is given up; a build machine may be busy. */
const LONGEST = 120_000;

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

/** Programs without settings end by themselves; one that needs none is asked to stop as soon as it serves. */
async function runBriefly(file: string, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH, HOME, NODE_COMPILE_CACHE },
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (text.includes('"listening"')) {
      child.kill("SIGTERM");
    }
  });
  const kill = setTimeout(() => child.kill("SIGKILL"), LONGEST);
  await new Promise<void>((resolve, reject) => child.once("close", () => resolve()).once("error", reject));
  clearTimeout(kill);
  return (performance.now() - started) / 1000;
}
