import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "../events.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { FileOrDirectory, ValueObject } from "../model/values.ts";
import { filesIn, toJson } from "../model/values.ts";
import { packDocument } from "../pack.ts";

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

const workflowRun = "https://w3id.org/ro/wfrun/workflow/0.5";
const processRun = "https://w3id.org/ro/wfrun/process/0.5";

/** The metadata document alone. */
export function describeRun(content: CrateContent): object {
  const { document, inputs, outputs, events } = content;
  const inputEntities = entities(inputs, "#input");
  const outputEntities = entities(outputs, "#output");
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
        name: `Run of ${document.process.label ?? document.process.name}`,
        datePublished: ended,
        conformsTo: [{ "@id": processRun }, { "@id": workflowRun }],
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
        name: document.process.label ?? document.process.name,
        description: document.process.doc,
        programmingLanguage: { "@id": "https://w3id.org/workflowhub/workflow-ro-crate#cwl" },
      },
      {
        "@id": "https://w3id.org/workflowhub/workflow-ro-crate#cwl",
        "@type": "ComputerLanguage",
        name: "Common Workflow Language",
        version: document.process.version,
        url: { "@id": "https://www.commonwl.org/" },
      },
      {
        "@id": "#run",
        "@type": "CreateAction",
        name: `Run of ${document.process.name}`,
        instrument: { "@id": "workflow.cwl" },
        startTime: started,
        endTime: ended,
        object: refs(inputEntities),
        result: refs(outputEntities),
      },
      ...steps,
      ...unique([...inputEntities, ...outputEntities]),
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
    return files.length > 0
      ? files.map((file) => fileEntity(file, `${prefix}/${name}`))
      : [{ "@id": `${prefix}/${name}`, "@type": "PropertyValue", name, value: toJson(value ?? null) }];
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
        instrument: { "@id": "workflow.cwl" },
        startTime: start?.time,
        endTime: event.time,
        actionStatus: {
          "@id": `http://schema.org/${event.type === "step-finished" ? "CompletedActionStatus" : "FailedActionStatus"}`,
        },
        description: start?.command.join(" "),
        error: event.type === "step-failed" ? event.message : undefined,
        containerImage: start?.image,
      };
      result.push({ "@id": `#step/${event.step}`, "@type": "CreateAction", ...more });
    }
  }
  return result;
}

function unique(items: readonly Entity[]): Entity[] {
  return [...new Map(items.map((item) => [item["@id"], item])).values()];
}
