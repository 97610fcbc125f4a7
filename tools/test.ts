// `npm test`: every test there is, quick ones first. `npm run test:quick` leaves out what starts services.
//
// unit           **/*.test.ts               pure, one process for all
// integration    **/*.integration.test.ts   start real things, one process a file
// conformance    **/*.conformance.test.ts   suites of others against ours, one at a time
// kubernetes     **/*.kubernetes.test.ts    the platform on the cluster of KUBECONFIG; not part of the rest (npm run test:kubernetes)
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

import { prepareTestPrograms } from "./test-programs.ts";

const root = join(import.meta.dirname, "..");
const [what = "all", ...only] = process.argv.slice(2);
const suites: Record<string, () => boolean> = {
  check: () => run(["tools/check.ts", "format", "lint", "types", "web-types", "generated", "unused"]),
  unit: () =>
    tests("unit", (file) => !/\.(integration|conformance|kubernetes)\.test\.ts$/.test(file), ["--test-isolation=none"]),
  integration: () => tests("integration", (file) => file.endsWith(".integration.test.ts"), ["--test-concurrency=2"]),
  kubernetes: () => tests("kubernetes", (file) => file.endsWith(".kubernetes.test.ts"), ["--test-concurrency=1"]),
  conformance: () => tests("conformance", (file) => file.endsWith(".conformance.test.ts"), ["--test-concurrency=1"]),
};
const groups: Record<string, readonly string[]> = {
  all: ["check", "unit", "integration", "conformance"],
  quick: ["check", "unit"],
};

if (what === "all") {
  prepareTestPrograms(process.env);
}
const names = groups[what] ?? [what];
let failed = false;
for (const name of names) {
  const suite = suites[name];
  if (suite === undefined) {
    console.error(`unknown suite "${name}"; suites: ${[...Object.keys(groups), ...Object.keys(suites)].join(", ")}`);
    process.exit(2);
  }
  console.log(`\n# ${name}`);
  failed = !suite() || failed;
}
process.exit(failed ? 1 : 0);

function tests(name: string, wanted: (file: string) => boolean, options: readonly string[]): boolean {
  const files = globSync(["{cli,components,libs,test,tools,examples}/**/*.test.ts"], {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  })
    .filter((file) => wanted(file) && (only.length === 0 || only.some((part) => file.includes(part))))
    .sort();
  if (files.length === 0) {
    console.log(`no ${name} tests${only.length > 0 ? ` match ${only.join(", ")}` : ""}`);
    return only.length === 0;
  }
  return run(["--test", "--test-reporter=spec", ...options, ...files]);
}

function run(args: readonly string[]): boolean {
  return spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}
