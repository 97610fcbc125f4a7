// `npm run check`: everything that needs no running service, in seconds. `npm run check -- <step> …` runs some steps only.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({ allowPositionals: true, options: { write: { type: "boolean" } } });

const steps: Record<string, readonly string[]> = {
  format: ["oxfmt", ...(values.write ? [] : ["--check"]), "."],
  lint: ["oxlint", "--type-aware", "--deny-warnings", "."],
  types: ["tsc", "--noEmit"],
  "web-types": ["tsc", "--noEmit", "-p", "tsconfig.web.json"],
  generated: [process.execPath, "tools/generate.ts", "--check"],
  unused: ["knip", "--no-progress"],
  unit: [process.execPath, "tools/test.ts", "unit"],
};

const names = positionals.length > 0 ? positionals : Object.keys(steps);
let failed = false;
for (const name of names) {
  const command = steps[name];
  if (command === undefined) {
    console.error(`unknown step "${name}"; steps: ${Object.keys(steps).join(", ")}`);
    process.exit(2);
  }
  const started = performance.now();
  const { code, output } = await run(command);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(10)} ${seconds.padStart(5)} s`);
  if (code !== 0) {
    failed = true;
  }
  if (code !== 0 || name === "unit") {
    console.log(output.trimEnd());
  }
}
process.exit(failed ? 1 : 0);

function run(command: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const [file = "", ...args] = command;
    const child = spawn(file, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
