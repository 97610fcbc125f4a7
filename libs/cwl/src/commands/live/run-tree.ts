import type { RunEvent } from "../../events.ts";
import type { Process } from "../../model/process.ts";

/** `stopped` is what was cancelled, and what was running or had jobs to go when the run ended. */
export type StepState = "waiting" | "running" | "stopped" | "done" | "failed" | "skipped";

/** One step of the document, with all its scattered jobs, also those of scatters around it. */
export interface StepNode {
  readonly name: string;
  readonly parent: StepNode | undefined;
  readonly children: Map<string, StepNode>;
  /** Jobs that scatters of this step have announced. */
  scattered: number;
  running: number;
  finished: number;
  skipped: number;
  failed: number;
  reused: number;
  cancelled: number;
  /** In milliseconds of the event's clock. */
  startedAt: number | undefined;
  endedAt: number | undefined;
  /** Of the first job that failed. */
  failure: { readonly step: string; readonly message: string; readonly logTail: string } | undefined;
}

/** What is known of a run, by step of the document. */
export class RunTree {
  readonly root: StepNode;
  percent = 0;
  jobsDone = 0;
  jobsKnown = 0;
  startedAt: number | undefined;
  /** When the run ended, whether well or not. */
  endedAt: number | undefined;
  /** A step has failed for good, so what is left to do is not known any more. */
  hasFailed = false;

  constructor(process: Process) {
    this.root = newNode(process.name, undefined);
    addSteps(this.root, process, new Set());
  }

  apply(event: RunEvent): void {
    const time = Date.parse(event.time);
    this.startedAt ??= time;
    if (event.type === "progress") {
      this.percent = event.percent;
      this.jobsDone = event.jobsDone;
      this.jobsKnown = event.jobsKnown;
      return;
    }
    if (event.type === "run-finished" || event.type === "run-failed") {
      this.endedAt = time;
      this.hasFailed ||= event.type === "run-failed";
      return;
    }
    if (!("step" in event) || event.step === undefined || event.step === "") {
      return;
    }
    const node = this.find(event.step);
    switch (event.type) {
      case "step-scattered":
        node.scattered += event.jobs;
        break;
      case "step-started":
        node.startedAt ??= time;
        node.running += event.attempt === 1 ? 1 : 0;
        break;
      case "step-finished":
        node.startedAt ??= time;
        // What the journal or the cache has was never started; a whole scatter counts as its jobs.
        node.finished += event.reused && node.scattered > 0 && !event.step.endsWith("]") ? node.scattered : 1;
        node.reused += event.reused ? 1 : 0;
        node.running = Math.max(0, node.running - 1);
        node.endedAt = time;
        break;
      case "step-skipped":
        node.skipped += 1;
        node.endedAt = time;
        break;
      case "step-failed":
        if (event.code === "cancelled") {
          node.cancelled += 1;
          node.running = Math.max(0, node.running - 1);
          node.endedAt = time;
        } else if (!event.retrying) {
          this.hasFailed = true;
          node.failed += 1;
          node.running = Math.max(0, node.running - 1);
          node.endedAt = time;
          node.failure ??= { step: event.step, message: event.message, logTail: event.logTail ?? "" };
        }
        break;
      default:
        break;
    }
  }

  private find(path: string): StepNode {
    let node = this.root;
    for (const name of path.replaceAll(/\[\d+\]/g, "").split("/")) {
      let child = node.children.get(name);
      if (child === undefined) {
        child = newNode(name, node);
        node.children.set(name, child);
      }
      node = child;
    }
    return node;
  }
}

/** Jobs of a step as far as its scatters are known. */
export function expectedJobs(node: StepNode): number {
  return node.scattered > 0 ? node.scattered : node.parent === undefined ? 1 : expectedJobs(node.parent);
}

export function endedJobs(node: StepNode): number {
  return node.finished + node.skipped + node.failed;
}

export function stateOf(node: StepNode, hasEnded: boolean): StepState {
  if (node.children.size > 0 && endedJobs(node) === 0) {
    return joinStates(
      [...node.children.values()].map((child) => stateOf(child, hasEnded)),
      hasEnded,
    );
  }
  if (node.failed > 0) {
    return "failed";
  }
  if (endedJobs(node) >= expectedJobs(node)) {
    return node.finished === 0 ? "skipped" : "done";
  }
  if (node.running === 0 && node.cancelled > 0) {
    return "stopped";
  }
  return node.running === 0 && endedJobs(node) === 0 ? "waiting" : hasEnded ? "stopped" : "running";
}

function joinStates(states: readonly StepState[], hasEnded: boolean): StepState {
  const first = states[0] ?? "waiting";
  return states.includes("failed")
    ? "failed"
    : states.every((state) => state === first)
      ? first
      : states.every((state) => state === "done" || state === "skipped")
        ? "done"
        : hasEnded
          ? "stopped"
          : "running";
}

function newNode(name: string, parent: StepNode | undefined): StepNode {
  const counts = { scattered: 0, running: 0, finished: 0, skipped: 0, failed: 0, reused: 0, cancelled: 0 };
  return { name, parent, children: new Map(), ...counts, startedAt: undefined, endedAt: undefined, failure: undefined };
}

function addSteps(node: StepNode, process: Process, around: ReadonlySet<Process>): void {
  if (process.class !== "Workflow" || around.has(process)) {
    return;
  }
  for (const step of process.steps) {
    const child = newNode(step.name, node);
    node.children.set(step.name, child);
    addSteps(child, step.run, new Set([...around, process]));
  }
}
