import type { RunEvent } from "../events.ts";
import { shellQuote } from "../tool/command-line.ts";
import { printable } from "./printable.ts";

export interface ProgressOutput {
  /** Writes to where people look. */
  readonly write: (text: string) => void;
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
  /** Its height. */
  readonly rows?: number | undefined;
}

/**
 * What people see of a run: a line for everything that happens and, on a terminal, a last line with the percentage
 * done and what is running, written anew each time.
 */
export class ProgressView {
  private readonly output: ProgressOutput;
  /** When each step that runs began, in milliseconds. */
  private readonly running = new Map<string, number>();
  private percent = 0;
  private jobs = "";
  private hasStatus = false;

  constructor(output: ProgressOutput) {
    this.output = output;
  }

  show(event: RunEvent): void {
    const name = "step" in event && event.step !== undefined && event.step !== "" ? event.step : "run";
    switch (event.type) {
      case "run-started":
        for (const warning of event.warnings) {
          this.line(`warning: ${warning.message}`);
        }
        if (event.resumed) {
          this.line("going on from an earlier attempt");
        }
        break;
      case "step-started":
        this.running.set(name, performance.now());
        if (event.command.length > 0) {
          this.line(`[${name}] ${printable(event.command.map(shellQuote).join(" "))}`);
        }
        break;
      case "step-log":
        this.line(printable(event.text.trimEnd()).replace(/^/gm, `[${name}] `));
        break;
      case "step-finished": {
        this.running.delete(name);
        const seconds = event.usage?.wallSeconds.toFixed(2);
        this.line(`[${name}] done${event.reused ? " (reused)" : seconds === undefined ? "" : ` in ${seconds} s`}`);
        break;
      }
      case "step-failed":
        this.running.delete(name);
        this.line(
          `[${name}] ${event.retrying ? `${printable(event.message)}; trying again` : event.code === "cancelled" ? "cancelled" : "failed"}`,
        );
        break;
      case "step-skipped":
        this.line(`[${name}] skipped`);
        break;
      case "progress":
        this.jobs = `${event.jobsDone} of ${event.jobsKnown} jobs`;
        if (this.output.columns === undefined && event.percent > this.percent) {
          this.line(`${event.percent} %`);
        }
        this.percent = event.percent;
        break;
      case "step-queued":
      case "step-scattered":
      case "run-finished":
      case "run-failed":
        break;
    }
    if (event.type === "run-finished" || event.type === "run-failed") {
      this.clear();
    } else {
      this.status();
    }
  }

  private line(text: string): void {
    this.clear();
    this.output.write(`${text}\n`);
  }

  private status(): void {
    const { columns } = this.output;
    if (columns === undefined) {
      return;
    }
    const filled = Math.round(this.percent / 5);
    const bar = `${"█".repeat(filled)}${"░".repeat(20 - filled)}`;
    const text = `${bar} ${this.percent} %  ${this.jobs}  ${[...this.running.keys()].join(", ")}`;
    this.clear();
    this.output.write(text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2))}…`);
    this.hasStatus = true;
  }

  private clear(): void {
    if (this.hasStatus) {
      this.output.write("\r\u001b[2K");
      this.hasStatus = false;
    }
  }
}
