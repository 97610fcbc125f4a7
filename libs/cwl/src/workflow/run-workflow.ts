import { CwlError, messageOf } from "../errors.ts";
import { outputMismatch } from "../inputs/check-value.ts";
import { complete, loadContents, loadListing, localPath } from "../inputs/files.ts";
import { authorOf, prepareInputs } from "../inputs/prepare.ts";
import type { Source, Step, StepInput, Workflow, WorkflowOutput } from "../model/process.ts";
import type { FileOrDirectory, Value, ValueObject } from "../model/values.ts";
import { isDirectory, isFile, mapFiles, mapFilesAsync } from "../model/values.ts";
import type { RunContext } from "../run/context.ts";
import { fetchItem, inputAccess } from "../run/context.ts";
import { listingInForce, makeEvaluator } from "../run/evaluators.ts";
import type { Requirements } from "../run/requirements.ts";
import { checkSupported } from "../run/supported.ts";
import { UsedOutputs } from "./used-outputs.ts";
import { once } from "../journal/run-once.ts";
import { mergeSources } from "./link-merge.ts";
import { runLoop } from "./run-loop.ts";
import type { StepJob } from "./run-loop.ts";
import { gather, planScatter } from "./scatter.ts";

/** Runs a workflow: every step as soon as what it waits for is there. The first failure stops the rest. */
export async function runWorkflow(
  workflow: Workflow,
  provided: ValueObject,
  outer: Requirements,
  path: string,
  context: RunContext,
): Promise<ValueObject> {
  const requirements = outer.inside(workflow);
  checkSupported(workflow, requirements);
  const leave = await context.fileLock.enter(false, context.signal);
  const inputs = await prepareInputs(workflow.inputs, provided, {
    evaluator: makeEvaluator(requirements, workflow.version, context, path),
    version: workflow.version,
    loadListing: listingInForce(requirements),
    formats: context.formats,
    ...inputAccess(context, path),
    runtime: {},
  }).finally(leave);
  return await new WorkflowRun(workflow, inputs, requirements, path, context).run();
}

class WorkflowRun {
  private readonly workflow: Workflow;
  private readonly inputs: ValueObject;
  private readonly requirements: Requirements;
  private readonly path: string;
  private readonly context: RunContext;
  private readonly results = new Map<string, Promise<ValueObject>>();
  private readonly used: UsedOutputs;

  constructor(workflow: Workflow, inputs: ValueObject, requirements: Requirements, path: string, context: RunContext) {
    this.workflow = workflow;
    this.inputs = inputs;
    this.requirements = requirements;
    this.path = path;
    this.context = context;
    this.used = new UsedOutputs(workflow, context.directories);
  }

  async run(): Promise<ValueObject> {
    this.context.progress.expect(this.path, this.workflow.steps.length);
    for (const step of this.workflow.steps) {
      void this.start(step);
    }
    try {
      await settleAll([...this.results.values()]);
    } catch (error) {
      if (this.path === "") {
        this.context.partialOutputs = await this.partialOutputs();
      }
      throw error;
    }
    const outputs: Record<string, Value> = {};
    for (const output of this.workflow.outputs) {
      outputs[output.name] = await this.outputValue(output);
    }
    this.context.directories.hold(outputs);
    this.used.releaseAll();
    return outputs;
  }

  private async outputValue(output: WorkflowOutput): Promise<Value> {
    const values = await Promise.all(output.sources.map((source) => this.valueOf(source)));
    const value = mergeSources(values, {
      ...output,
      isList: output.sourceIsList,
      what: `the output "${output.name}"`,
    });
    const wrong = outputMismatch(value, output.type);
    if (wrong !== undefined && value === null) {
      // As with the reference runner: a step was skipped, or its expression gave nothing.
      const text = `The output "${output.name}" of ${this.workflow.name} is null: ${wrong.message}\n`;
      this.context.emit({ type: "step-log", step: this.path, text });
    } else if (wrong !== undefined) {
      throw new CwlError(
        "process-failed",
        `the output "${output.name}${wrong.path}" of ${this.workflow.name} is wrong: ${wrong.message}`,
      );
    }
    return value;
  }

  /** The outputs whose steps have finished; null for those that are not there. */
  private async partialOutputs(): Promise<ValueObject> {
    const outputs: Record<string, Value> = {};
    for (const output of this.workflow.outputs) {
      // Its failure is the reason why the run fails, or follows from that.
      outputs[output.name] = await this.outputValue(output).catch(() => null);
    }
    return outputs;
  }

