// What many jobs and many steps cost: ExpressionTools, which start no process, and a packed workflow of a thousand tools.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadDocument } from "../../libs/cwl/src/index.ts";
import type { BenchRow } from "../types.ts";
import { medianOf, row, time } from "./measure.ts";

const JOBS = 10_000;
const STEPS = 1000;

export async function largeRows(folder: string): Promise<BenchRow[]> {
  const { seconds, peakMiB } = scatterExpressions(folder);
  const packed = join(folder, "packed.cwl");
  writeFileSync(packed, packedWorkflow());
  return [
    row(`scatter of ${JOBS} ExpressionTools`, seconds, { aim: "≤ 6 s", note: "the whole process" }),
    { name: `cwl: peak memory of a scatter of ${JOBS} ExpressionTools`, value: peakMiB, unit: "MiB", aim: "≤ 200 MiB" },
    row(`loading a packed workflow of ${STEPS} steps`, await medianOf(5, () => time(() => loadDocument(packed))), {
      aim: "≤ 0.5 s",
      note: "median of 5",
    }),
  ];
}

function scatterExpressions(folder: string): { seconds: number; peakMiB: number } {
  const document = join(folder, "expressions.cwl");
  const inputs = join(folder, "expressions.json");
  const hook = join(folder, "usage.mjs");
  writeFileSync(
    document,
    `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {list: "int[]"}
outputs: {out: {type: "int[]", outputSource: add/out}}
steps:
  add:
    scatter: number
    in: {number: list}
    out: [out]
    run: {class: ExpressionTool, inputs: {number: int}, outputs: {out: int}, expression: "\${return {out: inputs.number + 1};}"}
`,
  );
  writeFileSync(inputs, JSON.stringify({ list: Array.from({ length: JOBS }, (_, number) => number) }));
  writeFileSync(
    hook,
    `process.on("exit", () => process._rawDebug(JSON.stringify({ seconds: process.uptime(), peakMiB: Math.round(process.resourceUsage().maxRSS / 1024) })));`,
  );
  const main = join(import.meta.dirname, "../../libs/cwl/main.ts");
  const command = [process.execPath, "--import", hook, main, "run", "--quiet", "--outdir", folder, document, inputs];
  const out = execFileSync("/bin/sh", ["-c", `"$@" 2>&1 >/dev/null | tail -1`, "sh", ...command], { encoding: "utf8" });
  return JSON.parse(out) as { seconds: number; peakMiB: number };
}

function packedWorkflow(): string {
  const numbers = Array.from({ length: STEPS }, (_, number) => number);
  const steps = numbers.map((number) => [
    `s${number}`,
    { in: { x: number === 0 ? "x" : `s${number - 1}/out` }, out: ["out"], run: `#t${number}` },
  ]);
  const main = {
    id: "main",
    class: "Workflow",
    inputs: { x: "string" },
    outputs: {},
    steps: Object.fromEntries(steps),
  };
  const tools = numbers.map((number) => ({
    id: `t${number}`,
    class: "CommandLineTool",
    baseCommand: ["echo", "-n"],
    inputs: [{ id: "x", type: "string", inputBinding: { position: 1 } }],
    outputs: [{ id: "out", type: "string", outputBinding: { glob: "out", outputEval: "$(self[0].contents)" } }],
    stdout: "out",
  }));
  return JSON.stringify({ cwlVersion: "v1.2", $graph: [main, ...tools] }, undefined, 2);
}
