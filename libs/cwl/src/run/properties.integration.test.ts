// Properties over workflows made at random (from fixed seeds): the order in which jobs run never changes results, packing
// changes nothing, and neither does a helper that dies.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createProcessExecutor } from "../executors/process.ts";
import type { Executor } from "../executors/executor.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue, Value, ValueObject } from "../model/values.ts";
import { isFile, mapFiles, toJson } from "../model/values.ts";
import { packDocument } from "../pack/pack.ts";
import { runProcess } from "./run-process.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-properties-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A workflow of ten steps, each reading files of earlier ones: plain, scattered, skipped, or a workflow itself. */
function randomWorkflow(random: () => number): string {
  const steps: string[] = [];
  const outputs: string[] = [];
  const join_ = `class: CommandLineTool
      baseCommand: [sh, -c, 'echo "$0" > out; cat "$@" >> out']
      inputs:
        name: {type: string, inputBinding: {position: 1}}
        files: {type: "File[]", inputBinding: {position: 2}}
      outputs: {out: {type: File, outputBinding: {glob: out}}}`;
  const kinds = ["plain", "plain", "scatter", "nested", "when"] as const;
  const all: (typeof kinds)[number][] = [];
  for (let number = 0; number < 10; number += 1) {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? "plain";
    const before = all.flatMap((_, index) => (random() < 0.4 ? [`s${index}/out`] : []));
    const files = `{source: [${before.join(", ")}], linkMerge: merge_flattened, pickValue: all_non_null}`;
    const inner = `
      class: Workflow
      inputs: {name: string, files: "File[]"}
      outputs: {out: {type: File, outputSource: b/out}}
      steps:
        a: {in: {name: name, files: files}, out: [out], run: TOOL}
        b: {in: {name: {default: b${number}}, files: {source: [a/out], linkMerge: merge_flattened}}, out: [out], run: TOOL}`;
    steps.push(`  s${number}:
    in:
      name: {default: ${kind === "scatter" ? `[x${number}, y${number}, z${number}]` : `n${number}`}}
      files: ${before.length === 0 ? "{default: []}" : files}
    out: [out]
    ${kind === "scatter" ? "scatter: name" : kind === "when" ? `when: $(inputs.name.length > ${random() < 0.5 ? 1 : 9})` : ""}
    run: ${kind === "nested" ? inner : "TOOL"}`);
    outputs.push(`  o${number}: {type: Any?, outputSource: s${number}/out}`);
    all.push(kind);
  }
  return `cwlVersion: v1.2
$graph:
- id: main
  class: Workflow
  requirements:
    ScatterFeatureRequirement: {}
    MultipleInputFeatureRequirement: {}
    SubworkflowFeatureRequirement: {}
    InlineJavascriptRequirement: {}
    StepInputExpressionRequirement: {}
  inputs: []
  outputs:
${outputs.join("\n").replaceAll(/^/gm, "  ")}
  steps:
${steps.join("\n").replaceAll(/^/gm, "  ")}
- id: join
  ${join_.replaceAll(/\n {4}/g, "\n")}
`.replaceAll("TOOL", "'#join'");
}

let counter = 0;

/** Outputs with the content of each file in the place of the file. */
async function resultOf(text: string, executor: Executor, cores: number): Promise<string> {
  counter += 1;
  const outputs = await runProcess({
    document: await loadDocument("https://example.org/random.cwl", { text }),
    inputs: {},
    outDir: join(scratch, `out-${counter}`),
    workDir: join(scratch, `work-${counter}`),
    executors: { host: executor },
    limits: { cores, ramMiB: 65_536 },
  });
  assert.deepEqual(readdirSync(join(scratch, `work-${counter}`)), []);
  const told = mapFiles(outputs as Value, (item) => ({
    class: "File",
    contents: isFile(item) ? contentOf(item) : "",
  })) as ValueObject;
  return toJson(Object.entries(told).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function contentOf(file: FileValue): string {
  return readFileSync(new URL(file.location ?? ""), "utf8");
}

/** Runs commands after a pause of its own liking, so that they end in any order. */
function shuffled(executor: Executor, random: () => number): Executor {
  return {
    ...executor,
    run: async (job, controls) => {
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
      const result = await executor.run(job, controls);
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
      return result;
    },
  };
}

for (const seed of [1, 2, 3]) {
  test(`scheduling and packing never change results (seed ${seed})`, async () => {
    const random = randomFrom(seed);
    const text = randomWorkflow(random);
    const executor = createProcessExecutor();
    const expected = await resultOf(text, executor, 1);
    assert.match(expected, /n0|x0/);
    assert.equal(await resultOf(text, shuffled(executor, random), 8), expected);
    assert.equal(await resultOf(text, shuffled(executor, random), 3), expected);
    const document = await loadDocument("https://example.org/random.cwl", { text });
    assert.equal(await resultOf(toJson(await packDocument(document)), executor, 4), expected);
  });
}

test("a helper that is killed costs attempts, not results", async () => {
  const text = `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: []
outputs: {out: {type: "File[]", outputSource: echo/out}}
steps:
  echo:
    scatter: text
    in: {text: {default: [${Array.from({ length: 80 }, (_, number) => `t${number}`).join(", ")}]}}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: [sh, -c, 'sleep 0.02; echo $0']
      inputs: {text: {type: string, inputBinding: {}}}
      outputs: {out: stdout}
`;
  const real = createProcessExecutor();
  let killed = 0;
  const executor: Executor = {
    ...real,
    run: async (job, controls) => {
      if (killed < 2) {
        for (const pid of helpers()) {
          process.kill(pid, "SIGKILL");
          killed += 1;
        }
      }
      return await real.run(job, controls);
    },
  };
  const expected = await resultOf(text, createProcessExecutor(), 4);
  assert.equal(await resultOf(text, executor, 4), expected);
  assert.ok(killed > 0, "there was a helper to kill");
  for (let waited = 0; helpers().length > 0; waited += 10) {
    assert.ok(waited < 5000, "no helper outlives the run");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

/** Helper processes of this process. */
function helpers(): number[] {
  return readdirSync("/proc").flatMap((name): number[] => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const isHelper = readFileSync(`/proc/${name}/cmdline`, "latin1").includes("helper-main.ts");
      return state !== "Z" && Number(parent) === process.pid && isHelper ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
