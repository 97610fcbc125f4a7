import type { RunEventBody } from "../events.ts";

interface Node {
  readonly children: Map<string, Node>;
  expected: number;
  done: boolean;
}

/** Percent done over nested workflows and scatters: what stands side by side weighs the same. */
export class ProgressMeter {
  private readonly emit: (event: RunEventBody) => void;
  private readonly root: Node = { children: new Map(), expected: 0, done: false };
  private jobsDone = 0;
  private jobsKnown = 0;
  private last = -1;

  constructor(emit: (event: RunEventBody) => void) {
    this.emit = emit;
  }

  /** Says that a step has so many parts. */
  expect(path: string, parts: number): void {
    this.node(path).expected = parts;
  }

  jobQueued(): void {
    this.jobsKnown += 1;
  }

  /** Marks a step (or one job of it) as done, run or skipped. */
  finish(path: string, job: boolean): void {
    const node = this.node(path);
    node.done = true;
    // What was below counts through this node from now on.
    node.children.clear();
    this.jobsDone += job ? 1 : 0;
    const percent = Math.max(this.last, Math.floor(share(this.root) * 100));
    if (job || percent > this.last) {
      this.last = percent;
      this.emit({
        type: "progress",
        percent,
        jobsDone: this.jobsDone,
        jobsKnown: Math.max(this.jobsKnown, this.jobsDone),
      });
    }
  }

  private node(path: string): Node {
    let node = this.root;
    for (const part of path === "" ? [] : path.split("/")) {
      let child = node.children.get(part);
      if (child === undefined) {
        child = { children: new Map(), expected: 0, done: false };
        node.children.set(part, child);
      }
      node = child;
    }
    return node;
  }
}

function share(node: Node): number {
  if (node.done) {
    return 1;
  }
  let sum = 0;
  for (const child of node.children.values()) {
    sum += share(child);
  }
  return sum / Math.max(node.expected, node.children.size, 1);
}
