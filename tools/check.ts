// `npm run check`: everything that needs no running service, in seconds. `npm run check -- <step> …` runs some steps only.
// `--changed` formats and lints only the files that differ from main, and runs the unit tests of their packages only.
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { findChangedFiles } from "./changed-files.ts";

const root = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, changed: { type: "boolean" } },
});

/** What a step looks at: all of the tree, or what `--changed` leaves of it. */
const scope = values.changed ? findChangedScope() : { formatted: ["."], linted: ["."], tested: [] };
const steps: Record<string, readonly string[]> = {
  format: ["oxfmt", ...(values.write ? [] : ["--check"]), ...scope.formatted],
  lint: ["oxlint", "--type-aware", "--deny-warnings", ...scope.linted],
  types: compile("tsconfig.json"),
  "web-types": compile("tsconfig.web.json"),
  generated: [process.execPath, "tools/generate.ts", "--check"],
  unused: ["knip", "--no-progress"],
  unit: [process.execPath, "tools/test.ts", "unit", ...scope.tested],
};
/** Steps for which nothing is left. */
const idle = new Set(
  values.changed
    ? [
        ...(scope.formatted.length === 0 ? ["format"] : []),
        ...(scope.linted.length === 0 ? ["lint"] : []),
        ...(scope.tested.length === 0 ? ["unit"] : []),
      ]
    : [],
);

const names = positionals.length > 0 ? positionals : Object.keys(steps);
let failed = false;
for (const name of names) {
  const command = steps[name];
  if (command === undefined) {
    console.error(`unknown step "${name}"; steps: ${Object.keys(steps).join(", ")}`);
    process.exit(2);
  }
  if (idle.has(name)) {
    console.log(`none ${name.padEnd(10)} nothing of it differs from main`);
    continue;
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

/** The compiler keeps what it found out: the next run reads only what has changed. */
function compile(project: string): readonly string[] {
  const kept = join("node_modules", ".cache", project.replace(/json$/, "tsbuildinfo"));
  return ["tsc", "--noEmit", "--project", project, "--incremental", "--tsBuildInfoFile", kept];
}

function findChangedScope(): Record<"formatted" | "linted" | "tested", readonly string[]> {
  const changed = findChangedFiles(root);
  const packages = new Set(changed.map((file) => /^(?:components|libs)\/[^/]+\/|^[^/]+\//.exec(file)?.[0] ?? file));
  return {
    formatted: changed.filter((file) => /\.(tsx?|mjs|css|json|md|ya?ml)$/.test(file) && file !== "package-lock.json"),
    linted: changed.filter((file) => /\.tsx?$/.test(file)),
    tested: [...packages].filter((folder) => hasUnitTests(folder)),
  };
}

function hasUnitTests(folder: string): boolean {
  return globSync("**/*.test.ts", { cwd: join(root, folder), exclude: (path) => path.includes("node_modules") }).some(
    (file) => !/\.(integration|conformance|kubernetes|suite)\.test\.ts$/.test(file),
  );
}

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
