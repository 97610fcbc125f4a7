import type { CommandLineTool, SourceLocation, Process, Requirement } from "../model/process.ts";
import { isObject } from "../model/values.ts";

/** A field that may hold expressions. */
export interface Found {
  readonly text: string | undefined;
  /** Path of the field. */
  readonly what: string;
  readonly location: SourceLocation;
}

/** Every field of a process, and of its steps, that may hold expressions. */
export function expressionsOf(process: Process): Found[] {
  const formats = [...process.inputs, ...process.outputs].flatMap((item) =>
    item.secondaryFiles.map(({ pattern }) => ({
      text: pattern,
      what: `${item.name}.secondaryFiles`,
      location: item.location,
    })),
  );
  const requirements = [...process.requirements, ...process.hints].flatMap(requirementExpressions);
  switch (process.class) {
    case "CommandLineTool":
      return [...toolExpressions(process), ...formats, ...requirements];
    case "ExpressionTool":
      return [
        { text: process.expression, what: "expression", location: process.location },
        ...formats,
        ...requirements,
      ];
    case "Workflow":
      return [
        ...process.steps.flatMap((step) => [
          { text: step.when, what: `steps.${step.name}.when`, location: step.location },
          ...step.inputs.map((input) => ({
            text: input.valueFrom,
            what: `steps.${step.name}.in.${input.name}.valueFrom`,
            location: input.location,
          })),
          ...step.requirements.flatMap(requirementExpressions),
        ]),
        ...requirements,
      ];
    case "Operation":
      return requirements;
  }
}

function requirementExpressions(requirement: Requirement): Found[] {
  const texts: Found[] = [];
  const visit = (value: unknown, what: string): void => {
    if (typeof value === "string") {
      texts.push({ text: value, what, location: requirement.location });
    } else if (Array.isArray(value)) {
      (value as unknown[]).forEach((item, index) => visit(item, `${what}[${index}]`));
    } else if (isObject(value)) {
      Object.entries(value).forEach(([key, item]) => visit(item, `${what}.${key}`));
    }
  };
  const known = ["ResourceRequirement", "InitialWorkDirRequirement", "EnvVarRequirement", "ToolTimeLimit"];
  if (known.includes(requirement.class)) {
    visit(requirement.fields, requirement.class);
  }
  return texts;
}

export function toolExpressions(tool: CommandLineTool): Found[] {
  const { location } = tool;
  const streams = (["stdin", "stdout", "stderr"] as const).map((what) => ({ text: tool[what], what, location }));
  const words = tool.arguments.map((item, index) => ({
    text: typeof item === "string" ? item : item.valueFrom,
    what: `arguments.${index}`,
    location,
  }));
  const inputs = tool.inputs.map((input) => ({
    text: input.binding?.valueFrom,
    what: `inputs.${input.name}.inputBinding.valueFrom`,
    location: input.location,
  }));
  const outputs = tool.outputs.flatMap((output) => {
    const what = `outputs.${output.name}.outputBinding`;
    const globs = (output.outputBinding?.glob ?? []).map((text) => ({
      text,
      what: `${what}.glob`,
      location: output.location,
    }));
    return [
      ...globs,
      { text: output.outputBinding?.outputEval, what: `${what}.outputEval`, location: output.location },
    ];
  });
  return [...streams, ...words, ...inputs, ...outputs];
}