  /** Starts a step once; it waits by itself for what it needs. */
  private start(step: Step): Promise<ValueObject> {
    let result = this.results.get(step.name);
    if (result === undefined) {
      result = this.runStep(step, this.path === "" ? step.name : `${this.path}/${step.name}`);
      // Whoever awaits it sees the failure; nobody may be there yet.
      result.catch(() => undefined);
      this.results.set(step.name, result);
    }
    return result;
  }

  private async valueOf(source: Source): Promise<Value> {
    if (source.step === undefined) {
      return this.inputs[source.port] ?? null;
    }
    const step = this.workflow.steps.find((item) => item.name === source.step);
    return step === undefined ? null : ((await this.start(step))[source.port] ?? null);
  }

  private async runStep(step: Step, path: string): Promise<ValueObject> {
    // Lets every step of the workflow be announced before the first one works.
    await Promise.resolve();
    const requirements = this.requirements.inside(step);
    checkFeatures(step, requirements);
    try {
      const merged: Record<string, Value> = {};
      for (const input of step.inputs) {
        merged[input.name] = await this.mergedSources(input, step);
      }
      this.context.signal.throwIfAborted();
      const { outputs, durable } = await once(
        { path, definition: step, requirements, inputs: merged },
        this.context,
        async () => {
          const inputs: Record<string, Value> = {};
          const leave = await this.context.fileLock.enter(false, this.context.signal);
          try {
            for (const input of step.inputs) {
              inputs[input.name] = await this.loadFiles(merged[input.name] ?? null, input);
            }
          } finally {
            leave();
          }
          return step.scatter.length === 0
            ? await this.runJob(step, inputs, requirements, path)
            : await this.runScattered(step, inputs, requirements, path);
        },
      );
      this.context.progress.finish(path, step.scatter.length === 0 && step.run.class !== "Workflow");
      this.used.stepFinished(step, outputs, durable);
      return outputs;
    } catch (error) {
      this.noteFailure(error, path);
      throw error;
    }
  }

  /** Value of a step input from its sources, default for null. */
  private async mergedSources(input: StepInput, step: Step): Promise<Value> {
    const values = await Promise.all(input.sources.map((source) => this.valueOf(source)));
    const what = `the input "${input.name}" of step ${step.name}`;
    const merged = values.length === 0 ? null : mergeSources(values, { ...input, isList: input.sourceIsList, what });
    return merged ?? mapFiles(input.default ?? null, (item) => this.context.gate.admit(item, authorOf(input.location)));
  }

  /** The same with remote files fetched, and contents and listings as the step asks for them. */
  private async loadFiles(value: Value, input: StepInput): Promise<Value> {
    return await mapFilesAsync(value, async (item) => {
      if (input.loadContents || input.loadListing !== undefined) {
        // It was checked when it was made, and a step may have updated it in place since.
        this.context.gate.admit(item, "code");
      }
      const here = isLocal(item) ? item : complete(await fetchItem(item, this.context, "code"), { size: true });
      if (isFile(here)) {
        return input.loadContents ? { ...here, contents: await loadContents(here, this.workflow.version) } : here;
      }
      return isDirectory(here) && input.loadListing !== undefined ? loadListing(here, input.loadListing) : here;
    });
  }

  private noteFailure(error: unknown, path: string): void {
    if (error instanceof CwlError) {
      error.step ??= path;
      this.context.failures.add(error);
    }
    if (!this.context.continueOnError) {
      this.context.stop();
    }
  }

