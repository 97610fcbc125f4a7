// `npm test`: every test there is, quick ones first. `npm run test:quick` leaves out what starts services.
//
// unit           **/*.test.ts               pure, one process for all
// integration    **/*.integration.test.ts   start real things, one process a file
// conformance    **/*.conformance.test.ts   suites of others against ours, one at a time
// suites         **/*.suite.test.ts         suites of others that need package registries; not part of the rest (npm run test:suites)
// kubernetes     **/*.kubernetes.test.ts    the platform on the cluster of KUBECONFIG; not part of the rest (npm run test:kubernetes)
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { bundleFolder, ensureBundles } from "../cli/programs/bundles.ts";
import { waitUntilCompiled } from "../cli/targets/embedded/accounts/compiled-code.ts";
import { skipFileWithout } from "../libs/testing/src/system-programs.ts";
import { TEST_RUN, endTestProcesses } from "./end-test-processes.ts";
import { type FileResult, runFiles } from "./file-pool.ts";
import { describeRun, withoutCounts } from "./run-summary.ts";
import { findFailedFiles, hasUncaughtError } from "./test-failures.ts";
import { sortLongestFirst } from "./test-order.ts";
import { prepareTestPrograms } from "./test-programs.ts";

/** Suites whose files are run again where few failed. Those on a cluster need a new one (`test-kubernetes.ts`). */
const RUN_AGAIN = ["integration", "conformance"];
/** More failing files than these are no accident: they are not run again. */
const MAX_FILES_AGAIN = 5;

const root = join(import.meta.dirname, "..");
const [what = "all", ...only] = process.argv.slice(2);
const suites: Record<string, () => Promise<boolean>> = {
  check: () => run(["tools/check.ts", "format", "lint", "types", "web-types", "generated", "unused"]),
  unit: () =>
    tests("unit", (file) => !/\.(integration|conformance|kubernetes|suite)\.test\.ts$/.test(file), [
      "--test-isolation=none",
    ]),
  // A test that waits for ever fails after ten minutes, and its file cleans up and ends.
  integration: () => tests("integration", (file) => file.endsWith(".integration.test.ts"), ["--test-timeout=600000"]),
  kubernetes: () => tests("kubernetes", (file) => file.endsWith(".kubernetes.test.ts"), ["--test-concurrency=1"]),
  suites: () => tests("suites", (file) => file.endsWith(".suite.test.ts"), ["--test-concurrency=1"]),
  conformance: () => tests("conformance", (file) => file.endsWith(".conformance.test.ts"), ["--test-concurrency=1"]),
};
const groups: Record<string, readonly string[]> = {
  all: ["check", "unit", "integration", "conformance"],
  quick: ["check", "unit"],
};

