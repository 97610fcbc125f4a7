import type { RunEventBody } from "../events.ts";
import { asStrings } from "../load/maps.ts";
import { shortName } from "../load/uri.ts";
import type { Process } from "../model/process.ts";
import type { ValueObject } from "../model/values.ts";

const secretsClass = "http://commonwl.org/cwltool#Secrets";

/** Input values that a document's `cwltool:Secrets` names: they reach the tool, but not events, logs or messages. */
export class Secrets {
  private readonly values = new Set<string>();

  /** Remembers the values of a process's secret inputs, under whatever name they are passed on. */
  collect(process: Process, inputs: ValueObject): void {
    for (const item of [...process.requirements, ...process.hints]) {
      for (const name of item.class === secretsClass ? asStrings(item.fields["secrets"]) : []) {
        const value = inputs[shortName(name)];
        if (typeof value === "string" && value !== "") {
          this.values.add(value);
        }
      }
    }
  }

  mask(text: string): string {
    let result = text;
    for (const value of this.values) {
      result = result.replaceAll(value, "(secret)");
    }
    return result;
  }

  /** The event with every secret in its words replaced. */
  maskEvent(event: RunEventBody): RunEventBody {
    if (this.values.size === 0) {
      return event;
    }
    switch (event.type) {
      case "step-started":
        return { ...event, command: event.command.map((word) => this.mask(word)) };
      case "step-log":
        return { ...event, text: this.mask(event.text) };
      case "step-failed":
        return {
          ...event,
          message: this.mask(event.message),
          logTail: event.logTail === undefined ? undefined : this.mask(event.logTail),
        };
      case "run-failed":
        return { ...event, message: this.mask(event.message) };
      case "run-started":
      case "step-queued":
      case "step-finished":
      case "step-skipped":
      case "progress":
      case "run-finished":
        return event;
    }
  }
}
