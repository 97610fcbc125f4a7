import type { RunEvent } from "../../events.ts";
import type { Process } from "../../model/process.ts";
import type { ProgressOutput } from "../progress-view.ts";
import { ProgressView } from "../progress-view.ts";
import { RunTree } from "./run-tree.ts";
import { treeLines } from "./tree-lines.ts";

const MIN_REDRAW_MS = 100;
const TICK_MS = 1000;

/**
 * A workflow in a terminal: the tree of its steps, drawn anew in place. Lines of the log stand above it when `verbose` is
 * set, and warnings always; the last picture stays.
 */
export class LiveView {
  private readonly output: ProgressOutput & { readonly columns: number };
  private readonly tree: RunTree;
  private readonly log: ProgressView;
  private readonly options: { readonly verbose: boolean; readonly colored: boolean };
  private readonly timer: NodeJS.Timeout;
  private drawnLines = 0;
  private drawnAt = -Infinity;
  private above = "";
  /** Between the clock of this process and the events'. */
  private readonly now: () => number;

  constructor(
    output: ProgressOutput & { readonly columns: number },
    process: Process,
    options: { readonly verbose: boolean; readonly colored: boolean; readonly now?: () => number },
  ) {
    this.output = output;
    this.options = options;
    this.now = options.now ?? Date.now;
    this.tree = new RunTree(process);
    this.log = new ProgressView({ columns: undefined, write: (text) => (this.above += text) });
    this.timer = setInterval(() => this.draw(), TICK_MS);
    this.timer.unref();
  }

  show(event: RunEvent): void {
    this.tree.apply(event);
    if (event.type !== "progress" && (this.options.verbose || event.type === "run-started" || isNote(event))) {
      this.log.show(event);
    }
    if (event.type === "run-finished" || event.type === "run-failed") {
      clearInterval(this.timer);
      this.draw();
    } else if (performance.now() - this.drawnAt >= MIN_REDRAW_MS) {
      this.draw();
    }
  }

  private draw(): void {
    const { columns, rows = 24, write } = this.output;
    const lines = treeLines(this.tree, { columns, rows, now: this.now(), colored: this.options.colored });
    const up = this.drawnLines === 0 ? "" : `\u001b[${this.drawnLines}A`;
    // Each line ends with the removal of what stood behind it, the last with what stood below.
    const text = lines.map((line) => `${line}\u001b[K\n`).join("");
    write(`${up}\r${this.above.replaceAll("\n", "\u001b[K\n")}${text}\u001b[J`);
    this.above = "";
    this.drawnLines = lines.length;
    this.drawnAt = performance.now();
  }
}

/** What the engine itself has to say about a run. */
function isNote(event: RunEvent): boolean {
  return event.type === "step-log" && event.step === "";
}
