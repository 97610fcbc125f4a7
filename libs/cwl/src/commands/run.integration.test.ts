// The command line as people use it: flags, help, and what is said when something is wrong.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-command-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
const main = join(import.meta.dirname, "../../main.ts");

function cwl(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: scratch,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

const save = (name: string, text: string): string => {
  writeFileSync(join(scratch, name), text);
  return name;
};

const tool = save(
  "tool.cwl",
  `cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sh, -c, 'cat "$0"; echo "$MINE"; echo "\${SWATH_X:-none}"']
inputs: {file: {type: File, inputBinding: {}}, size: {type: int?, default: 3, label: How large}}
outputs: {out: stdout}
`,
);
const workflow = save(
  "wf.cwl",
  `cwlVersion: v1.2
class: Workflow
inputs: []
outputs: {a: {type: int, outputSource: a/o}, c: {type: int, outputSource: c/o}}
steps:
  a: {in: [], out: [o], run: &t {class: ExpressionTool, requirements: {InlineJavascriptRequirement: {}}, inputs: {n: {type: int, default: 1}}, outputs: {o: int}, expression: "$({o: inputs.n + 1})"}}
  b: {in: {n: a/o}, out: [o], run: *t}
  c: {in: {n: b/o}, out: [o], run: *t}
`,
);

test("help lists every option, and unknown ones are refused", () => {
  const { status, stdout } = cwl(["run", "--help"]);
  assert.equal(status, 0);
  // What people of the field type.
  const typed =
    "basedir parallel singularity apptainer udocker enable-pull disable-pull strict-memory-limit " +
    "strict-cpu-limit print-deps print-rdf make-template target single-step on-error preserve-environment " +
    "leave-tmpdir write-summary relax-path-checks timestamps no-color quiet verbose debug eval-timeout outdir tmpdir-prefix cachedir user-space-docker-cmd no-container podman overrides provenance";
  for (const flag of typed.split(" ").map((name) => `--${name}`)) {
    assert.match(stdout, new RegExp(`^ +${flag}\\b`, "m"));
  }
  assert.match(cwl(["validate", "--help"]).stdout, /^usage: validate/);
  assert.match(cwl(["test", "-h"]).stdout, /--junit-xml FILE/);
  assert.equal(cwl(["run", "--no-such-flag", tool]).status, 2);
  assert.match(cwl(["run", "--eval-timeout", "none", tool]).stderr, /--eval-timeout must be seconds above 0/);
});

test("flags that cannot be honoured say what to do instead", () => {
  const cases: readonly [string[], RegExp][] = [
    [["--singularity"], /singularity is not installed/],
    [["--udocker"], /udocker is not installed/],
    [["--print-rdf"], /graph --dot/],
  ];
  for (const [flags, message] of cases) {
    const { status, stderr } = cwl(["run", ...flags, tool, "--file", tool], { PATH: "/usr/bin" });
    assert.equal(status, 33);
    assert.match(stderr, message);
  }
});

test("udocker takes no file of logins, and says so before anything runs", () => {
  const { status, stderr } = cwl([
    "run",
    "--user-space-docker-cmd",
    "/bin/true",
    "--auth-file",
    tool,
    tool,
    "--file",
    tool,
  ]);
  assert.equal(status, 33);
  assert.match(stderr, /--auth-file: udocker keeps logins itself/);
});

test("paths are relative to basedir, variables are handed on by name, a summary is written", () => {
  mkdirSync(join(scratch, "data"));
  writeFileSync(join(scratch, "data", "in.txt"), "in\n");
  const flags = [
    "--basedir=data",
    "--outdir",
    "out",
    "--preserve-environment",
    "MINE",
    "--preserve-environment=SWATH_X",
  ];
  const { status, stdout, stderr } = cwl(
    ["run", "--quiet", "--write-summary", "summary.json", ...flags, tool, "--file", "in.txt"],
    { MINE: "mine", SWATH_X: "leaks" },
  );
  assert.equal(status, 0, stderr);
  const { out } = JSON.parse(stdout) as { out: { location: string } };
  assert.equal(readFileSync(new URL(out.location), "utf8"), "in\nmine\nnone\n");
  assert.equal(readFileSync(join(scratch, "summary.json"), "utf8"), stdout);
});

test("a template, the files of a document, one step, and some targets", () => {
  assert.match(
    cwl(["run", "--make-template", tool]).stdout,
    /"file": \{class: File, path: a\/path\}.*\n"size": 3 +# int\?; How large; default/,
  );
  assert.match(cwl(["run", "--print-deps", tool]).stdout, /tool\.cwl/);
  const outputs = (...args: string[]): unknown => JSON.parse(cwl(["run", "--quiet", ...args]).stdout);
  assert.deepEqual(outputs(workflow), { a: 2, c: 4 });
  assert.deepEqual(outputs("--target", "a", workflow), { a: 2 });
  assert.deepEqual(outputs("--target=c", workflow), { c: 4 });
  assert.deepEqual(outputs("--single-step", "b", workflow, "--n", "7"), { o: 8 });
  assert.match(cwl(["run", "--target", "x", workflow]).stderr, /has no "x"; it has a, c/);
});

test("an engine whose daemon does not answer counts as none, and a requirement says the way on", () => {
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "docker"), "#!/bin/sh\nexit 1\n");
  chmodSync(join(bin, "docker"), 0o755);
  const text = (kind: string): string =>
    `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: echo, inputs: [], outputs: {out: stdout}, ${kind}: {DockerRequirement: {dockerPull: x}}}`;
  const env = { PATH: `${bin}` };
  const hint = cwl(["run", "--outdir=hint", save("hint.cwl", text("hints").replace("echo", "/bin/echo"))], env);
  assert.equal(hint.status, 0, hint.stderr);
  assert.match(hint.stderr, /its daemon does not answer/);
  const required = cwl(["run", "--outdir=required", save("required.cwl", text("requirements"))], env);
  assert.equal(required.status, 33);
  assert.match(required.stderr, /--engine.*--no-container/);
});

