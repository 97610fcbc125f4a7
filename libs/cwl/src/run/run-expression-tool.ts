import { CwlError } from "../errors.ts";
import { sortedJson } from "../expressions/evaluate.ts";
import { outputMismatch } from "../inputs/check-value.ts";
import { complete, localPath } from "../inputs/files.ts";
import { prepareInputs } from "../inputs/prepare.ts";
import type { ExpressionTool } from "../model/process.ts";
import type { FileOrDirectory, Value, ValueObject } from "../model/values.ts";
import { isObject, mapFiles } from "../model/values.ts";
import type { RunContext } from "./context.ts";
import { inputAccess } from "./context.ts";
import { listingInForce, makeEvaluator } from "./evaluators.ts";
import type { Requirements } from "./requirements.ts";
import { requestedResources, runtimeOf } from "./runtime.ts";
import { checkSupported } from "./supported.ts";

/** Runs an ExpressionTool: one expression from the inputs to the output object, no process. */
export async function runExpressionTool(
  tool: ExpressionTool,
  provided: ValueObject,
  outer: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  const requirements = outer.inside(tool);
  checkSupported(tool, requirements);
  context.emit({ type: "step-queued", step });
  context.progress.jobQueued();
  const leave = await context.fileLock.enter(false, context.signal);
  try {
    return await runPrepared(tool, provided, requirements, step, context);
  } finally {
    leave();
  }
}

async function runPrepared(
  tool: ExpressionTool,
  provided: ValueObject,
  requirements: Requirements,
  step: string,
  context: RunContext,
): Promise<ValueObject> {
  const evaluator = makeEvaluator(requirements, tool.version, context, step);
  const prepared = await prepareInputs(tool.inputs, provided, {
    evaluator,
    version: tool.version,
    loadListing: listingInForce(requirements),
    formats: context.formats,
    ...inputAccess(context, step),
    runtime: {},
  });
  const inputs = mapFiles(prepared, withPath) as ValueObject;
  context.emit({ type: "step-started", step, command: [], image: undefined, attempt: 1 });
  try {
    const resources = await requestedResources(requirements, evaluator, { inputs, self: null, runtime: {} });
    const result = await evaluator.evaluate(tool.expression, {
      inputs,
      self: null,
      runtime: runtimeOf(resources, "/", "/"),
    });
    if (!isObject(result) && tool.outputs.length > 0) {
      throw new CwlError(
        "process-failed",
        `${tool.name}: the expression must give an object with the outputs, but gave ${sortedJson(result)}`,
      );
    }
    const outputs: Record<string, Value> = {};
    for (const output of tool.outputs) {
      const provided = isObject(result) ? (result[output.name] ?? null) : null;
      const value = mapFiles(provided as Value, (item) => complete(context.gate.admit(item, "code"), { size: false }));
      const wrong = outputMismatch(value, output.type);
      if (wrong !== undefined && value === null) {
        // As with the reference runner: what needs the value says that it is not there.
        context.emit({ type: "step-log", step, text: `The output "${output.name}" is null: ${wrong.message}\n` });
      } else if (wrong !== undefined) {
        throw new CwlError(
          "process-failed",
          `${tool.name}: the output "${output.name}${wrong.path}" is wrong: ${wrong.message}`,
        );
      }
      outputs[output.name] = value;
    }
    context.emit({ type: "step-finished", step, exitCode: undefined, usage: undefined, outputs, reused: false });
    context.directories.hold(outputs);
    return outputs;
  } catch (error) {
    if (error instanceof CwlError) {
      error.step ??= step;
      context.emit({
        type: "step-failed",
        step,
        message: error.message,
        exitCode: undefined,
        logTail: undefined,
        code: error.code,
        retrying: false,
      });
    }
    throw error;
  }
}

function withPath(item: FileOrDirectory): FileOrDirectory {
  const path = localPath(item);
  return path === undefined ? item : { ...item, path };
}
