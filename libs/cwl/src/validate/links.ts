import type { Problem } from "../errors.ts";
import type {
  SourceLocation,
  Process,
  Requirement,
  Source,
  Step,
  Workflow,
  WorkflowOutput,
  StepInput,
} from "../model/process.ts";
import type { CwlType } from "../model/types.ts";
import { acceptsNull, formatType } from "../model/types.ts";
import { canAssign, withNull } from "./compatible.ts";

/** Checks every workflow in a process: links lead somewhere, types fit, nothing waits for itself. */
export function checkLinks(process: Process, problems: Problem[]): void {
  visit(process, new Set(), "", problems, new Set());
}

function visit(
  process: Process,
  inherited: ReadonlySet<string>,
  path: string,
  problems: Problem[],
  seen: Set<Process>,
): void {
  if (process.class !== "Workflow" || seen.has(process)) {
    return;
  }
  seen.add(process);
  const inForce = new Set([...inherited, ...names(process.requirements), ...names(process.hints)]);
  new WorkflowChecker(process, inForce, path, problems).check();
  for (const step of process.steps) {
    const forStep = new Set([...inForce, ...names(step.requirements), ...names(step.hints)]);
    visit(step.run, forStep, `${path}steps.${step.name}.run.`, problems, seen);
  }
}

function names(requirements: readonly Requirement[]): string[] {
  return requirements.map((requirement) => requirement.class);
}

class WorkflowChecker {
  private readonly workflow: Workflow;
  private readonly inForce: ReadonlySet<string>;
  private readonly path: string;
  private readonly problems: Problem[];
  private readonly steps: ReadonlyMap<string, Step>;

  constructor(workflow: Workflow, inForce: ReadonlySet<string>, path: string, problems: Problem[]) {
    this.workflow = workflow;
    this.inForce = inForce;
    this.path = path;
    this.problems = problems;
    this.steps = new Map(workflow.steps.map((step) => [step.name, step]));
  }

  check(): void {
    for (const step of this.workflow.steps) {
      this.checkStep(step);
    }
    for (const output of this.workflow.outputs) {
      const path = `outputs.${output.name}`;
      if (output.sources.length === 0) {
        if (!acceptsNull(output.type)) {
          this.report(
            output.location,
            path,
            `the output "${output.name}" has no outputSource`,
            "name the step output that it comes from",
          );
        }
        continue;
      }
      this.checkSink(output, output.type, path, `the output "${output.name}"`);
    }
    this.checkCycles();
  }

  private checkStep(step: Step): void {
    const path = `steps.${step.name}`;
    const inForce = new Set([...this.inForce, ...names(step.requirements), ...names(step.hints)]);
    const need = (feature: string, why: string, severity: Problem["severity"] = "error"): void => {
      if (!inForce.has(feature)) {
        this.report(
          step.location,
          path,
          `${why} needs ${feature}`,
          `add "${feature}: {}" to the requirements of the workflow`,
          severity,
        );
      }
    };
    if (step.run.class === "Workflow") {
      need("SubworkflowFeatureRequirement", "running a workflow as a step");
    }
    if (step.scatter.length > 0) {
      need("ScatterFeatureRequirement", "scatter");
    }
    const inputs = [...step.inputs, ...(step.loop?.inputs ?? [])];
    if (inputs.some((input) => input.valueFrom !== undefined)) {
      // A workflow around this one may ask for it; where none does, the run says so.
      need("StepInputExpressionRequirement", "valueFrom in a step", "warning");
    }
    if (inputs.some((input) => input.sources.length > 1)) {
      need("MultipleInputFeatureRequirement", "more than one source", "warning");
    }
    if (step.scatter.length > 1 && step.scatterMethod === undefined) {
      this.report(
        step.location,
        path,
        "scatter over several inputs needs a scatterMethod",
        "dotproduct, nested_crossproduct or flat_crossproduct",
      );
    }
    for (const name of step.scatter) {
      if (!step.inputs.some((input) => input.name === name)) {
        this.report(
          step.location,
          `${path}.scatter`,
          `scatter names "${name}", which is no input of the step`,
          listHint(step.inputs.map((i) => i.name)),
        );
      }
    }
    for (const name of step.outputs) {
      if (!step.run.outputs.some((output) => output.name === name)) {
        this.report(
          step.location,
          `${path}.out`,
          `"${name}" is no output of ${step.run.name}`,
          listHint(step.run.outputs.map((o) => o.name)),
        );
      }
    }
    this.checkStepInputs(step, path);
  }

  private checkStepInputs(step: Step, path: string): void {
    const provided = new Map(step.inputs.map((input) => [input.name, input]));
    for (const parameter of step.run.inputs) {
      const input = provided.get(parameter.name);
      if (input === undefined && parameter.default === undefined && !acceptsNull(parameter.type)) {
        this.report(
          step.location,
          `${path}.in`,
          `the input "${parameter.name}" of ${step.run.name} (${formatType(parameter.type)}) is not connected`,
          "give it a source, a default or a valueFrom",
        );
      }
    }
    for (const input of step.inputs) {
      const parameter = step.run.inputs.find((item) => item.name === input.name);
      const type: CwlType = parameter === undefined ? { kind: "Any" } : parameter.type;
      const requested =
        parameter === undefined || input.valueFrom !== undefined
          ? undefined
          : parameter.default === undefined && input.default === undefined
            ? type
            : withNull(type);
      const scattered = step.scatter.includes(input.name);
      const sink: CwlType | undefined =
        requested === undefined
          ? undefined
          : scattered
            ? { kind: "array", items: requested, binding: undefined }
            : requested;
      this.checkSink(input, sink, `${path}.in.${input.name}`, `the step input "${input.name}"`);
    }
  }