if (what === "all") {
  prepareTestPrograms(process.env);
}
/** What root's deployments run, compiled beside the checks: the first three would each compile all of it. */
const compiled = what === "all" && process.getuid?.() === 0 ? waitUntilCompiled() : undefined;
const names = groups[what] ?? [what];
const ownFailures = process.env["SWATH_TEST_FAILURES"] === undefined;
/** Folder with a text of what failed for each suite: told at the end by who made it, `.ci/run` for its two runs. */
const failures = process.env["SWATH_TEST_FAILURES"] ?? mkdtempSync(join(tmpdir(), "swath-test-failures-"));
let failed = false;
let flaky = "";
const runId = randomUUID();
const children = new Set<ChildProcess>();
let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    // A terminal sends its own to every process of the run.
    if (signal !== "SIGINT") {
      children.forEach((child) => child.kill(signal));
    }
  });
}
for (const name of names) {
  const suite = suites[name];
  if (suite === undefined) {
    console.error(`unknown suite "${name}"; suites: ${[...Object.keys(groups), ...Object.keys(suites)].join(", ")}`);
    process.exit(2);
  }
  console.log(`\n# ${name}`);
  const passed = await suite();
  if (isInterrupted) {
    break;
  }
  if (!passed) {
    failed = true;
    writeFileSync(join(failures, `${name}-${process.pid}-whole.txt`), `failed: the suite "${name}"\n`);
  }
}
if (isInterrupted) {
  console.log("\ninterrupted; ending what the tests started ...");
  endTestProcesses(runId);
  if (ownFailures) {
    rmSync(failures, { recursive: true, force: true });
  }
  process.exit(130);
}
if (flaky !== "") {
  console.log(`\n# flaky: failed once, passed when its file was run again alone; a defect to mend\n${flaky}`);
}
if (ownFailures) {
  tellFailures();
  rmSync(failures, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

function tellFailures(): void {
  const texts = readdirSync(failures).map((name) => readFileSync(join(failures, name), "utf8"));
  if (names.length > 1 && texts.some((text) => text !== "")) {
    console.log(`\n# what failed\n${texts.join("")}`);
  }
}

async function tests(name: string, requested: (file: string) => boolean, options: readonly string[]): Promise<boolean> {
  const found = globSync(["{cli,components,libs,test,tools,examples}/**/*.test.ts"], {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  })
    .filter((file) => requested(file) && (only.length === 0 || only.some((part) => file.includes(part))))
    .sort();
  if (found.length === 0) {
    console.log(`no ${name} tests${only.length > 0 ? ` match ${only.join(", ")}` : ""}`);
    return only.length === 0;
  }
  const files = found.filter((file) => !isSkipped(file));
  if (files.length === 0) {
    return true;
  }
  const list = join(failures, `${name}-${process.pid}.txt`);
  const report = (destination: string) => [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${join(import.meta.dirname, "test-failures.ts")}`,
    `--test-reporter-destination=${destination}`,
  ];
  const passed =
    name === "integration" && files.length > 1
      ? await runAtOnce(sortLongestFirst(files), list, (part) => ["--test", ...report(part), ...options])
      : await run(["--test", ...report(list), ...options, ...files]);
  if (isInterrupted) {
    return false;
  }
  if (hasUncaughtError(readFileSync(list, "utf8"))) {
    console.log("\n# an error that nothing caught ends a service: see what failed");
    console.log(readFileSync(list, "utf8"));
    return false;
  }
  if (passed) {
    return true;
  }
  // A whole run of hours of browsers, kills and containers is not thrown away for one accident, and the accident is not hidden.
  const text = readFileSync(list, "utf8");
  const again = findFailedFiles(text).filter((file) => files.includes(file));
  // Who works on a few files sees at once what failed.
  const isOfInterest = only.length === 0 || process.env["CI"] === "true";
  if (!RUN_AGAIN.includes(name) || !isOfInterest || again.length === 0 || again.length > MAX_FILES_AGAIN) {
    return false;
  }
  console.log(`\n# ${name}: what failed, again\n${again.join("\n")}`);
  if (!(await run(["--test", ...report(list), ...options, "--test-concurrency=1", ...again]))) {
    return false;
  }
  flaky += text;
  return true;
}

/** Says why, where this machine lacks a program that all tests of a file drive. */
function isSkipped(file: string): boolean {
  const reason = skipFileWithout(readFileSync(join(root, file), "utf8"));
  if (reason !== false) {
    console.log(`skipped ${file}: ${reason}`);
  }
  return reason !== false;
}

/** A process a file. What failed in any of them is in `list` afterwards. */
async function runAtOnce(
  files: readonly string[],
  list: string,
  toArguments: (part: string) => readonly string[],
): Promise<boolean> {
  await compiled;
  process.env["SWATH_TEST_BUNDLES"] = await findBundles();
  const results: FileResult[] = [];
  const part = (file: string) => `${list}.${files.indexOf(file)}`;
  writeFileSync(list, "");
  const start = (file: string) => startNode([...toArguments(part(file)), file], "pipe");
  for await (const result of runFiles(files, start, () => isInterrupted)) {
    results.push(result);
    const { file, seconds, output } = result;
    console.log(`\n# ${file} (${seconds.toFixed(1)} s)\n${withoutCounts(output)}`);
    if (existsSync(part(file))) {
      appendFileSync(list, readFileSync(part(file)));
      rmSync(part(file));
    }
  }
  console.log(`\n${describeRun(results)}`);
  return results.every(({ passed }) => passed);
}

/** Programs that tests start are those of a deployment. */
async function findBundles(): Promise<string | undefined> {
  await ensureBundles();
  return bundleFolder();
}

async function run(args: readonly string[]): Promise<boolean> {
  const [status] = (await once(startNode(args, "inherit"), "exit")) as [number | null];
  return status === 0;
}

function startNode(args: readonly string[], output: "inherit" | "pipe"): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", output, output],
    env: { ...process.env, [TEST_RUN]: runId },
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
