import type { Problem } from "../errors.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { CommandLineTool, Process, Workflow } from "../model/process.ts";
import type { CwlType } from "../model/types.ts";
import { Requirements } from "../run/requirements.ts";

const softwareVersion = /^https?:\/\/schema\.org\/(?:docs\/.*#)?softwareVersion$/;

/**
 * What the best practice for Earth-observation application packages (OGC 20-089r1, clause 8) asks for and a document
 * does not do. All of it is advice: warnings with the place and what to write.
 */
export function lintApplicationPackage(document: LoadedDocument): Problem[] {
  const problems: Problem[] = [];
  const { process, entries } = document;
  const workflows = entries.filter((entry) => entry.class === "Workflow");
  if (process.class !== "Workflow") {
    warn(
      problems,
      process,
      `the application is a ${process.class}`,
      "wrap it in a Workflow: platforms run one entry Workflow",
    );
    return problems;
  }
  if (workflows.length > 1 && !document.uri.endsWith("#main")) {
    warn(problems, process, `the package holds ${workflows.length} workflows`, "name the entry Workflow #main");
  }
  lintWorkflow(process, problems);
  const tools = new Map<CommandLineTool, Requirements>();
  collectTools(process, new Requirements(), tools);
  if (tools.size === 0) {
    warn(problems, process, "the application runs no CommandLineTool", "the best practice asks for at least one");
  }
  for (const [tool, requirements] of tools) {
    lintTool(tool, requirements, problems);
  }
  if (!Object.keys(process.metadata).some((iri) => softwareVersion.test(iri)) && !rootHasVersion(document)) {
    warn(
      problems,
      process,
      "the package does not say its version",
      'write "s:softwareVersion: 1.0.0" with "$namespaces: {s: https://schema.org/}"',
    );
  }
  return problems;
}

function lintWorkflow(workflow: Workflow, problems: Problem[]): void {
  for (const field of ["label", "doc"] as const) {
    if (workflow[field] === undefined) {
      warn(problems, workflow, `the workflow has no ${field}`, `write one: it is what people read in a catalogue`);
    }
    for (const input of workflow.inputs.filter((item) => item[field] === undefined)) {
      warn(problems, input, `the input "${input.name}" has no ${field}`, "write one: it is what people read in a form");
    }
  }
  for (const input of workflow.inputs.filter((item) => holds(item.type, "File"))) {
    warn(
      problems,
      input,
      `the input "${input.name}" is a File`,
      "Earth-observation products are staged as a Directory with a STAC catalog.json",
    );
  }
  if (!workflow.outputs.some((output) => holds(output.type, "Directory"))) {
    warn(problems, workflow, "no output is a Directory", "results to publish are a Directory with a STAC catalog.json");
  }
}

function lintTool(tool: CommandLineTool, requirements: Requirements, problems: Problem[]): void {
  if (!requirements.has("DockerRequirement")) {
    warn(problems, tool, `the tool ${tool.name} names no container`, "add DockerRequirement with dockerPull");
  }
  if (!requirements.has("ResourceRequirement")) {
    warn(
      problems,
      tool,
      `the tool ${tool.name} does not say what it needs`,
      "add ResourceRequirement with coresMin and ramMin",
    );
  }
  if (tool.baseCommand.length === 0) {
    warn(problems, tool, `the tool ${tool.name} has no baseCommand`, "name the program that is run");
  }
}

function collectTools(process: Process, outer: Requirements, tools: Map<CommandLineTool, Requirements>): void {
  const requirements = outer.inside(process);
  if (process.class === "CommandLineTool") {
    tools.set(process, requirements);
  } else if (process.class === "Workflow") {
    for (const step of process.steps) {
      collectTools(step.run, requirements.inside(step), tools);
    }
  }
}

function holds(type: CwlType, kind: "File" | "Directory"): boolean {
  switch (type.kind) {
    case "array":
      return holds(type.items, kind);
    case "union":
      return type.members.some((member) => holds(member, kind));
    case "record":
      return type.fields.some((field) => holds(field.type, kind));
    case "null":
    case "boolean":
    case "int":
    case "long":
    case "float":
    case "double":
    case "string":
    case "File":
    case "Directory":
    case "Any":
    case "enum":
      return type.kind === kind;
  }
}

function rootHasVersion(document: LoadedDocument): boolean {
  return Object.keys(document.rootMetadata).some((iri) => softwareVersion.test(iri));
}

function warn(
  problems: Problem[],
  at: { readonly location: Process["location"] },
  message: string,
  hint: string,
): void {
  problems.push({ severity: "warning", message, hint, ...at.location });
}
