import assert from "node:assert/strict";
import { test } from "node:test";

import ELK from "elkjs";

import { readPlaces, toElk } from "../../web/processing/model/graph-layout.ts";
import { type StepRecord, describeState, toStepStates } from "../../web/processing/model/step-states.ts";
import { type WorkflowGraph, describeGraph, shorten } from "../../web/processing/model/workflow-graph.ts";

const node = (id: string, kind: "input" | "output" | "step", more: object = {}) => ({
  id,
  kind,
  label: id,
  type: "",
  scatter: [],
  conditional: false,
  ...more,
});
const edge = (from: string, to: string) => ({ from, to, fromPort: "a", toPort: "b" });
const graph: WorkflowGraph = {
  nodes: [
    node("in:scenes", "input"),
    node("crop", "step", { scatter: ["scene"] }),
    node("mosaic", "step", { type: "Workflow" }),
    node("mosaic/in:x", "input", { parent: "mosaic" }),
    node("mosaic/join", "step", { parent: "mosaic", conditional: true }),
    node("out:results", "output"),
  ],
  edges: [
    edge("in:scenes", "crop"),
    edge("crop", "mosaic"),
    edge("mosaic/in:x", "mosaic/join"),
    edge("mosaic", "out:results"),
    edge("gone", "crop"),
  ],
};

test("a workflow is laid out from top to bottom, subworkflows around what they hold", async () => {
  const places = readPlaces(await new ELK.default().layout(toElk(graph)));
  const placeOf = (id: string) => places.find((place) => place.id === id) ?? assert.fail(id);
  assert.equal(places.length, graph.nodes.length);
  assert.ok(placeOf("in:scenes").y < placeOf("crop").y);
  assert.ok(placeOf("crop").y < placeOf("mosaic").y);
  assert.ok(placeOf("mosaic").height > placeOf("mosaic/join").y + placeOf("mosaic/join").height);
});

test("a workflow is said in words", () => {
  assert.deepEqual(describeGraph(graph), [
    "crop; once for each of scene; from in:scenes, gone; to mosaic",
    "mosaic; from crop; to out:results",
    "mosaic/join; only if its condition holds; from mosaic/in:x",
  ]);
  assert.equal(shorten("x".repeat(60)).length, 34);
});

const record = (name: string, status: StepRecord["status"], more: Partial<StepRecord> = {}): StepRecord => ({
  name,
  status,
  started: "2026-01-01T00:00:00Z",
  finished: status === "running" ? null : "2026-01-01T00:00:05Z",
  ...more,
});

test("parts of a repeated step are counted together", () => {
  const used = { cpuSeconds: 1.5, peakMemoryBytes: 100, bytesIn: 10, bytesOut: 1 };
  const records = [
    record("crop[0]", "successful", used),
    record("crop[1]", "running", { ...used, peakMemoryBytes: 300 }),
  ];
  const states = toStepStates(graph, records, "running");
  assert.deepEqual(states.get("crop"), {
    status: "running",
    parts: 2,
    done: 1,
    started: "2026-01-01T00:00:00Z",
    usage: { cpuSeconds: 3, peakMemoryBytes: 300, bytesIn: 20, bytesOut: 2 },
  });
  assert.equal(describeState(states.get("crop") ?? assert.fail()), "running, 1 of 2 done");
  assert.equal(states.get("mosaic")?.status, "waiting");
});

test("a step inside a subworkflow tells for its parent; what did not run is not said to wait", () => {
  const states = toStepStates(
    graph,
    [record("crop[0]", "successful"), record("mosaic/join", "failed", { exitCode: 3, message: "no" })],
    "failed",
  );
  assert.equal(states.get("mosaic")?.status, "failed");
  assert.equal(states.get("mosaic/join")?.exitCode, 3);
  assert.equal(toStepStates(graph, [], "dismissed").get("crop")?.status, "stopped");
  assert.equal(toStepStates(graph, [record("crop", "running")], "dismissed").get("crop")?.status, "stopped");
  assert.equal(toStepStates(graph, [record("crop", "skipped")], "successful").get("crop")?.status, "skipped");
  const single: WorkflowGraph = { nodes: [node("tool", "step")], edges: [] };
  assert.equal(toStepStates(single, [record("(whole process)", "successful")], "successful").get("tool")?.done, 1);
});