  private async runScattered(
    step: Step,
    inputs: ValueObject,
    requirements: Requirements,
    path: string,
  ): Promise<ValueObject> {
    const plan = planScatter(inputs, step.scatter, step.scatterMethod, step.name);
    const results: (ValueObject | undefined)[] = Array.from({ length: plan.count });
    this.context.progress.expect(path, plan.count);
    this.context.emit({ type: "step-scattered", step: path, jobs: plan.count });
    let next = 0;
    let failed = false;
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      while (next < plan.count && !failed) {
        const index = next;
        next += 1;
        const jobPath = `${path}[${index}]`;
        try {
          const provided = plan.inputsOf(index);
          const { outputs } = await once(
            { path: jobPath, definition: step, requirements, inputs: provided },
            this.context,
            () => this.runJob(step, provided, requirements, jobPath),
          );
          results[index] = outputs;
        } catch (error) {
          this.noteFailure(error, jobPath);
          failed = !this.context.continueOnError;
          failures.push(error);
          continue;
        }
        this.context.progress.finish(jobPath, step.run.class !== "Workflow");
      }
    };
    await settleAll(Array.from({ length: Math.min(this.context.scatterWidth, plan.count) }, worker));
    throwFirst(failures);
    return Object.fromEntries(
      step.outputs.map((name) => [
        name,
        gather(
          results.map((result) => result?.[name] ?? null),
          plan.shape,
        ),
      ]),
    );
  }

  /** One job of a step: valueFrom, then once or as often as its loop says. */
  private async runJob(
    step: Step,
    before: ValueObject,
    requirements: Requirements,
    path: string,
  ): Promise<ValueObject> {
    const evaluator = makeEvaluator(requirements, this.workflow.version, this.context, path);
    const seen = mapFiles(before, withPath) as ValueObject;
    const inputs: Record<string, Value> = { ...(before as Record<string, Value>) };
    for (const input of step.inputs) {
      if (input.valueFrom !== undefined) {
        inputs[input.name] = await evaluator.evaluate(input.valueFrom, {
          inputs: seen,
          self: seen[input.name] ?? null,
          runtime: {},
        });
      }
    }
    const job: StepJob = {
      goesOn: async (current) => {
        const go = await evaluator.evaluate(step.when ?? "$(true)", {
          inputs: mapFiles(current, withPath) as ValueObject,
          self: null,
          runtime: {},
        });
        if (typeof go !== "boolean") {
          throw new CwlError("process-failed", `${step.name}: "when" must give true or false`);
        }
        return go;
      },
      evaluate: async (text, current, self) =>
        await evaluator.evaluate(text, {
          inputs: mapFiles(current, withPath) as ValueObject,
          self: mapFiles(self, withPath),
          runtime: {},
        }),
      run: (current, where) => this.runOnce(step, current, requirements, where),
    };
    if (step.loop !== undefined) {
      return await runLoop(step, step.loop, inputs, path, job, this.context.directories);
    }
    if (step.when !== undefined && !(await job.goesOn(inputs))) {
      this.context.emit({ type: "step-skipped", step: path });
      return Object.fromEntries(step.outputs.map((name) => [name, null]));
    }
    return await job.run(inputs, path);
  }

  /** Runs the process of a step and gives the outputs that the step passes on. */
  private async runOnce(
    step: Step,
    inputs: ValueObject,
    requirements: Requirements,
    path: string,
  ): Promise<ValueObject> {
    // Only what the process declares is passed on; the rest was for expressions.
    const passed = Object.fromEntries(
      step.run.inputs.flatMap((input) => (input.name in inputs ? [[input.name, inputs[input.name] ?? null]] : [])),
    );
    const made = await this.context.run(step.run, passed as ValueObject, requirements, path, this.context);
    const outputs = Object.fromEntries(step.outputs.map((name) => [name, made[name] ?? null]));
    // What the step does not pass on is nobody's any more.
    this.context.directories.hold(outputs);
    this.context.directories.release(made);
    return outputs;
  }
}

/** What a step needs may be asked for by any process around it, so only a run knows whether one does. */
function checkFeatures(step: Step, requirements: Requirements): void {
  const needs: readonly [boolean, string, string][] = [
    [
      [...step.inputs, ...(step.loop?.inputs ?? [])].some((input) => input.valueFrom !== undefined),
      "valueFrom in a step",
      "StepInputExpressionRequirement",
    ],
    [
      [...step.inputs, ...(step.loop?.inputs ?? [])].some((input) => input.sources.length > 1),
      "more than one source",
      "MultipleInputFeatureRequirement",
    ],
  ];
  for (const [isUsed, what, feature] of needs) {
    if (isUsed && !requirements.has(feature)) {
      throw new CwlError("invalid-document", [
        {
          severity: "error",
          message: `the step "${step.name}": ${what} needs ${feature}`,
          hint: `add "${feature}: {}" to the requirements of the workflow`,
          ...step.location,
        },
      ]);
    }
  }
}

function isLocal(item: FileOrDirectory): boolean {
  return item.location === undefined || item.location.startsWith("_:") || localPath(item) !== undefined;
}

function withPath(item: FileOrDirectory): FileOrDirectory {
  const path = localPath(item);
  return path === undefined || item.path !== undefined ? item : { ...item, path };
}

/** Waits for all, so that nothing runs on unseen, then throws the first failure that is not a mere cancellation. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(promises);
  throwFirst(outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : [])));
}

function throwFirst(failures: readonly unknown[]): void {
  const first = failures.find((error) => !isCancellation(error)) ?? failures[0];
  if (first !== undefined) {
    throw first instanceof Error ? first : new CwlError("process-failed", messageOf(first));
  }
}

function isCancellation(error: unknown): boolean {
  return error instanceof CwlError ? error.code === "cancelled" : error instanceof Error && error.name === "AbortError";
}