test("a missing output names its pattern, directory and line; scratch space is kept when asked", () => {
  save(
    "none.cwl",
    `cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: "true"\ninputs: []\noutputs:\n  out: {type: File, outputBinding: {glob: "*.tif"}}\n`,
  );
  const { status, stderr } = cwl(["run", "--tmpdir-prefix", "kept", "--leave-tmpdir", "none.cwl"]);
  assert.equal(status, 1);
  assert.match(stderr, /none\.cwl:6:\d+: .*nothing matches the glob of the output "out" \(\*\.tif in \/.*\)/);
  assert.ok(existsSync(join(scratch, "kept")));
});

test("outputs that are there are printed when a run fails, and steps that need nothing of what failed run on request", () => {
  const sh = (command: string): string =>
    `{class: CommandLineTool, baseCommand: [sh, -c, ${JSON.stringify(command)}], inputs: {x: Any?}, outputs: {out: stdout}}`;
  save(
    "fails.cwl",
    `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {list: {type: "int[]", default: [1, 2, 3]}}
outputs:
  good: {type: File, outputSource: good/out}
  bad: {type: File, outputSource: bad/out}
  late: {type: File, outputSource: late/out}
  after: {type: File, outputSource: after/out}
  many: {type: "File[]", outputSource: many/out}
steps:
  good: {run: ${sh("echo good")}, in: [], out: [out]}
  bad: {run: ${sh("exit 7")}, in: {x: good/out}, out: [out]}
  late: {run: ${sh("sleep 1; echo late")}, in: {x: good/out}, out: [out]}
  after: {run: ${sh("echo never")}, in: {x: bad/out}, out: [out]}
  many: {run: ${sh("echo $0 >&2; exit 8")}, scatter: x, in: {x: list, y: late/out}, out: [out]}
`,
  );
  const run = (...flags: string[]): { outputs: Record<string, { location: string } | null>; stderr: string } => {
    const { status, stdout, stderr } = cwl(["run", "--outdir=partial", ...flags, "fails.cwl"]);
    assert.equal(status, 1);
    return { outputs: JSON.parse(stdout) as Record<string, { location: string } | null>, stderr };
  };
  const stopped = run();
  assert.equal(readFileSync(new URL(stopped.outputs["good"]?.location ?? ""), "utf8"), "good\n");
  assert.deepEqual([stopped.outputs["bad"], stopped.outputs["late"], stopped.outputs["after"]], [null, null, null]);
  const { outputs, stderr } = run("--on-error", "continue");
  assert.equal(readFileSync(new URL(outputs["late"]?.location ?? ""), "utf8"), "late\n");
  assert.deepEqual([outputs["bad"], outputs["after"], outputs["many"]], [null, null, null]);
  for (const step of ["step bad: ", "step many[0]: ", "step many[1]: ", "step many[2]: "]) {
    assert.ok(stderr.includes(step), step);
  }
  assert.doesNotMatch(stderr, /step after/);
  assert.equal(cwl(["run", "--on-error", "never", "fails.cwl"]).status, 1);
});

test("what cannot be done is said before or instead of the run, never by a stack trace", () => {
  const input = save("there.txt", "there\n");
  const summary = cwl(["run", "--write-summary", "nowhere/summary.json", tool, "--file", input]);
  assert.equal(summary.status, 1);
  assert.match(summary.stderr, /^--write-summary: cannot write nowhere\/summary\.json: /);
  assert.equal(summary.stdout, "", "nothing was run");
  for (const [outdir, why] of [
    ["there.txt", /a file is in its way/],
    ["there.txt/below", /a file is in its way/],
    ["/proc/nowhere", /cannot|no such file/i],
  ] as const) {
    const refused = cwl(["run", "--outdir", outdir, tool, "--file", input]);
    assert.equal(refused.status, 1, refused.stderr);
    assert.match(refused.stderr, /^--outdir: nothing can be put into /);
    assert.match(refused.stderr, why);
  }
  const missing = cwl(["run", tool, "--file", "away.txt"]);
  assert.match(missing.stderr, /the file .*away\.txt cannot be read: there is no such file/);
  const target = cwl(["run", "--target", "d", workflow]);
  assert.match(target.stderr, /has no "d"; it has a, c, b$/m);
});

test("variables that are not handed on are said", () => {
  const input = save("given.txt", "given\n");
  const names = ["SWATH_X", "AWAY", "HOME"].flatMap((name) => ["--preserve-environment", name]);
  const { status, stderr } = cwl(["run", "--outdir", "environment", ...names, tool, "--file", input], { SWATH_X: "x" });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /--preserve-environment SWATH_X: variables of CWL_ and SWATH_ are not handed on/);
  assert.match(stderr, /--preserve-environment AWAY: it is not set here/);
  assert.match(stderr, /--preserve-environment HOME: tools have one of their own/);
});
