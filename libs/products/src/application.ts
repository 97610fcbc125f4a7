import { parseDocument } from "yaml";

import { ProductError } from "./errors.ts";

type Json = Readonly<Record<string, unknown>>;

/** An OGC record (Records Part 1). */
export interface OgcRecord {
  readonly type: "Feature";
  readonly id: string;
  readonly geometry: null;
  readonly properties: Json;
  readonly links: readonly Json[];
  readonly [member: string]: unknown;
}

/** A parser of YAML takes about a second for each MiB. */
const MAX_PACKAGE_BYTES = 2 ** 20;
const MAX_ALIASES = 100;

/**
 * The record of an application package (OGC 20-089): of its first workflow, or of the one that the address names after `#`.
 * @throws {ProductError}
 */
export function convertApplication(bytes: Buffer, url: string): OgcRecord {
  const document = readPackage(bytes, url);
  const graph = Array.isArray(document["$graph"]) ? (document["$graph"] as readonly Json[]) : [document];
  const requested = /#(.+)$/.exec(url)?.[1];
  const workflow =
    graph.find(({ id }) => requested !== undefined && plainId(id) === requested) ??
    graph.find((entry) => entry["class"] === "Workflow") ??
    graph.find((entry) => entry["class"] === "CommandLineTool");
  const id = plainId(workflow?.["id"]);
  if (workflow === undefined || id === undefined) {
    throw new ProductError(`${url} has no Workflow or CommandLineTool with an id; it is no application package.`);
  }
  const version =
    textOf(document["s:softwareVersion"]) ?? textOf(document["s:version"]) ?? textOf(workflow["s:softwareVersion"]);
  const keywords = [
    ...listOf(document["s:keywords"]),
    "application",
    "CWL",
    ...(version === undefined ? [] : [`softwareVersion:${version}`]),
  ];
  return {
    type: "Feature",
    id,
    geometry: null,
    conformsTo: ["http://www.opengis.net/spec/ogcapi-records-1/1.0/req/record-core"],
    properties: {
      type: "application",
      title: textOf(workflow["label"]) ?? id,
      ...(textOf(workflow["doc"]) !== undefined && { description: textOf(workflow["doc"]) }),
      keywords: [...new Set(keywords)],
      formats: [{ name: "CWL", mediaType: "application/cwl+yaml" }],
      ...(version !== undefined && { version }),
    },
    links: [{ rel: "item", href: url, type: "application/cwl+yaml", title: "Application package" }],
  };
}

function readPackage(bytes: Buffer, url: string): Json {
  if (bytes.length > MAX_PACKAGE_BYTES) {
    throw new ProductError(`${url} has more than ${MAX_PACKAGE_BYTES} bytes; it is no application package.`);
  }
  try {
    const document = parseDocument(bytes.toString("utf8"), { uniqueKeys: false });
    const value: unknown = document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: MAX_ALIASES });
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Json;
    }
  } catch (cause) {
    throw new ProductError(`${url} cannot be read as YAML: ${(cause as Error).message}.`, { cause });
  }
  throw new ProductError(`${url} is not valid YAML or JSON with an object at its top.`);
}

const plainId = (id: unknown): string | undefined =>
  typeof id === "string" && id !== "" ? id.replace(/^.*#/, "") : undefined;

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;
}

function listOf(value: unknown): readonly string[] {
  const words = Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : [];
  return words
    .filter((word): word is string => typeof word === "string")
    .map((word) => word.trim())
    .filter(Boolean);
}
