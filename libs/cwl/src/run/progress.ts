import type { RunEventBody } from "../events.ts";

interface Node {
  readonly parent: Node | undefined;
  readonly children: Map<string, Node>;
  expected: number;
  /** Children that are done and forgotten. */
  finished: number;
  done: boolean;
}

/** Percent done over nested workflows and scatters: what stands side by side weighs the same. */
export class ProgressMeter {
  private readonly emit: (event: RunEventBody) => void;
  private readonly root: Node = newNode(undefined);
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
    // What was below counts through this node from now on, and this node through a number: a scatter may be long.
    node.children.clear();
    if (node.parent !== undefined) {
      node.parent.finished += 1;
      node.parent.children.delete(partsOf(path).at(-1) ?? "");
    }
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
    for (const part of partsOf(path)) {
      let child = node.children.get(part);
      if (child === undefined) {
        child = newNode(node);
        node.children.set(part, child);
      }
      node = child;
    }
    return node;
  }
}

/** A scattered job is a part of its step: `crop/warp[3]` is the 3 in the warp in the crop. */
function partsOf(path: string): string[] {
  return path === "" ? [] : path.replaceAll(/\[(\d+)\]/g, "/$1").split("/");
}

function newNode(parent: Node | undefined): Node {
  return { parent, children: new Map(), expected: 0, finished: 0, done: false };
}

function share(node: Node): number {
  if (node.done) {
    return 1;
  }
  let sum = node.finished;
  for (const child of node.children.values()) {
    sum += share(child);
  }
  return sum / Math.max(node.expected, node.finished + node.children.size, 1);
}
