// A conformance suite of our own with one test of each kind, run as people run suites.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const scratch = mkdtempSync(join(tmpdir(), "cwl-test-command-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
const main = join(import.meta.dirname, "../../main.ts");

mkdirSync(join(scratch, "tests"));
const expression = (body: string, outputs = "o: int"): string =>
  `{cwlVersion: v1.2, class: ExpressionTool, requirements: {InlineJavascriptRequirement: {}}, inputs: {n: {type: int, default: 1}}, outputs: {${outputs}}, expression: "${body}"}`;
const files: Readonly<Record<string, string>> = {
  "suite.yaml": `
- {id: passes, doc: "Adds  one", tool: tests/add.cwl, job: tests/job.yml, output: {o: 8, big: 9007199254740993}, tags: [required, expression]}
- {label: differs, doc: Adds one, tool: tests/add.cwl, output: {$import: tests/output.json}, tags: [expression]}
- $import: tests/more.yaml
`,
  "tests/more.yaml": `
- {short_name: should_fail, tool: throws.cwl, should_fail: true, tags: [
expression]}
- {id: unsupported, tool: operation.cwl, output: {}, tags: [operation]}
- {id: unsupported_required, tool: operation.cwl, output: {}}
- {id: bad, tool: throws.cwl, output: {o: 1}, doc: 'A "<name>" & more', tags: [expression]}
`,
  "tests/job.yml": "n: 7\n",
  "tests/output.json": '{"o": 3, "big": 9007199254740993}',
  "tests/add.cwl": `{cwlVersion: v1.2, class: Workflow, inputs: {n: {type: int, default: 1}, b: {type: long, default: 9007199254740993}}, outputs: {o: {type: int, outputSource: s/o}, big: {type: long, outputSource: b}}, steps: {s: {in: {n: n}, out: [o], run: ${expression("$({o: inputs.n + 1})")}}}}`,
  "tests/throws.cwl": expression("${throw new Error('mine');}"),
  "tests/operation.cwl": "{cwlVersion: v1.2, class: Operation, inputs: {}, outputs: {}}",
};
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(scratch, name), text);
}

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, "test", ...args], { cwd: scratch, encoding: "utf8" });
}

test("a suite is run, and each result is counted, explained and written down", () => {
  const flags = ["--junit-xml=junit.xml", "--badgedir=badges", "--json=results.json", "-j", "2"];
  const { status, stdout, stderr } = run(...flags, "suite.yaml");
  assert.equal(status, 1);
  assert.match(stdout, /^expression +2 of 4$/m);
  assert.match(stdout, /^2 tests passed, 3 failures, 1 unsupported features$/m);
  assert.match(stderr, /differs failed in .*\n +output\.o: expected 3, got 2/);
  assert.match(stderr, /bad failed in .*\n +exit status 1: .*mine/);
  assert.doesNotMatch(stderr, /passes/);
  const rows = JSON.parse(readFileSync(join(scratch, "results.json"), "utf8")) as { id: string; state: string }[];
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    [
      ["passes", "passed"],
      ["differs", "failed"],
      ["should_fail", "passed"],
      ["unsupported", "unsupported"],
      ["unsupported_required", "failed"],
      ["bad", "failed"],
    ],
  );
  const badge = JSON.parse(readFileSync(join(scratch, "badges/required.json"), "utf8")) as unknown;
  assert.deepEqual(badge, {
    schemaVersion: 1,
    label: "required",
    message: "50%",
    subject: "required",
    status: "50%",
    color: "red",
  });
  const xml = readFileSync(join(scratch, "junit.xml"), "utf8");
  assert.match(xml, /<testsuite name="suite\.yaml" tests="6" failures="3" errors="0" skipped="1"/);
  assert.match(xml, /<testcase name="bad: A &quot;&lt;name&gt;&quot; &amp; more"/);
});

test("tests are chosen by number, id and tag, and listed", () => {
  const ids = (...args: string[]): string[] =>
    [...run(...args, "--list", "suite.yaml").stdout.matchAll(/^\[\d+\] (\w+)/gm)].map(([, id = ""]) => id);
  assert.deepEqual(ids("-n", "1,3-4"), ["passes", "should_fail", "unsupported"]);
  assert.deepEqual(ids("-s", "bad", "-n", "2"), ["differs", "bad"]);
  assert.deepEqual(ids("--tags=expression", "-S", "bad", "-N1"), ["differs", "should_fail"]);
  assert.deepEqual(ids("--exclude-tags", "expression,required"), ["unsupported"]);
  assert.equal(run("--show-tags", "suite.yaml").stdout, "expression\noperation\nrequired\n");
  assert.match(run("-s", "nothing", "suite.yaml").stderr, /no test "nothing"; --list/);
  assert.match(run("-n", "5-9", "suite.yaml").stderr, /1-6/);
  const passed = run("-n1", "suite.yaml");
  assert.equal(passed.status, 0, passed.stderr);
  assert.match(passed.stdout, /^All tests passed$/m);
});

test("another runner is called as cwltest calls it, and one that does not end is ended", () => {
  const runner = join(scratch, "runner");
  writeFileSync(
    runner,
    `#!/bin/sh\nfor a; do :; done\necho "{\\"o\\": 8, \\"args\\": \\"$1 $3\\"}"; test "$1" != --slow || sleep 60\n`,
    { mode: 0o755 },
  );
  const { stderr } = run("-n1", "--tool", runner, "suite.yaml", "--", "--extra");
  assert.match(stderr, /output\.args: expected \w+, got "--extra --quiet"/);
  assert.match(
    run("-n1", "--timeout=1", "--tool", runner, "suite.yaml", "--", "--slow").stderr,
    /no result within 1 s/,
  );
});
