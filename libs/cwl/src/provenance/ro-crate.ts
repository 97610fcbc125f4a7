import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "../events.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { FileOrDirectory, ValueObject } from "../model/values.ts";
import type { InputParameter, OutputParameter } from "../model/process.ts";
import { acceptsNull } from "../model/types.ts";
import type { CwlType } from "../model/types.ts";
import { filesIn, toJson } from "../model/values.ts";
import { packDocument } from "../pack/pack.ts";
import { secretInputs } from "../run/secrets.ts";

export interface CrateContent {
  readonly document: LoadedDocument;
  readonly inputs: ValueObject;
  /** Events of the run; logs may be left out. */
  readonly events: readonly RunEvent[];
  readonly outputs: ValueObject;
}

/**
 * Writes the record of a run as a Workflow Run RO-Crate (profile "Workflow Run Crate" 0.5): the packed workflow, what
 * went in, what came out, and each step with its times. Files are referred to, not copied.
 */
export async function writeCrate(directory: string, content: CrateContent): Promise<void> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "workflow.cwl"), toJson(await packDocument(content.document), 2));
  writeFileSync(join(directory, "ro-crate-metadata.json"), toJson(describeRun(content), 2));
}

/** What a Workflow Run Crate conforms to; the profile asks that each be described. */
const profiles = [
  ["https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"],
  ["https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"],
  ["https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"],
] as const;

/** The metadata document alone. */
export function describeRun(content: CrateContent): object {
  const { document, inputs, outputs, events } = content;
  const { process } = document;
  const secret = new Set(secretInputs(process));
  const shown = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, secret.has(name) ? "(secret)" : value]),
  );
  const inputEntities = entities(shown, "#input");
  const outputEntities = entities(outputs, "#output");
  const label = process.label ?? process.name;
  const license = licenseOf(process.metadata) ?? licenseOf(document.rootMetadata);
  const started = events.find((event) => event.type === "run-started")?.time;
  const ended = events.findLast((event) => event.type === "run-finished" || event.type === "run-failed")?.time;
  const steps = stepActions(events);
  const refs = (items: readonly { readonly "@id": string }[]): object[] =>
    items.map((item) => ({ "@id": item["@id"] }));
  return {
    "@context": ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"],
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        about: { "@id": "./" },
        conformsTo: [
          { "@id": "https://w3id.org/ro/crate/1.1" },
          { "@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0" },
        ],
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name: `Run of ${label}`,
        description: process.doc ?? `The record of a run of ${label}: what went in, what came out, and each step.`,
        datePublished: ended,
        license: license ?? "not stated",
        conformsTo: profiles.map(([id]) => ({ "@id": id })),
        hasPart: [
          { "@id": "workflow.cwl" },
          ...refs([...inputEntities, ...outputEntities].filter((item) => item["@type"] !== "PropertyValue")),
        ],
        mainEntity: { "@id": "workflow.cwl" },
        mentions: [{ "@id": "#run" }, ...refs(steps)],
      },
      {
        "@id": "workflow.cwl",
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        name: label,
        description: process.doc,
        license,
        input: refs(process.inputs.map((item) => parameter(item, "input"))),
        output: refs(process.outputs.map((item) => parameter(item, "output"))),
        programmingLanguage: { "@id": "https://w3id.org/workflowhub/workflow-ro-crate#cwl" },
      },
      {
        "@id": "https://w3id.org/workflowhub/workflow-ro-crate#cwl",
        "@type": "ComputerLanguage",
        name: "Common Workflow Language",
        version: process.version,
        url: { "@id": "https://www.commonwl.org/" },
      },
      {
        "@id": "#run",
        "@type": "CreateAction",
        name: `Run of ${label}`,
        instrument: { "@id": "workflow.cwl" },
        startTime: started,
        endTime: ended,
        actionStatus: { "@id": statusOf(events.at(-1)?.type !== "run-failed") },
        object: refs(inputEntities),
        result: refs(outputEntities),
      },
      ...steps,
      ...unique(steps.map((step) => toolOf(step))),
      ...unique([...inputEntities, ...outputEntities]),
      ...process.inputs.map((item) => parameter(item, "input")),
      ...process.outputs.map((item) => parameter(item, "output")),
      ...profiles.map(([id, name, version]) => ({ "@id": id, "@type": "CreativeWork", name, version })),
    ],
  };
}

