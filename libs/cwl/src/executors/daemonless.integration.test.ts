// Engines without a daemon. Singularity or Apptainer for real where one is installed; otherwise, and for udocker, programs that
// stand in for them and refuse a command line that the engine would not take.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
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
import { CwlError } from "../errors.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue } from "../model/values.ts";
import { runProcess } from "../run/run-process.ts";
import type { Executor } from "./executor.ts";
import { createSingularityExecutor } from "./singularity.ts";
import { createUdockerExecutor } from "./udocker.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-daemonless-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A program that writes down how it was called, answers what `answers` says, and refuses any other command. */
function standIn(name: string, responses: string): string {
  const path = join(scratch, name);
  writeFileSync(
    path,
    `#!/usr/bin/env node
const { appendFileSync, writeFileSync, existsSync } = require("node:fs");
const args = process.argv.slice(2);
appendFileSync(${JSON.stringify(`${path}.calls`)}, JSON.stringify({ args, env: process.env }) + "\\n");
const has = (...words) => words.every((word) => args.includes(word));
const value = (option) => (args.find((arg) => arg.startsWith(option + "=")) ?? "").slice(option.length + 1);
${responses}
console.error("refused: " + args.join(" "));
process.exit(2);
`,
  );
  chmodSync(path, 0o755);
  return path;
}

