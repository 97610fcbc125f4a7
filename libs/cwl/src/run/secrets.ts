import { CwlError } from "../errors.ts";
import type { RunEventBody } from "../events.ts";
import { asStrings } from "../load/maps.ts";
import { shortName } from "../load/uri.ts";
import type { Process } from "../model/process.ts";
import type { Value, ValueObject } from "../model/values.ts";
import { isObject } from "../model/values.ts";

const secretsClass = "http://commonwl.org/cwltool#Secrets";

/** What stands in the place of a secret. */
const mask = "(secret)";

/** Names of the inputs of a process that `cwltool:Secrets` calls secret. */
export function secretInputs(process: Process): string[] {
  return [...process.requirements, ...process.hints].flatMap((item) =>
    item.class === secretsClass ? asStrings(item.fields["secrets"]).map(shortName) : [],
  );
}

/**
 * Texts that reach the tool, but not events, logs or messages: the inputs that a document's `cwltool:Secrets` names,
 * and what the caller says.
 */
export class Secrets {
  private readonly values = new Set<string>();
  private pattern: RegExp | undefined;

  constructor(values: readonly string[] = []) {
    this.add(values);
  }

  /** Remembers the values of a process's secret inputs, under whatever name they are passed on. */
  collect(process: Process, inputs: ValueObject): void {
    for (const name of secretInputs(process)) {
      this.add(inputs[name] ?? null);
    }
  }

  mask(text: string): string {
    if (this.values.size === 0) {
      return text;
    }
    // The longest first: a secret that is part of a longer one must not spoil that one.
    this.pattern ??= new RegExp(
      [...this.values]
        .sort((a, b) => b.length - a.length)
        .map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
        .join("|"),
      "g",
    );
    return text.replaceAll(this.pattern, mask);
  }

  /** A function for the pieces of a log: a secret that is cut in two by them is masked as well. `""` ends the log. */
  maskPieces(): (piece: string) => string {
    let kept = "";
    return (piece) => {
      const text = this.mask(kept + piece);
      const cut = piece === "" ? text.length : text.length - this.beginningAtEnd(text);
      kept = text.slice(cut);
      return text.slice(0, cut);
    };
  }

  /** The error with every secret in its words replaced. */
  maskError(error: CwlError): CwlError {
    const { message, logTail, problems } = error;
    if (this.mask(`${message}\0${logTail ?? ""}`) === `${message}\0${logTail ?? ""}`) {
      return error;
    }
    // Without its cause: that says the same words again.
    const masked = new CwlError(
      error.code,
      problems.map((problem) => ({
        ...problem,
        message: this.mask(problem.message),
        ...(problem.hint === undefined ? {} : { hint: this.mask(problem.hint) }),
      })),
      {
        ...(error.exitCode === undefined ? {} : { exitCode: error.exitCode }),
        ...(logTail === undefined ? {} : { logTail: this.mask(logTail) }),
      },
    );
    masked.step = error.step;
    return masked;
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
      case "step-finished":
      case "run-finished":
        return { ...event, outputs: this.maskValue(event.outputs) as ValueObject } as RunEventBody;
      case "run-started":
      case "step-queued":
      case "step-scattered":
      case "step-skipped":
      case "progress":
        return event;
    }
  }

  /** Texts inside a value; files keep their places, whose bytes are the tool's business. */
  private maskValue(value: Value): Value {
    if (typeof value === "string") {
      return this.mask(value);
    }
    if (Array.isArray(value)) {
      return (value as readonly Value[]).map((item) => this.maskValue(item));
    }
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.maskValue((item ?? null) as Value)]))
      : value;
  }

  private add(value: Value): void {
    if (typeof value === "string") {
      // Also as it reads inside JSON, and line by line: tools rarely print a key of many lines in one piece.
      const lines = value.split("\n").filter((line) => line.length > 7);
      for (const text of [value, JSON.stringify(value).slice(1, -1), ...lines]) {
        if (text !== "" && !this.values.has(text)) {
          this.values.add(text);
          this.pattern = undefined;
        }
      }
    } else if (Array.isArray(value)) {
      for (const item of value as readonly Value[]) {
        this.add(item);
      }
    } else if (isObject(value)) {
      for (const item of Object.values(value)) {
        this.add((item ?? null) as Value);
      }
    }
  }

  /** How many characters at the end of a text may be the beginning of a secret. */
  private beginningAtEnd(text: string): number {
    let longest = 0;
    for (const value of this.values) {
      for (let length = Math.min(value.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(value.slice(0, length))) {
          longest = length;
        }
      }
    }
    return longest;
  }
}
