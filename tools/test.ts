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
import { globSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";

import { skipFileWithout } from "../libs/testing/src/system-programs.ts";
import { TEST_RUN, endTestProcesses } from "./end-test-processes.ts";
import { findFailedFiles, hasUncaughtError } from "./test-failures.ts";
import { prepareTestPrograms } from "./test-programs.ts";

/** Suites whose files are run again where few failed. Those on a cluster need a new one (`test-kubernetes.ts`). */
const RUN_AGAIN = ["integration", "conformance"];
/** Memory of a test file at its most: a whole platform, and a browser before it. */
const FILE_BYTES = 4 * 1024 ** 3;
const MAX_FILES_AT_ONCE = 4;
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
  integration: () =>
    tests("integration", (file) => file.endsWith(".integration.test.ts"), [
      `--test-concurrency=${countFilesAtOnce()}`,
      "--test-timeout=600000",
    ]),
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
const names = groups[what] ?? [what];
const ownFailures = process.env["SWATH_TEST_FAILURES"] === undefined;
/** Folder with a text of what failed for each suite: told at the end by who made it, `.ci/run` for its two runs. */
const failures = process.env["SWATH_TEST_FAILURES"] ?? mkdtempSync(join(tmpdir(), "swath-test-failures-"));
let failed = false;
let flaky = "";
const runId = randomUUID();
let child: ChildProcess | undefined;
let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    // A terminal sends its own to every process of the run.
    if (signal !== "SIGINT") {
      child?.kill(signal);
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
  const reporters = [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    ...(name === "unit" || only.length > 0
      ? []
      : [`--test-reporter=${join(import.meta.dirname, "test-times.ts")}`, "--test-reporter-destination=stdout"]),
    `--test-reporter=${join(import.meta.dirname, "test-failures.ts")}`,
    `--test-reporter-destination=${list}`,
  ];
  const passed = await run(["--test", ...reporters, ...options, ...files]);
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
  if (!(await run(["--test", ...reporters, ...options, "--test-concurrency=1", ...again]))) {
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

/** One more than there are processors, because a file waits for a third of its time, as far as there is memory for them. */
function countFilesAtOnce(): number {
  // Zero, or more than there is, where nothing limits this process.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const most = Math.min(availableParallelism() + 1, Math.floor(memory / FILE_BYTES), MAX_FILES_AT_ONCE);
  return Math.max(2, most);
}

async function run(args: readonly string[]): Promise<boolean> {
  child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, [TEST_RUN]: runId },
  });
  const [status] = (await once(child, "exit")) as [number | null];
  return status === 0;
}
