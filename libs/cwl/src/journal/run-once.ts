import type { ValueObject } from "../model/values.ts";
import type { RunContext } from "../run/context.ts";
import type { Requirements } from "../run/requirements.ts";
import { JournalInvalidError } from "./journal-lost.ts";

/** A step, or one job of a scattered step, as the journal knows it. */
export interface Work {
  readonly path: string;
  readonly definition: object;
  readonly requirements: Requirements;
  readonly inputs: ValueObject;
}

export interface Outcome {
  readonly outputs: ValueObject;
  /** Resolves when the outputs outlive this process; undefined without a journal. */
  readonly durable: Promise<void> | undefined;
}

/** Does work unless the journal has it done, and writes down what it gave. Outputs are held once for the caller. */
export async function once(work: Work, context: RunContext, run: () => Promise<ValueObject>): Promise<Outcome> {
  const { journal, directories } = context;
  if (journal === undefined) {
    return { outputs: await run(), durable: undefined };
  }
  const { path, definition, requirements, inputs } = work;
  const key = journal.keys.keyOf(path, definition, requirements.all(), inputs);
  const known = journal.file.find(key);
  if (known !== undefined) {
    context.gate.grantAll(known);
    directories.hold(known);
    context.emit({
      type: "step-finished",
      step: path,
      exitCode: undefined,
      usage: undefined,
      outputs: known,
      reused: true,
    });
    return { outputs: known, durable: Promise.resolve() };
  }
  if ([...directories.jobsIn(inputs)].some((job) => journal.file.isRemoved(job))) {
    throw new JournalInvalidError(`${path} has to run again, but files that it reads were removed`);
  }
  const outputs = await run();
  return { outputs, durable: journal.file.record(key, outputs, directories.jobsIn(outputs)) };
}
