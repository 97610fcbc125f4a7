import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { loadConformanceTests } from "../conformance/load-tests.ts";
import type { ConformanceTest } from "../conformance/load-tests.ts";
import type { TestResult } from "../conformance/run-tests.ts";
import { runConformanceTests } from "../conformance/run-tests.ts";
import { selectTests } from "../conformance/select-tests.ts";
import { countByTag, junitXml, summaryLine, writeBadges } from "../conformance/summary.ts";
import { CwlError } from "../errors.ts";
import { toJson } from "../model/values.ts";
import type { CwlCommand, CommandIo } from "./command.ts";

const DEFAULT_TIMEOUT_SECONDS = 600;

/** Options, named as cwltest names them. */
const options = {
  list: { type: "boolean", short: "l", default: false },
  n: { type: "string", short: "n" },
  N: { type: "string", short: "N" },
  s: { type: "string", short: "s" },
  S: { type: "string", short: "S" },
  tags: { type: "string" },
  "exclude-tags": { type: "string" },
  "show-tags": { type: "boolean", default: false },
  tool: { type: "string" },
  jobs: { type: "string", short: "j" },
  timeout: { type: "string" },
  "junit-xml": { type: "string" },
  badgedir: { type: "string" },
  json: { type: "string" },
  verbose: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const help = `
  -l, --list            list the tests and run none
  --show-tags           list the tags and run nothing
  -n, -N NUMBERS        run these tests, or all but these: 1,3-6,9
  -s, -S IDS            the same by id
  --tags TAGS           run tests with one of these tags
  --exclude-tags TAGS   leave out tests with one of these tags
  --tool COMMAND        run them with another runner (default: this one)
  -j, --jobs N          tests at a time (default: one a processor)
  --timeout SECONDS     for one test (default: ${DEFAULT_TIMEOUT_SECONDS})
  --junit-xml FILE      write the results as JUnit XML
  --badgedir DIR        write a badge for each tag
  --json FILE           write the results as JSON
  --verbose             print a line for tests that pass too, and what failed tests wrote

What follows -- goes to the runner, as in: test conformance_tests.yaml -- --no-container`;

export const testCommand: CwlCommand = {
  name: "test",
  summary: "run the tests of a CWL conformance suite",
  usage:
    "test [-n NUMBERS] [-s IDS] [--tags TAGS] [--list] [--junit-xml FILE] … CONFORMANCE_TESTS.yaml [-- RUNNER OPTIONS]",
  help: () => `usage: ${testCommand.usage}\n${help}`,
  run,
};

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const split = args.indexOf("--");
  const own = split === -1 ? args : args.slice(0, split);
  const runnerArgs = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = parseArgs({ args: [...own], allowPositionals: true, options });
  const [file] = positionals;
  if (values.help || file === undefined || positionals.length > 1) {
    (values.help ? io.print : io.error)(`usage: ${testCommand.usage}\n${help}`);
    return values.help ? 0 : 2;
  }
  const tests = selectTests(loadConformanceTests(file), {
    numbers: values.n,
    excludedNumbers: values.N,
    ids: values.s,
    excludedIds: values.S,
    tags: values.tags,
    excludedTags: values["exclude-tags"],
  });
  if (values["show-tags"]) {
    io.print([...new Set(tests.flatMap(({ tags }) => tags))].toSorted().join("\n"));
    return 0;
  }
  if (values.list) {
    tests.forEach((test) => io.print(`[${test.number}] ${test.id}: ${test.doc} (${test.tags.join(", ")})`));
    return 0;
  }
  if (tests.length === 0) {
    throw new CwlError("invalid-inputs", "no test of the suite is chosen; --list shows its tests");
  }
  const runner =
    values.tool === undefined ? [process.execPath, join(import.meta.dirname, "../../main.ts"), "run"] : [values.tool];
  const results = await runConformanceTests(tests, {
    runner: [...runner, ...runnerArgs],
    jobs: positive(values.jobs, "--jobs") ?? availableParallelism(),
    timeoutSeconds: positive(values.timeout, "--timeout") ?? DEFAULT_TIMEOUT_SECONDS,
    env: io.env,
    signal: io.signal,
    onResult: (result) => report(result, tests, values.verbose, io),
  });
  if (io.signal.aborted) {
    throw new CwlError("cancelled", `cancelled after ${results.length} of ${tests.length} tests`);
  }
  for (const { tag, passed, total } of countByTag(results)) {
    io.print(`${`${tag}`.padEnd(28)} ${passed} of ${total}`);
  }
  io.print(summaryLine(results));
  if (values["junit-xml"] !== undefined) {
    writeFileSync(values["junit-xml"], junitXml(basename(file), results));
  }
  if (values.badgedir !== undefined) {
    writeBadges(values.badgedir, results);
  }
  if (values.json !== undefined) {
    const rows = results.map(({ test, state, reasons, exitCode, seconds }) => ({
      ...test,
      state,
      reasons,
      exitCode,
      seconds,
    }));
    writeFileSync(values.json, `${toJson(rows, 1)}\n`);
  }
  return results.some(({ state }) => state === "failed") ? 1 : 0;
}

function report(result: TestResult, tests: readonly ConformanceTest[], verbose: boolean, io: CommandIo): void {
  const { test, state, reasons, seconds, stdout, stderr } = result;
  if (state !== "passed" || verbose) {
    const what = `[${test.number}/${tests.at(-1)?.number ?? test.number}] ${test.id} ${state} in ${seconds.toFixed(2)} s`;
    io.error([what, ...reasons.map((reason) => `    ${reason.replaceAll("\n", "\n    ")}`)].join("\n"));
  }
  if (state === "failed" && verbose) {
    io.error(
      `    tool: ${test.tool}${test.job === undefined ? "" : `\n    job: ${test.job}`}\n${stdout}${stderr}`.trimEnd(),
    );
  }
}

function positive(text: string | undefined, name: string): number | undefined {
  const value = text === undefined ? undefined : Number(text);
  if (value !== undefined && !(value > 0)) {
    throw new CwlError("invalid-inputs", `${name} must be a number above 0, not ${JSON.stringify(text)}`);
  }
  return value;
}
