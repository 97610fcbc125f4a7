import { CwlError } from "../errors.ts";
import type { Loop, Step } from "../model/process.ts";
import type { Value, ValueObject } from "../model/values.ts";
import type { JobDirectories } from "../run/job-directories.ts";
import { mergeSources } from "./link-merge.ts";

/** What a step does with the inputs of one iteration. */
export interface StepJob {
  readonly goesOn: (inputs: ValueObject) => Promise<boolean>;
  readonly evaluate: (text: string, inputs: ValueObject, self: Value) => Promise<Value>;
  readonly run: (inputs: ValueObject, path: string) => Promise<ValueObject>;
}

/** A loop that never ends is a mistake; this many turns of one are more than anybody waits for. */
const MAX_ITERATIONS = 1_000_000;

/** Runs a step again and again, each time with what the time before gave, until its condition is false. */
export async function runLoop(
  step: Step,
  loop: Loop,
  first: ValueObject,
  path: string,
  job: StepJob,
  directories: Pick<JobDirectories, "hold" | "release">,
): Promise<ValueObject> {
  let inputs = first;
  let last: ValueObject = Object.fromEntries(step.outputs.map((name) => [name, null]));
  const all: ValueObject[] = [];
  for (let iteration = 0; await job.goesOn(inputs); iteration += 1) {
    if (iteration >= MAX_ITERATIONS) {
      throw new CwlError("limit", `${step.name}: its loop did not end after ${MAX_ITERATIONS} iterations`);
    }
    const made = await job.run(inputs, `${path}[${iteration}]`);
    if (loop.outputMethod === "all") {
      all.push(made);
    } else if (iteration > 0) {
      directories.release(last);
    }
    last = made;
    inputs = await nextInputs(loop, inputs, made, step, job);
  }
  return loop.outputMethod === "last"
    ? last
    : Object.fromEntries(step.outputs.map((name) => [name, all.map((made) => made[name] ?? null)]));
}

async function nextInputs(
  loop: Loop,
  inputs: ValueObject,
  made: ValueObject,
  step: Step,
  job: StepJob,
): Promise<ValueObject> {
  const next: Record<string, Value> = { ...(inputs as Record<string, Value>) };
  for (const input of loop.inputs) {
    const values = input.sources.map((source) => made[source] ?? null);
    const what = `the loop input "${input.name}" of step ${step.name}`;
    const merged = values.length === 0 ? null : mergeSources(values, { ...input, isList: input.sourceIsList, what });
    const value = merged ?? input.default ?? null;
    next[input.name] = input.valueFrom === undefined ? value : await job.evaluate(input.valueFrom, inputs, value);
  }
  return next;
}