interface Entity {
  readonly "@id": string;
  readonly "@type": string;
  readonly [property: string]: unknown;
}

/** A file or directory by its location, any other value as a PropertyValue. */
function entities(values: ValueObject, prefix: string): Entity[] {
  return Object.entries(values).flatMap(([name, value]): Entity[] => {
    const files = [...filesIn(value)];
    const work = { "@id": `#parameter${prefix.replace("#", "/")}/${name}` };
    return files.length > 0
      ? files.map((file) => ({ ...fileEntity(file, `${prefix}/${name}`), exampleOfWork: work }))
      : [
          {
            "@id": `${prefix}/${name}`,
            "@type": "PropertyValue",
            name,
            value: typeof value === "string" ? value : toJson(value ?? null),
            exampleOfWork: work,
          },
        ];
  });
}

function fileEntity(file: FileOrDirectory, fallback: string): Entity {
  const literal = file.location === undefined || file.location.startsWith("_:");
  return {
    "@id": literal ? fallback : (file.location ?? fallback),
    "@type": file.class === "File" ? "File" : "Dataset",
    name: file.basename,
    contentSize: file["size"],
    sha1: (file["checksum"] as string | undefined)?.replace("sha1$", ""),
    encodingFormat: file["format"],
  };
}

function stepActions(events: readonly RunEvent[]): Entity[] {
  const starts = new Map<string, Extract<RunEvent, { type: "step-started" }>>();
  const result: Entity[] = [];
  for (const event of events) {
    if (event.type === "step-started") {
      starts.set(event.step, event);
    } else if (event.type === "step-finished" || (event.type === "step-failed" && !event.retrying)) {
      const start = starts.get(event.step);
      const more = {
        name: event.step === "" ? "run" : event.step,
        instrument: { "@id": `#tool/${event.step.replaceAll(/\[\d+\]/g, "")}` },
        startTime: start?.time,
        endTime: event.time,
        actionStatus: { "@id": statusOf(event.type === "step-finished") },
        description: start?.command.join(" "),
        error: event.type === "step-failed" ? event.message : undefined,
        containerImage: start?.image,
      };
      result.push({ "@id": `#step/${encodeURI(event.step)}`, "@type": "CreateAction", ...more });
    }
  }
  return result;
}

function statusOf(completed: boolean): string {
  return `http://schema.org/${completed ? "Completed" : "Failed"}ActionStatus`;
}

/** The tool that a step's action names as its instrument. */
function toolOf(step: Entity): Entity {
  const id = (step["instrument"] as { "@id": string })["@id"];
  return { "@id": id, "@type": "SoftwareApplication", name: id.slice("#tool/".length) || "the tool" };
}

/** An input or output of the workflow as the FormalParameter that values refer to. */
function parameter(item: InputParameter | OutputParameter, kind: "input" | "output"): Entity {
  return {
    "@id": `#parameter/${kind}/${item.name}`,
    "@type": "FormalParameter",
    name: item.name,
    description: item.doc ?? item.label,
    additionalType: additionalType(item.type),
    valueRequired:
      kind === "input" ? !acceptsNull(item.type) && (item as InputParameter).default === undefined : undefined,
    multipleValues: item.type.kind === "array" ? true : undefined,
  };
}

/** The schema.org type that the profile gives for a CWL type. */
function additionalType(type: CwlType): string {
  switch (type.kind) {
    case "File":
      return "File";
    case "Directory":
      return "Dataset";
    case "boolean":
      return "Boolean";
    case "int":
    case "long":
      return "Integer";
    case "float":
    case "double":
      return "Float";
    case "string":
    case "enum":
      return "Text";
    case "array":
      return additionalType(type.items);
    case "union": {
      const [only, ...others] = type.members.filter((member) => member.kind !== "null");
      return only !== undefined && others.length === 0 ? additionalType(only) : "DataType";
    }
    case "null":
    case "Any":
      return "DataType";
    case "record":
      return "PropertyValue";
  }
}

function licenseOf(metadata: { readonly [iri: string]: unknown }): unknown {
  return Object.entries(metadata).find(([iri]) => /^https?:\/\/schema\.org\/license$/.test(iri))?.[1];
}

function unique(items: readonly Entity[]): Entity[] {
  return [...new Map(items.map((item) => [item["@id"], item])).values()];
}
