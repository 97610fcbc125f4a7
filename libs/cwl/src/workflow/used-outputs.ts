import type { Step, Workflow } from "../model/process.ts";
import type { ValueObject } from "../model/values.ts";
import type { JobDirectories } from "../run/job-directories.ts";

/** Knows which outputs of a workflow's steps are still needed, and lets go of the files of those that are not. */
export class UsedOutputs {
  private readonly directories: JobDirectories;
  /** Names of the steps that read the outputs of a step and have not finished. */
  private readonly readers = new Map<string, Set<string>>();
  /** Steps whose outputs the workflow gives out; they stay until it has ended. */
  private readonly lasting = new Set<string>();
  private readonly held = new Map<string, ValueObject>();

  constructor(workflow: Workflow, directories: JobDirectories) {
    this.directories = directories;
    for (const step of workflow.steps) {
      this.readers.set(step.name, new Set());
    }
    for (const step of workflow.steps) {
      for (const name of sourcesOf(step)) {
        this.readers.get(name)?.add(step.name);
      }
    }
    for (const source of workflow.outputs.flatMap((output) => output.sources)) {
      if (source.step !== undefined) {
        this.lasting.add(source.step);
      }
    }
  }

  /** Takes over the hold on a step's outputs. What it read may go when `durable` says that it need not run again. */
  stepFinished(step: Step, outputs: ValueObject, durable: Promise<void> | undefined): void {
    this.held.set(step.name, outputs);
    if (durable === undefined) {
      this.letGo(step);
    } else {
      void durable.then(() => this.letGo(step));
    }
  }

  /** Lets go of everything: the workflow has ended, and its outputs are held by themselves. */
  releaseAll(): void {
    for (const name of this.held.keys()) {
      this.release(name);
    }
  }

  private letGo(step: Step): void {
    for (const name of sourcesOf(step)) {
      this.readers.get(name)?.delete(step.name);
      this.releaseUnread(name);
    }
    this.releaseUnread(step.name);
  }

  private releaseUnread(name: string): void {
    if (this.readers.get(name)?.size === 0 && !this.lasting.has(name)) {
      this.release(name);
    }
  }

  private release(name: string): void {
    const outputs = this.held.get(name);
    if (outputs !== undefined) {
      this.held.delete(name);
      this.directories.release(outputs);
    }
  }
}

function sourcesOf(step: Step): Set<string> {
  return new Set(step.inputs.flatMap((input) => input.sources.flatMap((source) => source.step ?? [])));
}
