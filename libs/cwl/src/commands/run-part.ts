import { CwlError } from "../errors.ts";
import type { LoadedDocument } from "../load/load.ts";
import { acceptsNull, formatType } from "../model/types.ts";
import type { Source, Workflow } from "../model/process.ts";
import { toJson } from "../model/values.ts";

/** The document with one step's process in the place of the whole. */
export function onlyStep(document: LoadedDocument, name: string): LoadedDocument {
  const { process } = document;
  const step = process.class === "Workflow" ? process.steps.find((item) => item.name === name) : undefined;
  if (step === undefined) {
    throw noSuch(document, name, process.class === "Workflow" ? process.steps.map((item) => item.name) : []);
  }
  const { requirements, hints } = process;
  const run = {
    ...step.run,
    requirements: [...requirements, ...step.requirements, ...step.run.requirements],
    hints: [...hints, ...step.hints, ...step.run.hints],
  };
  return { ...document, process: run };
}

/** The document with those outputs and steps alone that the targets (outputs or steps) need. */
export function onlyTargets(document: LoadedDocument, targets: readonly string[]): LoadedDocument {
  const { process } = document;
  if (process.class !== "Workflow") {
    throw new CwlError("invalid-inputs", `--target chooses parts of a workflow, and ${process.name} is none`);
  }
  const known = [...process.outputs.map((item) => item.name), ...process.steps.map((item) => item.name)];
  const strange = targets.find((target) => !known.includes(target));
  if (strange !== undefined) {
    throw noSuch(document, strange, known);
  }
  const outputs = process.outputs.filter(
    (output) =>
      targets.includes(output.name) || output.sources.some(({ step }) => step !== undefined && targets.includes(step)),
  );
  const needed = new Set(targets);
  const follow = (sources: readonly Source[]): void => {
    for (const { step: name } of sources) {
      const step = process.steps.find((item) => item.name === name);
      if (step !== undefined && !needed.has(step.name)) {
        needed.add(step.name);
        step.inputs.forEach((input) => follow(input.sources));
      }
    }
  };
  outputs.forEach((output) => follow(output.sources));
  for (const step of process.steps.filter((item) => targets.includes(item.name))) {
    step.inputs.forEach((input) => follow(input.sources));
  }
  const part: Workflow = { ...process, outputs, steps: process.steps.filter((step) => needed.has(step.name)) };
  return { ...document, process: part };
}

function noSuch(document: LoadedDocument, name: string, known: readonly string[]): CwlError {
  const list = known.length === 0 ? "no steps" : [...new Set(known)].join(", ");
  return new CwlError("invalid-inputs", `${document.process.name} has no ${JSON.stringify(name)}; it has ${list}`);
}

/** An input object in YAML to fill in. */
export function inputTemplate({ process }: LoadedDocument): string {
  const lines = process.inputs.map((input) => {
    const note = [formatType(input.type), input.label, input.default === undefined ? undefined : "default"];
    const value =
      input.default !== undefined
        ? toJson(input.default)
        : acceptsNull(input.type)
          ? "null"
          : input.type.kind === "File" || input.type.kind === "Directory"
            ? `{class: ${input.type.kind}, path: a/path}`
            : input.type.kind === "array"
              ? "[]"
              : "";
    const text = note.filter((item) => item !== undefined).join("; ");
    return `${JSON.stringify(input.name)}: ${value}  # ${text.replaceAll("\n", " ")}`;
  });
  return lines.length === 0 ? "{}" : lines.join("\n");
}