interface Call {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const callsOf = (command: string): Call[] =>
  readFileSync(`${command}.calls`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);

const env = { PATH: `${join(process.execPath, "..")}:${process.env["PATH"]}`, HOME: scratch };
const secret = `a "b" $(id) \`id\``;

const tool = (docker: string, more = ""): string => `cwlVersion: v1.2
class: CommandLineTool
requirements:
  DockerRequirement: {${docker}}
  EnvVarRequirement: {envDef: {WORD: ${JSON.stringify(secret.replace("$(", "\\$("))}}}
  ${more}
baseCommand: [sh, -c, 'echo "$WORD"; echo "$HOME $PWD"; cat "$0"; echo made > made; echo tmp > /tmp/x']
inputs: {file: {type: File, inputBinding: {}}}
outputs: {out: stdout, made: {type: "File?", outputBinding: {glob: made}}}
`;

async function run(text: string, container: Executor): Promise<{ out: string; made: FileValue | null }> {
  const file = join(scratch, "in, put.txt");
  writeFileSync(file, "in\n");
  const outputs = (await runProcess({
    document: await loadDocument(`file://${scratch}/tool.cwl`, { text }),
    inputs: { file: { class: "File", path: file } },
    executors: { container },
    outDir: mkdtempSync(join(scratch, "out-")),
  })) as { out: FileValue; made: FileValue | null };
  return { out: readFileSync(new URL(outputs.out.location ?? ""), "utf8"), made: outputs.made };
}

test("singularity is called with a contained file system, and variables off its command line", async () => {
  const command = standIn(
    "singularity",
    `if (has("pull", "--force") && args.at(-1) === "docker://example.org/tools/crop:1") { writeFileSync(args.at(-2), "image"); process.exit(0); }
if (has("exec", "--contain", "--cleanenv", "--pid", "--no-eval", "--net", "--network=none") && value("--home").endsWith(":/var/spool/cwl") &&
  value("--pwd") === "/var/spool/cwl" && args.some((arg) => /^--mount=type=bind,"source=.*in, put\\.txt","destination=\\/.*in, put\\.txt",ro$/.test(arg)) &&
  args.some((arg) => /^--mount=type=bind,source=[^,]+,destination=\\/tmp$/.test(arg)) && existsSync(args.find((arg) => arg.endsWith(".sif")))) {
  console.log(args.slice(args.findIndex((arg) => arg.endsWith(".sif")) + 1, -1).join(" ").slice(0, 5)); process.exit(0); }`,
  );
  const imageDir = join(scratch, "images");
  const container = createSingularityExecutor({ command, env, imageDir });
  assert.equal((await run(tool("dockerPull: example.org/tools/crop:1"), container)).out, "sh -c\n");
  assert.equal((await run(tool("dockerPull: example.org/tools/crop:1"), container)).out, "sh -c\n");
  const calls = callsOf(command);
  assert.deepEqual(
    calls.map(({ args }) => args.find((arg) => arg === "pull" || arg === "exec")),
    ["pull", "exec", "exec"],
  );
  assert.ok(existsSync(join(imageDir, "example.org_tools_crop:1.sif")));
  const last = calls.at(-1);
  assert.equal(last?.env["SINGULARITYENV_WORD"], secret);
  assert.ok(!last?.args.some((arg) => arg.includes(secret)));
});

test("singularity uses images that are there, and says what it cannot take", async () => {
  const command = standIn("apptainer", `if (has("exec")) { process.exit(0); }`);
  const imageDir = join(scratch, "given");
  mkdirSync(imageDir);
  writeFileSync(join(imageDir, "crop_1.sif"), "");
  const container = createSingularityExecutor({ command, env, imageDir, pull: false });
  await run(tool("dockerPull: example.org/tools/crop:1"), container);
  assert.ok(callsOf(command)[0]?.args.includes(join(imageDir, "crop_1.sif")));
  assert.equal(callsOf(command)[0]?.env["APPTAINERENV_WORD"], secret);
  writeFileSync(join(imageDir, "alpine:3.sif"), "");
  await run(tool("dockerPull: docker.io/library/alpine:3"), container);
  await assert.rejects(run(tool("dockerPull: other"), container), /pulling is switched off/);
  await assert.rejects(run(tool("dockerPull: ../../etc"), container), /pulling is switched off/);
  await assert.rejects(run(tool("dockerFile: FROM x"), container), /does not take dockerFile; use dockerPull/);
});

test("a login for the image's registry reaches the pull alone, and no command line", async () => {
  const command = standIn(
    "apptainer-with-login",
    `if (has("pull")) { writeFileSync(args.at(-2), "image"); } process.exit(0);`,
  );
  const authFile = join(scratch, "auth.json");
  const auth = Buffer.from("eric:pass-word").toString("base64");
  writeFileSync(authFile, JSON.stringify({ auths: { "example.org/tools": { auth } } }));
  const container = createSingularityExecutor({ command, env, imageDir: join(scratch, "with-login"), authFile });
  await run(tool("dockerPull: example.org/tools/crop:1"), container);
  await run(tool("dockerPull: example.com/open:1"), container);
  const calls = callsOf(command);
  assert.deepEqual(
    calls.map(({ args, env: seen }) => [
      args.find((arg) => arg === "pull" || arg === "exec"),
      seen["APPTAINER_DOCKER_USERNAME"],
      seen["APPTAINER_DOCKER_PASSWORD"],
    ]),
    [
      ["pull", "eric", "pass-word"],
      ["exec", undefined, undefined],
      ["pull", undefined, undefined],
      ["exec", undefined, undefined],
    ],
  );
  assert.ok(!JSON.stringify(calls.map(({ args }) => args)).includes("pass-word"));
});

test("udocker is asked for its image, and called with volumes", async () => {
  const command = standIn(
    "udocker",
    `if (has("inspect")) { process.exit(existsSync(${JSON.stringify(join(scratch, "pulled"))}) ? 0 : 1); }
if (has("pull", "crop:latest")) { writeFileSync(${JSON.stringify(join(scratch, "pulled"))}, ""); process.exit(0); }
if (has("run", "--rm", "crop:latest", "--workdir=/var/spool/cwl") && args.some((arg) => /^--volume=.*in, put\\.txt:\\/.*in, put\\.txt$/.test(arg))) { console.log(value("--env=WORD")); process.exit(0); }`,
  );
  const container = createUdockerExecutor({ command, env });
  assert.equal((await run(tool("dockerPull: crop"), container)).out, `${secret}\n`);
  await assert.rejects(run(tool("dockerLoad: x.tar"), container), (error) => error instanceof CwlError);
});

const real = ["apptainer", "singularity"].find((name) => spawnSync(name, ["--version"]).status === 0);
const needs =
  real === undefined
    ? "needs apptainer or singularity"
    : spawnSync("podman", ["image", "exists", "docker.io/library/bash:4.4"]).status === 0
      ? false
      : "needs podman with the image docker.io/library/bash:4.4";

test("a tool runs in a container of the installed engine", { skip: needs }, async () => {
  const command = execFileSync("which", [real ?? ""], { encoding: "utf8" }).trim();
  const archive = join(scratch, "bash.tar");
  execFileSync("podman", ["save", "--format", "docker-archive", "--output", archive, "docker.io/library/bash:4.4"], {
    stdio: "ignore",
  });
  const container = createSingularityExecutor({ command, env, imageDir: join(scratch, "real") });
  const { out, made } = await run(tool(`dockerLoad: "file://${archive}"`), container);
  assert.equal(out, `${secret}\n/var/spool/cwl /var/spool/cwl\nin\n`);
  assert.equal(readFileSync(new URL(made?.location ?? ""), "utf8"), "made\n");
  const stop = new AbortController();
  const stubborn = tool(`dockerLoad: "file://${archive}"`).replace(
    /baseCommand: .*/,
    `baseCommand: [sh, -c, "trap '' TERM; echo up >&2; while :; do sleep 1; done"]`,
  );
  const cancelled = runProcess({
    document: await loadDocument(`file://${scratch}/tool.cwl`, { text: stubborn }),
    inputs: { file: { class: "File", path: archive } },
    executors: { container },
    outDir: join(scratch, "cancelled"),
    signal: stop.signal,
    onEvent: ({ type }) => type === "step-log" && stop.abort(),
  });
  await assert.rejects(cancelled, /cancelled/);
  const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  assert.deepEqual(
    left.filter((line) => line.includes("trap '' TERM; echo up")),
    [],
  );
});
