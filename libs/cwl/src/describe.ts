import type { LoadedDocument } from "./load/load.ts";
import { containerRequest } from "./run/container-request.ts";
import { Requirements } from "./run/requirements.ts";
import type { CwlType } from "./model/types.ts";
import { acceptsNull, formatType } from "./model/types.ts";
import type { Value } from "./model/values.ts";
import type { Process } from "./model/process.ts";

/** What a caller has to know about a process: what goes in and what comes out. */
export interface ProcessDescription {
  readonly id: string;
  readonly name: string;
  readonly class: Process["class"];
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly version: string;
  /** Fields of other vocabularies by full IRI, such as `https://schema.org/softwareVersion`. */
  readonly metadata: Process["metadata"];
  readonly inputs: readonly ParameterDescription[];
  readonly outputs: readonly ParameterDescription[];
  /** Images of every tool that is run. */
  readonly images: readonly string[];
}

export interface ParameterDescription {
  readonly name: string;
  readonly type: CwlType;
  /** The type in CWL's short notation, for people. */
  readonly typeText: string;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  /** undefined for none, and for outputs. */
  readonly default: Value | undefined;
  /** Whether a caller must give it. */
  readonly required: boolean;
  readonly format: readonly string[] | undefined;
}

export function describeProcess(document: LoadedDocument): ProcessDescription {
  const { process } = document;
  const images = new Set<string>();
  collectImages(process, new Requirements(), images);
  return {
    id: process.id,
    name: process.name,
    class: process.class,
    label: process.label,
    doc: process.doc,
    version: process.version,
    metadata: process.metadata,
    inputs: process.inputs.map((input) => ({
      ...parameter(input),
      default: input.default,
      required: input.default === undefined && !acceptsNull(input.type),
    })),
    outputs: process.outputs.map((output) => ({
      ...parameter(output),
      default: undefined,
      required: !acceptsNull(output.type),
    })),
    images: [...images],
  };
}

function parameter(
  item: Process["outputs"][number] | Process["inputs"][number],
): Omit<ParameterDescription, "default" | "required"> {
  const { name, type, label, doc, format } = item;
  return { name, type, typeText: formatType(type), label, doc, format };
}

function collectImages(process: Process, outer: Requirements, images: Set<string>): void {
  const requirements = outer.inside(process);
  if (process.class === "Workflow") {
    for (const step of process.steps) {
      collectImages(step.run, requirements.inside(step), images);
    }
  } else if (process.class === "CommandLineTool") {
    const image = containerRequest(requirements)?.image;
    if (image !== undefined) {
      images.add(image);
    }
  }
}
