import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEventBody } from "../../events.ts";
import { loadDocument } from "../../load/load.ts";
import { LiveView } from "./live-view.ts";
import { RunTree } from "./run-tree.ts";
import { treeLines } from "./tree-lines.ts";

const tool = "{class: CommandLineTool, baseCommand: 'true', inputs: {x: Any?}, outputs: {out: stdout}}";
const text = `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {}}
inputs: {list: "int[]"}
outputs: {}
steps:
  fetch: {run: ${tool}, in: [], out: [out]}
  tiles: {run: ${tool}, scatter: x, in: {x: list, y: fetch/out}, out: [out]}
  mosaic:
    scatter: x
    in: {x: list}
    out: []
    run: {class: Workflow, inputs: {x: Any}, outputs: {}, steps: {warp: {run: ${tool}, in: {x: x}, out: []}, draw: {run: ${tool}, in: {x: x}, out: []}}}
`;
const document = await loadDocument("https://example.org/wf.cwl", { text });
const start = Date.parse("2026-01-01T00:00:00Z");

const started = (step: string): RunEventBody => ({
  type: "step-started",
  step,
  command: ["x"],
  image: undefined,
  attempt: 1,
});
const finished = (step: string): RunEventBody => ({
  type: "step-finished",
  step,
  exitCode: 0,
  usage: undefined,
  outputs: {},
  reused: false,
});
const failed = (step: string, logTail: string): RunEventBody => ({
  type: "step-failed",
  step,
  message: "exit code 3",
  exitCode: 3,
  logTail,
  retrying: false,
});

const events: readonly (readonly [second: number, event: RunEventBody])[] = [
  [
    0,
    {
      type: "run-started",
      process: "x",
      label: undefined,
      warnings: [{ severity: "warning", message: "old" }],
      resumed: false,
    },
  ],
  [0, started("fetch")],
  [2, finished("fetch")],
  [2, { type: "step-scattered", step: "tiles", jobs: 8 }],
  [2, started("tiles[0]")],
  [2, started("tiles[1]")],
  [4, finished("tiles[0]")],
  [4, finished("tiles[1]")],
  [4, { type: "step-scattered", step: "mosaic", jobs: 2 }],
  [4, started("mosaic[0]/warp")],
  [4, { type: "step-log", step: "mosaic[0]/warp", text: "from the tool\n" }],
  [5, finished("mosaic[0]/warp")],
  [5, { type: "progress", percent: 50, jobsDone: 4, jobsKnown: 8 }],
  [6, failed("mosaic[0]/draw", "one\ncannot open \u001b[2Jscene.tif\n")],
];

const eventAt = ([second, event]: (typeof events)[number], index: number): Parameters<RunTree["apply"]>[0] => ({
  sequence: index + 1,
  time: new Date(start + second * 1000).toISOString(),
  ...event,
});

function lines(count: number, second: number, rows = 24, columns = 100, all = events): string[] {
  const tree = new RunTree(document.process);
  all
    .slice(0, count)
    .map(eventAt)
    .forEach((event) => tree.apply(event));
  return treeLines(tree, { columns, rows, now: start + second * 1000, colored: false });
}

test("the tree shows states, bars for scatter with rate and time left, and the tail of what failed", () => {
  assert.deepEqual(lines(8, 4), [
    "✔ fetch  2 s",
    "▶ tiles  █████░░░░░░░░░░░░░░░ 2/8  1.0/s  6 s left",
    "· mosaic",
    "  · warp",
    "  · draw",
    "░░░░░░░░░░░░░░░░░░░░ 0 %  0 of 0 jobs  4 s",
  ]);
  assert.deepEqual(lines(14, 6).slice(2), [
    "✖ mosaic",
    "  ▶ warp  ██████████░░░░░░░░░░ 1/2  30.0/min",
    "  ✖ draw  ██████████░░░░░░░░░░ 1/2  1 failed",
    "    │ mosaic[0]/draw:",
    "    │ one",
    "    │ cannot open ·[2Jscene.tif",
    "██████████░░░░░░░░░░ 50 %  4 of 13 jobs  6 s",
  ]);
});

test("nothing is left of a run that fails, and what it stopped says so", () => {
  assert.match(lines(13, 5).at(-1) ?? "", /about 9 s left$/);
  const ending: typeof events = [
    ...events,
    [7, { ...failed("tiles[2]", ""), message: "the run was cancelled", code: "cancelled" } as RunEventBody],
    [8, { type: "run-failed", code: "process-failed", message: "", step: "mosaic[0]/draw" }],
  ];
  const shown = lines(ending.length, 60, 24, 100, ending);
  assert.ok(
    shown.every((line) => !line.includes("left")),
    shown.join("\n"),
  );
  assert.equal(shown[1], "■ tiles  █████░░░░░░░░░░░░░░░ 2/8  stopped  6 s");
  assert.equal(shown.at(-1), "██████████░░░░░░░░░░ 50 %  4 of 13 jobs  8 s");
});

test("it fits the terminal: what is done goes first, and lines are cut", () => {
  const few = lines(8, 4, 6);
  assert.ok(few.length <= 5);
  assert.ok(few.includes("· 3 more waiting") && few.some((line) => line.startsWith("▶ tiles")));
  assert.ok(lines(14, 6, 24, 20).every((line) => line.length < 20));
});

test("it is drawn in place, with the log above it only on request, and a tool cannot move the cursor", () => {
  const shown = (verbose: boolean): string => {
    let written = "";
    const output = { write: (piece: string) => (written += piece), columns: 80, rows: 24 };
    const view = new LiveView(output, document.process, { verbose, colored: true, now: () => start + 6000 });
    events.map(eventAt).forEach((event) => view.show(event));
    view.show({
      sequence: 99,
      time: new Date(start).toISOString(),
      type: "run-failed",
      code: "x",
      message: "",
      step: undefined,
    });
    return written;
  };
  const quiet = shown(false);
  assert.ok(quiet.includes("warning: old\u001b[K\n"));
  assert.ok(quiet.includes("\u001b[6A\r"));
  assert.ok(quiet.includes("\u001b[31m  ✖ draw"));
  assert.ok(!quiet.includes("from the tool") && !quiet.includes("\u001b[2J"));
  assert.match(shown(true), /\[mosaic\[0\]\/warp\] from the tool/);
});