  /** Checks that sources exist and, when `wanted` is given, that their values can fit. */
  private checkSink(
    sink: StepInput | WorkflowOutput,
    requested: CwlType | undefined,
    path: string,
    what: string,
  ): void {
    const types: CwlType[] = [];
    for (const source of sink.sources) {
      const type = this.typeOfSource(source, sink.location, path);
      if (type === undefined) {
        return;
      }
      types.push(type);
    }
    if (requested === undefined || types.length === 0) {
      return;
    }
    const merged = this.mergedType(sink, types);
    if (!canAssign(merged, requested)) {
      this.report(
        sink.location,
        path,
        `${what} takes ${formatType(requested)}, but its source gives ${formatType(merged)}`,
        "change one of the types, or convert with an ExpressionTool or valueFrom",
      );
    }
  }

  private mergedType(sink: StepInput | WorkflowOutput, types: readonly CwlType[]): CwlType {
    let merged: CwlType;
    const [first] = types;
    const listed =
      sink.sourceIsList && (types.length > 1 || sink.linkMerge !== undefined || sink.pickValue !== undefined);
    if (first !== undefined && !listed) {
      merged = first;
    } else if (sink.linkMerge === "merge_flattened") {
      merged = arrayOf(types.flatMap(flattenedItems));
    } else {
      merged = arrayOf(types);
    }
    if (sink.pickValue === undefined || merged.kind !== "array") {
      return merged;
    }
    return sink.pickValue === "all_non_null" ? merged : merged.items;
  }

  private typeOfSource(source: Source, location: SourceLocation, path: string): CwlType | undefined {
    if (source.step === undefined) {
      const input = this.workflow.inputs.find((item) => item.name === source.port);
      if (input === undefined) {
        this.report(
          location,
          path,
          `the source "${source.port}" is no input of the workflow`,
          listHint([...this.workflow.inputs.map((i) => i.name), ...this.ports()]),
        );
        return undefined;
      }
      return input.type;
    }
    const step = this.steps.get(source.step);
    if (step === undefined || !step.outputs.includes(source.port)) {
      this.report(location, path, `the source "${source.step}/${source.port}" does not exist`, listHint(this.ports()));
      return undefined;
    }
    const output = step.run.outputs.find((item) => item.name === source.port);
    let type: CwlType = output?.type ?? { kind: "Any" };
    if (step.loop?.outputMethod === "all") {
      return { kind: "array", items: type, binding: undefined };
    }
    type = step.when === undefined ? type : withNull(type);
    const levels =
      step.scatter.length === 0 ? 0 : step.scatterMethod === "nested_crossproduct" ? step.scatter.length : 1;
    for (let level = 0; level < levels; level += 1) {
      type = { kind: "array", items: type, binding: undefined };
    }
    return type;
  }

  private ports(): string[] {
    return this.workflow.steps.flatMap((step) => step.outputs.map((port) => `${step.name}/${port}`));
  }

  private checkCycles(): void {
    const state = new Map<string, "open" | "done">();
    const walk = (step: Step, breadcrumbs: readonly string[]): void => {
      if (state.get(step.name) === "done") {
        return;
      }
      if (state.get(step.name) === "open") {
        const circle = [...breadcrumbs.slice(breadcrumbs.indexOf(step.name)), step.name].join(" → ");
        this.report(step.location, `steps.${step.name}`, `these steps wait for each other: ${circle}`);
        return;
      }
      state.set(step.name, "open");
      for (const source of step.inputs.flatMap((input) => input.sources)) {
        const before = source.step === undefined ? undefined : this.steps.get(source.step);
        if (before !== undefined) {
          walk(before, [...breadcrumbs, step.name]);
        }
      }
      state.set(step.name, "done");
    };
    for (const step of this.workflow.steps) {
      walk(step, []);
    }
  }

  private report(
    location: SourceLocation,
    path: string,
    message: string,
    hint?: string,
    severity: Problem["severity"] = "error",
  ): void {
    this.problems.push({
      severity,
      message,
      path: this.path + path,
      ...location,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

function arrayOf(types: readonly CwlType[]): CwlType {
  const [first] = types;
  return {
    kind: "array",
    items: types.length === 1 && first !== undefined ? first : { kind: "union", members: types },
    binding: undefined,
  };
}

/** What a source gives to a flattened list: the items of its lists, also where there may be none. */
function flattenedItems(type: CwlType): readonly CwlType[] {
  return type.kind === "array" ? [type.items] : type.kind === "union" ? type.members.flatMap(flattenedItems) : [type];
}

function listHint(names: readonly string[]): string {
  return names.length === 0 ? "there is none" : `there is: ${names.join(", ")}`;
}
