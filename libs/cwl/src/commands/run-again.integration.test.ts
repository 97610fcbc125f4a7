// What people of the field trip over: a second run, options in the wrong order, a container that cannot be had.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-again-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
const main = join(import.meta.dirname, "../../main.ts");

function cwl(args: readonly string[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof spawnSync> & { stderr: string } {
  return spawnSync(process.execPath, [main, ...args], {
    cwd: scratch,
    encoding: "utf8",
    env: { ...process.env, ...env },
  }) as ReturnType<typeof cwl>;
}

const save = (name: string, text: string): string => {
  writeFileSync(join(scratch, name), text);
  return name;
};

test("outputs take the place of those of an earlier run, never of inputs or documents", () => {
  const tool = save(
    "copy.cwl",
    `cwlVersion: v1.2
class: CommandLineTool
baseCommand: [sh, -c, 'echo "$0" > out.txt; echo new > in.txt; echo new > copy.cwl']
inputs: {text: {type: string, inputBinding: {}}, file: File, many: "File[]"}
outputs: {out: {type: "File[]", outputBinding: {glob: "*.txt"}}, own: {type: File, outputBinding: {glob: copy.cwl}}, same: {type: File, outputBinding: {outputEval: $(inputs.file)}}}
`,
  );
  save("in.txt", "input");
  save("job.json", JSON.stringify({ many: [{ class: "File", path: "in.txt" }] }));
  for (const text of ["first", "second"]) {
    const { status, stdout, stderr } = cwl(["run", "--quiet", tool, "job.json", "--file", "in.txt", "--text", text]);
    assert.equal(status, 0, stderr);
    assert.equal(readFileSync(join(scratch, "out.txt"), "utf8"), `${text}\n`);
    const { same } = JSON.parse(String(stdout)) as { same: { basename: string } };
    assert.equal(same.basename, "in.txt");
  }
  assert.equal(readFileSync(join(scratch, "in.txt"), "utf8"), "input");
  assert.match(readFileSync(join(scratch, tool), "utf8"), /^cwlVersion/);
  assert.ok(!existsSync(join(scratch, "out_2.txt")));
  assert.deepEqual(
    readdirSync(scratch).filter((name) => /^(?:in|copy)_/.test(name)),
    ["copy_2.cwl", "in_2.txt"],
  );
});

test("options after the document and unknown ones are told how it goes", () => {
  const tool = save(
    "true.cwl",
    `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: "true", inputs: [], outputs: []}`,
  );
  assert.match(cwl(["run", tool, "--outdir", "x"]).stderr, /options of run stand before the document/);
  assert.match(cwl(["run", "--no-such-flag", tool]).stderr, /^unknown option --no-such-flag \(run --help lists/);
  const { stderr } = cwl(["run", "--leave-tmpdir", "--tmpdir-prefix", "kept", tool]);
  const [, location = ""] = /Scratch space is kept in (\S+)/.exec(stderr) ?? [];
  assert.ok(existsSync(location), stderr);
});

test("a required container is done without on request; an engine that was asked for and is away is said at once", () => {
  const tool = save(
    "contained.cwl",
    `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: /bin/true, inputs: [], outputs: [], requirements: {DockerRequirement: {dockerPull: localhost/x}}}`,
  );
  const refused = cwl(["run", "--no-container", tool]);
  assert.equal(refused.status, 33);
  assert.match(refused.stderr, /requires the container localhost\/x.*--engine none runs all tools/);
  const alone = cwl(["run", "--engine", "none", tool]);
  assert.equal(alone.status, 0, alone.stderr);
  assert.match(alone.stderr, /Running without the container localhost\/x: containers are switched off/);
  mkdirSync(join(scratch, "bin"));
  const fake = (name: string, script: string): string => {
    writeFileSync(join(scratch, "bin", name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(scratch, "bin", name), 0o755);
    return join(scratch, "bin", name);
  };
  const away = cwl(["run", "--engine", fake("docker", "exit 1"), tool]);
  assert.equal(away.status, 33);
  assert.match(away.stderr, /^\S+docker is installed, but its daemon does not answer; start it, or .*--no-container/);
  const missing = cwl(["run", "--engine", fake("podman", "exit 1"), "--disable-pull", tool]);
  assert.equal(missing.status, 33);
  assert.match(missing.stderr, /pulling is switched off/);
  assert.doesNotMatch(missing.stderr, /trying again/);
});

test("the files of a document are all that it runs, imports and names", () => {
  mkdirSync(join(scratch, "deps"));
  save("deps/type.yml", "{name: kind, type: enum, symbols: [a]}");
  save("deps/code.js", "var x = 1;");
  save(
    "deps/tool.cwl",
    `cwlVersion: v1.2
class: CommandLineTool
$schemas: [ontology.owl]
requirements: {SchemaDefRequirement: {types: [{$import: type.yml}]}, InlineJavascriptRequirement: {expressionLib: [{$include: code.js}]}}
baseCommand: "true"
inputs: {kind: "type.yml#kind", file: {type: File, default: {class: File, location: data/default.bin}}}
outputs: []
`,
  );
  save(
    "deps/wf.cwl",
    `{cwlVersion: v1.2, class: Workflow, inputs: [], outputs: [], steps: {s: {run: tool.cwl, in: {kind: {default: a}}, out: []}}}`,
  );
  const { stdout } = cwl(["run", "--print-deps", "deps/wf.cwl"]);
  const file = JSON.parse(String(stdout)) as { location: string; secondaryFiles: { location: string }[] };
  const folder = `file://${scratch}/deps/`;
  assert.equal(file.location, `${folder}wf.cwl`);
  assert.deepEqual(file.secondaryFiles.map(({ location }) => location.replace(folder, "")).toSorted(), [
    "code.js",
    "data/default.bin",
    "ontology.owl",
    "tool.cwl",
    "type.yml",
  ]);
});
