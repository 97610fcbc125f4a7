import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEventBody } from "../events.ts";
import { ProgressView } from "./progress-view.ts";

function shown(columns: number | undefined, events: readonly RunEventBody[]): string {
  let text = "";
  const view = new ProgressView({ write: (piece) => (text += piece), columns });
  for (const [index, event] of events.entries()) {
    view.show({ sequence: index + 1, time: "2026-01-01T00:00:00Z", ...event });
  }
  return text;
}

const events: readonly RunEventBody[] = [
  { type: "run-started", process: "x", label: undefined, warnings: [], resumed: false },
  { type: "step-started", step: "crop", command: ["crop", "scene"], image: undefined, attempt: 1 },
  { type: "step-log", step: "crop", text: "one\n\u001b[2Jtwo\n" },
  { type: "step-finished", step: "crop", exitCode: 0, usage: { wallSeconds: 1.234 }, outputs: {}, reused: false },
  { type: "progress", percent: 50, jobsDone: 1, jobsKnown: 2 },
  { type: "run-finished", outputs: {} },
];

test("without a terminal every event is a line, and a tool cannot write to the terminal's state", () => {
  assert.equal(
    shown(undefined, events),
    "[crop] crop scene\n[crop] one\n[crop] ·[2Jtwo\n[crop] done in 1.23 s\n50 %\n",
  );
});

test("on a terminal the last line shows how far the run is, and goes away at its end", () => {
  const text = shown(60, events);
  assert.match(text, /██████████░░░░░░░░░░ 50 % {2}1 of 2 jobs/);
  assert.ok(text.endsWith("\r\u001b[2K"));
});
