// What the reference runner adds to CWL: loops, overrides, and its other extensions, each in effect or refused by name.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { formatProblem } from "../errors.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue, ValueObject } from "../model/values.ts";
import { packDocument } from "../pack/pack.ts";
import { validateDocument } from "../validate/validate.ts";
import { loadInputs } from "./job-inputs.ts";
import type { RunOptions } from "./run-options.ts";
import { runProcess } from "./run-process.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-extensions-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
let counter = 0;

async function run(text: string, inputs: object, more: Partial<RunOptions> = {}): Promise<ValueObject> {
  const document = await loadDocument(`file://${scratch}/doc.cwl`, { text });
  counter += 1;
  return await runProcess({
    document,
    inputs: { ...inputs },
    outDir: join(scratch, `out-${counter}`),
    workDir: scratch,
    ...more,
  });
}

const contentOf = (value: unknown): string => readFileSync(new URL((value as FileValue).location ?? ""), "utf8");

test("the output of a skipped step is null, whatever type the workflow gives it", async () => {
  const text = `cwlVersion: v1.2
class: Workflow
requirements: {InlineJavascriptRequirement: {}}
inputs: []
outputs: {one: {type: string, outputSource: s/o}, picked: {type: string, outputSource: [s/o], pickValue: first_non_null}}
steps:
  s: {when: $(false), in: [], out: [o], run: {class: ExpressionTool, inputs: [], outputs: {o: string}, expression: "$({o: 'x'})"}}
`;
  assert.deepEqual(await run(text, {}), { one: null, picked: null });
});

const extension = (method: string, more = ""): string => `requirements:
      cwltool:Loop: {loopWhen: $(inputs.n < 5), loop: {n: o}, outputMethod: ${method}}${more}`;
const draft = (method: string): string =>
  `when: $(inputs.n < 5)\n    loop: {n: o}\n    outputMethod: ${method}_iteration${method === "all" ? "s" : ""}`;
const looping = (version: string, loop: string, type: string): string => `cwlVersion: ${version}
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: Workflow
requirements: {InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {n: int, step: {type: int, default: 2}}
outputs: {out: {type: "${type}", outputSource: s/o}}
steps:
  s:
    run: {class: ExpressionTool, inputs: {n: int, step: int}, outputs: {o: int}, expression: "\${return {o: inputs.n + inputs.step};}"}
    in: {n: n, step: step}
    out: [o]
    ${loop}
`;

for (const [version, loop] of [
  ["v1.2", extension],
  ["v1.3.0-dev1", draft],
] as const) {
  test(`a step loops as long as its condition holds (${version})`, async () => {
    assert.deepEqual(await run(looping(version, loop("last"), "int?"), { n: 0 }), { out: 6 });
    assert.deepEqual(await run(looping(version, loop("last"), "int?"), { n: 9 }), { out: null });
    assert.deepEqual(await run(looping(version, loop("all"), "int[]"), { n: 0 }), { out: [2, 4, 6] });
    assert.deepEqual(await run(looping(version, loop("all"), "int[]"), { n: 9 }), { out: [] });
  });
}

test("inputs of a loop are made by valueFrom and defaults, and files go from one iteration to the next", async () => {
  const text = `cwlVersion: v1.2
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: Workflow
requirements: {InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {file: File}
outputs: {out: {type: File?, outputSource: s/o}}
steps:
  s:
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'cat "$0"; echo "$1"']
      inputs: {file: {type: File, inputBinding: {position: 1}}, n: {type: int, inputBinding: {position: 2}}}
      outputs: {o: stdout, unused: {type: int?, outputBinding: {outputEval: "$(null)"}}}
    in: {file: file, n: {default: 1}}
    out: [o, unused]
    requirements:
      cwltool:Loop:
        loopWhen: $(inputs.n < 4)
        loop: {file: o, n: {loopSource: unused, default: 0, valueFrom: $(inputs.n + 1)}}
        outputMethod: last
`;
  writeFileSync(join(scratch, "start.txt"), "0\n");
  const inputs = { file: { class: "File", location: `file://${scratch}/start.txt` } };
  assert.equal(contentOf((await run(text, inputs))["out"]), "0\n1\n2\n3\n");
  assert.equal(contentOf((await run(text, inputs, { journal: join(scratch, "journal") }))["out"]), "0\n1\n2\n3\n");
  const packed = JSON.stringify(await packDocument(await loadDocument(`file://${scratch}/doc.cwl`, { text })));
  assert.equal(contentOf((await run(packed, inputs))["out"]), "0\n1\n2\n3\n");
});

test("loops that cannot be meant are refused by validation", async () => {
  const cases: readonly [string, RegExp][] = [
    [extension("last", "\n    scatter: n"), /loops and scatters/],
    [extension("last", "\n    when: $(true)"), /condition of the loop is loopWhen/],
    [extension("last").replace("requirements", "hints"), /has to be a requirement/],
    [extension("last").replace("loopWhen: $(inputs.n < 5), ", ""), /needs the field "loopWhen"/],
    [extension("none"), /cannot be "none"/],
  ];
  for (const [loop, message] of cases) {
    const { valid, problems } = await validateDocument(`file://${scratch}/doc.cwl`, {
      text: looping("v1.2", loop, "int?"),
    });
    assert.ok(!valid);
    assert.match(problems.map(formatProblem).join("\n"), message);
  }
});

