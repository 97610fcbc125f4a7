import { type LoadedDocument, graphOf, loadDocument, validateDocument, requestedFormats } from "@swath/cwl";
import { LRUCache } from "lru-cache";

import { invalidParameter, workflowNotFound } from "../errors.ts";
import { PACKAGE_ADDRESS, fetcherOf, readBundle } from "./bundle.ts";
import { type PackageFacts, readFacts } from "./package-facts.ts";
import type { CheckedPackage, PackageWork } from "./package-work-types.ts";
import { MAX_VALUES, MAX_YAML_TOKENS, readYaml } from "./read-yaml.ts";

/** What a hostile text may cost (the engine's own limits are those of a program that reads its user's files). */
const LIMITS = { documentBytes: 2 * 2 ** 20, nodes: MAX_VALUES, yamlTokens: MAX_YAML_TOKENS, depth: 100 };

/**
 * Reads and checks an application package, with every mistake, its line and what would be right.
 * @throws {OgcError} 400 where it has no such workflow
 */
export async function readCheckedPackage({
  text: stored,
  workflow: requested,
  advice,
}: PackageWork["check"]["requested"]): Promise<CheckedPackage> {
  const bundle = readBundle(stored);
  const { text, address } = bundle;
  const missing = new Set<string>();
  const ids = findIds(text);
  const workflows = ids.map(toWorkflow);
  const wrong = ids.find((id) => !/^(?:[^\s#]*#)?[A-Za-z_][\w.-]{0,127}$/.test(id));
  if (wrong !== undefined) {
    throw invalidParameter(
      `The package has the id ${JSON.stringify(wrong.slice(0, 200))}; allowed: a letter or _, then letters, digits, and . _ -, 128 at most.`,
    );
  }
  if (requested !== undefined && workflows.length > 0 && !workflows.includes(requested)) {
    throw workflowNotFound(requested, workflows);
  }
  const workflow = requested ?? findMainWorkflow(workflows);
  const { valid, problems, document } = await validateDocument(
    workflow === undefined ? address : `${address}#${workflow}`,
    {
      text,
      fetcher: fetcherOf(bundle, (uri) => missing.add(uri)),
      localFiles: false,
      limits: LIMITS,
      ...(advice && { applicationPackage: true }),
    },
  );
  const named = problems.map(({ file: _file, ...problem }) => ({
    ...problem,
    message: problem.message.replaceAll(PACKAGE_ADDRESS, "the package"),
  }));
  const formats = document === undefined ? [] : requestedFormats(document.process);
  return {
    workflows,
    missing: [...missing],
    ontologies: document === undefined || formats.length === 0 ? [] : document.schemas,
    formats,
    problems: named as CheckedPackage["problems"],
    ...(valid && document !== undefined && { facts: readFacts(document), graph: graphOf(document) }),
  };
}

/** @throws {OgcError} 400 for a package that cannot be run, with every mistake */
export function requireFacts({ facts, problems }: CheckedPackage): PackageFacts {
  if (facts !== undefined) {
    return facts;
  }
  const first = problems.find(({ severity }) => severity === "error");
  const where = first?.line === undefined ? "" : ` (line ${first.line})`;
  throw invalidParameter(
    `The application package is not valid: ${first?.message ?? "it cannot be read"}${where}.`,
    problems,
  );
}

const MAX_LOADED = 32;
/** Reading a package costs more than all else of a short request. */
const loaded = new LRUCache<string, Promise<LoadedDocument>>({ max: MAX_LOADED });
/** Characters; larger packages are read anew each time. */
const MAX_KEPT = 1_000_000;

/** The package of a process that was checked when it was deployed; one without a `$graph` is its own only process. */
export function loadPackage(text: string, process: string): Promise<LoadedDocument> {
  const key = `${process}\n${text}`;
  const known = loaded.get(key);
  if (known !== undefined) {
    return known;
  }
  const document = readPackage(text, process);
  if (text.length <= MAX_KEPT) {
    loaded.set(key, document);
    // A failure is not kept.
    document.catch(() => loaded.delete(key));
  }
  return document;
}

function readPackage(stored: string, process: string): Promise<LoadedDocument> {
  const bundle = readBundle(stored);
  const { text, address } = bundle;
  const named = findWorkflows(text).includes(process);
  const reference = named ? `${address}#${process}` : address;
  return loadDocument(reference, { text, fetcher: fetcherOf(bundle), localFiles: false });
}

/** The one that is called main, as in CWL, else the first one found (OGC 20-044 /req/deploy-replace-undeploy/deploy/w-param). */
function findMainWorkflow(workflows: readonly string[]): string | undefined {
  return workflows.find((id) => id === "main") ?? workflows[0];
}

/** Ids of the workflows of a `$graph`, or of the one process. What cannot be read has none; the engine then says what is wrong, and where. */
const findWorkflows = (text: string): readonly string[] => findIds(text).map(toWorkflow);
const toWorkflow = (id: string): string => id.replace(/^.*#/, "");

/** The same as they are written. */
function findIds(text: string): readonly string[] {
  let document: unknown;
  try {
    document = readYaml(text);
  } catch {
    return [];
  }
  const { $graph: graph, id } = (document ?? {}) as { $graph?: unknown; id?: unknown };
  const ids: readonly unknown[] = Array.isArray(graph)
    ? graph.flatMap((entry: { class?: unknown; id?: unknown } | null) =>
        entry?.class === "Workflow" ? [entry.id] : [],
      )
    : [id];
  return ids.filter((each): each is string => typeof each === "string");
}