test("a loop is a step's, and asks for what its inputs need", async () => {
  const onProcess = looping("v1.2", "", "int?").replace(
    "requirements: {",
    "requirements: {cwltool:Loop: {loopWhen: $(true), loop: {}, outputMethod: last}, ",
  );
  const { valid, problems } = await validateDocument(`file://${scratch}/doc.cwl`, { text: onProcess });
  assert.ok(!valid);
  assert.match(problems.map(formatProblem).join("\n"), /cwltool:Loop belongs to a step/);
  const bare = (text: string): string => text.replace(", StepInputExpressionRequirement: {}", "");
  const computed = looping(
    "v1.2",
    extension("last").replace("{n: o}", "{n: {loopSource: o, valueFrom: $(self)}}"),
    "int?",
  );
  await assert.rejects(run(bare(computed), { n: 0 }), /valueFrom in a step needs StepInputExpressionRequirement/);
  const merged = looping(
    "v1.2",
    extension("last").replace("{n: o}", "{n: {loopSource: [o, o], pickValue: first_non_null}}"),
    "int?",
  );
  await assert.rejects(run(merged, { n: 0 }), /more than one source needs MultipleInputFeatureRequirement/);
});

test("extensions are known by the reference runner's prefix without $namespaces", async () => {
  const text = `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: "true", inputs: [], outputs: [], requirements: {"cwltool:ShmSize": {shmSize: 128m}}}`;
  assert.deepEqual(await run(text, {}), {});
});

test("what cwl.output.json holds beside the declared outputs is given out too", async () => {
  const text = `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: [echo, '{"foo": 5, "bar": "b"}'], stdout: cwl.output.json, inputs: [], outputs: {bar: string}}`;
  assert.deepEqual(await run(text, {}), { foo: 5, bar: "b" });
});

test("overrides of the job object change a process or a step", async () => {
  const tool = `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: [sh, -c, 'echo $M'], inputs: [], outputs: {out: stdout},
    requirements: {EnvVarRequirement: {envDef: {M: own}}}}`;
  writeFileSync(join(scratch, "tool.cwl"), tool);
  writeFileSync(
    join(scratch, "wf.cwl"),
    `{cwlVersion: v1.2, class: Workflow, inputs: [], outputs: {a: {type: File, outputSource: a/out}, b: {type: File, outputSource: b/out}},
      steps: {a: {run: tool.cwl, in: [], out: [out]}, b: {run: tool.cwl, in: [], out: [out]}}}`,
  );
  const document = await loadDocument(join(scratch, "wf.cwl"));
  const result = async (overrides: object): Promise<string[]> => {
    counter += 1;
    writeFileSync(join(scratch, "job.json"), JSON.stringify({ "cwltool:overrides": overrides }));
    const inputs = await loadInputs(join(scratch, "job.json"), document);
    const outputs = await runProcess({ document, inputs, outDir: join(scratch, `out-${counter}`), workDir: scratch });
    return [contentOf(outputs["a"]), contentOf(outputs["b"])];
  };
  const set = (value: string): object => ({ requirements: { EnvVarRequirement: { envDef: { M: value } } } });
  assert.deepEqual(await result({ "tool.cwl": set("tool") }), ["tool\n", "tool\n"]);
  assert.deepEqual(await result({ "wf.cwl#b": set("step") }), ["own\n", "step\n"]);
  assert.deepEqual(await result({ "tool.cwl": set("tool"), "wf.cwl#a": set("step") }), ["step\n", "tool\n"]);
  await assert.rejects(result({ "tool.cwl": { requirements: { Nothing: {} } } }), /no requirement "Nothing"/);
  await assert.rejects(result({ "tool.cwl": 3 }), /must be an object with "requirements"/);
});

test("a tool with MPIRequirement is started by mpirun, on the host alone", async () => {
  const bin = join(scratch, "bin");
  writeFileSync(join(scratch, "mpirun"), '#!/bin/sh\necho "launched $*"\n');
  chmodSync(join(scratch, "mpirun"), 0o755);
  const text = `cwlVersion: v1.2
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: CommandLineTool
requirements: {cwltool:MPIRequirement: {processes: $(inputs.n)}}
baseCommand: solve
inputs: {n: int}
outputs: {out: stdout}
`;
  assert.equal(
    contentOf((await run(text, { n: 3 }, { path: `${scratch}:${bin}:/usr/bin:/bin` }))["out"]),
    "launched -n 3 solve\n",
  );
});

test("extensions that are not here are refused by name", async () => {
  const generator = `cwlVersion: v1.0\n$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: cwltool:ProcessGenerator\ninputs: []\noutputs: []\nrun: x.cwl\n`;
  const { problems } = await validateDocument(`file://${scratch}/doc.cwl`, { text: generator });
  assert.match(problems.map(formatProblem).join("\n"), /process generators .* are not supported/);
  const strange = `cwlVersion: v1.2\n$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: CommandLineTool\nrequirements: {cwltool:Strange: {}}\nbaseCommand: "true"\ninputs: []\noutputs: []\n`;
  await assert.rejects(run(strange, {}), /requires "http:\/\/commonwl\.org\/cwltool#Strange"/);
});
