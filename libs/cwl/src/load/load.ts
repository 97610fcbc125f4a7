import { CwlError, formatProblem } from "../errors.ts";
import type { Problem } from "../errors.ts";
import type { CwlVersion, Process } from "../model/process.ts";
import { isObject } from "../model/values.ts";
import { expandPrefix } from "./bindings.ts";
import { describe, isExtension } from "./fields.ts";
import { countSteps } from "./count-steps.ts";
import { asStrings } from "./maps.ts";
import { problemAt } from "./origin.ts";
import { BuiltProcesses } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { DocumentStore } from "./store.ts";
import type { LoadOptions, RawDocument } from "./store.ts";
import { buildProcess } from "./process.ts";
import { toVersion, versions } from "./versions.ts";
import { filePath, fragmentOf, resolveReference, toUri, withoutFragment } from "./uri.ts";
import { buildReferenced, entryOf, hashed } from "./workflow.ts";
import { checkExpressions } from "../validate/expressions.ts";
import { checkLinks } from "../validate/links.ts";

/** A document that was read, checked and built; ready to describe, draw, pack or run. */
export interface LoadedDocument {
  /** URI of the process that is run, with fragment. */
  readonly uri: string;
  readonly process: Process;
  /** What is doubtful but does not stop a run. */
  readonly warnings: readonly Problem[];
  /** Every process at the top of the file: one, or those of its `$graph`. */
  readonly entries: readonly ProcessEntry[];
  /** Ontologies named by `$schemas` of the files read. */
  readonly schemas: readonly string[];
  /** Prefixes, which apply to the input object too. */
  readonly namespaces: { readonly [prefix: string]: string };
  /** Fields of other vocabularies at the root of the file, as written, and by full IRI. */
  readonly rootFields: { readonly [name: string]: unknown };
  readonly rootMetadata: { readonly [iri: string]: unknown };
  /** The texts that it was made from; undefined when it was loaded in a thread of its own. */
  readonly store: DocumentStore | undefined;
}

export interface ProcessEntry {
  readonly id: string;
  readonly class: string;
  readonly label: string | undefined;
}

/**
 * Reads a CWL document by path or URI (`tool.cwl`, `https://host/app.cwl#main`) and everything it refers to.
 * `text` gives its content when it is not to be fetched. Throws a CwlError with every problem found.
 */
export async function loadDocument(
  reference: string,
  options: LoadOptions & { readonly text?: string | undefined } = {},
): Promise<LoadedDocument> {
  const { document, problems } = await checkDocument(reference, options);
  if (document === undefined) {
    throw new CwlError("invalid-document", problems);
  }
  return document;
}

interface CheckedDocument {
  readonly document: LoadedDocument | undefined;
  readonly problems: readonly Problem[];
}

/** Like loadDocument, but gives the problems back; `document` is there when none of them is an error. */
export async function checkDocument(
  reference: string,
  options: LoadOptions & { readonly text?: string | undefined } = {},
): Promise<CheckedDocument> {
  const uri = toUri(reference);
  return await checkInStore(uri, openStore(uri, options));
}

/** The same for every process of a file that does not say which one is meant; for the one that is meant otherwise. */
export async function checkDocuments(
  reference: string,
  options: LoadOptions & { readonly text?: string | undefined } = {},
): Promise<readonly CheckedDocument[]> {
  const uri = toUri(reference);
  const store = openStore(uri, options);
  const raw = await store.load(uri);
  const entries = fragmentOf(uri) === "" && entryOf(raw.root) === undefined ? listEntries(raw) : [];
  const checked: CheckedDocument[] = [];
  for (const entry of entries) {
    checked.push(await checkInStore(entry.id, store));
  }
  return checked.length === 0 ? [await checkInStore(uri, store)] : checked;
}

function openStore(uri: string, options: LoadOptions & { readonly text?: string | undefined }): DocumentStore {
  const store = new DocumentStore(options);
  if (options.text !== undefined) {
    store.addText(withoutFragment(uri), options.text);
  }
  return store;
}

/** What is nested in a way that no budget counts ends at the stack: a limit like the others. */
async function checkInStore(uri: string, store: DocumentStore): Promise<CheckedDocument> {
  try {
    return await buildInStore(uri, store);
  } catch (error) {
    throw error instanceof RangeError && error.message.includes("call stack")
      ? new CwlError("limit", `${uri} is nested too deeply to be read`, { cause: error })
      : error;
  }
}

async function buildInStore(uri: string, store: DocumentStore): Promise<CheckedDocument> {
  const raw = await store.load(uri);
  const problems: Problem[] = [];
  const entry = findEntry(raw, uri);
  const version = readRootVersion(raw, entry.object, problems);
  const scope: Scope = {
    store,
    problems,
    version,
    document: raw,
    types: new Map(),
    ancestors: [],
    built: new BuiltProcesses(),
    budget: store.budget,
    buildProcess,
  };
  const process = await buildReferenced(scope, entry.uri, entry.object, "");
  if (process !== undefined) {
    const { steps } = store.budget.limits;
    if (countSteps(process) > steps) {
      throw new CwlError("limit", `${uri}: a run of this workflow would have more than ${steps} steps`);
    }
    checkLinks(process, problems);
    checkExpressions(process, problems);
  }
  const failed = process === undefined || problems.some((problem) => problem.severity === "error");
  if (failed) {
    if (problems.length === 0) {
      problems.push(problemAt(entry.object, undefined, "the document describes no process"));
    }
    return { document: undefined, problems: withoutRepeats(problems) };
  }
  const files = await Promise.all(store.loaded().map((item) => store.load(item)));
  return {
    problems,
    document: {
      uri: entry.uri,
      process,
      warnings: problems,
      entries: listEntries(raw),
      schemas: [...new Set(files.flatMap((file) => file.schemas))],
      namespaces: raw.namespaces,
      ...rootExtras(raw, scope),
      store,
    },
  };
}

/** More than anybody reads. */
const MAX_PROBLEMS = 100;

/** What is wrong with something that two places refer to is said once. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const first = problems.slice(0, MAX_PROBLEMS * 10);
  const different = [...new Map(first.map((problem) => [formatProblem(problem), problem])).values()];
  const rest = problems.length - first.length + Math.max(0, different.length - MAX_PROBLEMS);
  return rest === 0
    ? different
    : [...different.slice(0, MAX_PROBLEMS), { severity: "error", message: `and ${rest} more problems` }];
}

/** Metadata of a package stand beside its `$graph`. */
function rootExtras(raw: RawDocument, scope: Scope): Pick<LoadedDocument, "rootFields" | "rootMetadata"> {
  const own = isObject(raw.root) && "$graph" in raw.root ? Object.entries(raw.root) : [];
  const extras = own.filter(([key]) => isExtension(key) && !key.startsWith("$"));
  return {
    rootFields: Object.fromEntries(extras),
    rootMetadata: Object.fromEntries(extras.map(([key, value]) => [expandPrefix(scope, key), value])),
  };
}

function findEntry(raw: RawDocument, uri: string): { uri: string; object: { readonly [key: string]: unknown } } {
  const fragment = fragmentOf(uri);
  const file = withoutFragment(uri);
  const fail = (message: string): never => {
    const names = listEntries(raw).map((item) => `#${fragmentOf(item.id)}`);
    const hint = names.length > 0 ? { hint: `it has ${names.join(", ")}` } : {};
    throw new CwlError("invalid-document", [
      problemAt(typeof raw.root === "object" ? (raw.root ?? undefined) : undefined, undefined, message, hint),
    ]);
  };
  if (!isObject(raw.root) && !Array.isArray(raw.root)) {
    const what = raw.root === null ? "empty" : describe(raw.root);
    return fail(`${filePath(file) ?? file} is ${what}, not a CWL document`);
  }
  if (fragment !== "") {
    const object = raw.index.get(fragment);
    return object === undefined ? fail(`there is no process #${fragment}`) : { uri, object };
  }
  const object = entryOf(raw.root);
  if (object === undefined) {
    return fail("the document holds several processes and none is #main; say which one to use");
  }
  const graph = isObject(raw.root) && "$graph" in raw.root;
  return {
    uri: graph && typeof object["id"] === "string" ? resolveReference(hashed(object["id"]), file) : file,
    object,
  };
}

function readRootVersion(
  raw: RawDocument,
  entry: { readonly [key: string]: unknown },
  problems: Problem[],
): CwlVersion {
  const written = raw.version ?? entry["cwlVersion"];
  const version = toVersion(written);
  if (written === undefined) {
    problems.push(
      problemAt(isObject(raw.root) ? raw.root : entry, undefined, "the document does not say its cwlVersion", {
        hint: 'write "cwlVersion: v1.2" at the top',
      }),
    );
  } else if (version === undefined) {
    problems.push(
      problemAt(
        isObject(raw.root) ? raw.root : entry,
        "cwlVersion",
        `CWL version ${describe(written)} is not one this engine knows`,
        {
          hint: `one of ${versions.join(", ")}`,
        },
      ),
    );
  } else {
    return version;
  }
  return "v1.2";
}

function listEntries(raw: RawDocument): ProcessEntry[] {
  const root = raw.root;
  const graph = isObject(root) && Array.isArray(root["$graph"]) ? (root["$graph"] as unknown[]) : [root];
  return graph.filter(isObject).flatMap((item): ProcessEntry[] =>
    typeof item["class"] === "string"
      ? [
          {
            id: typeof item["id"] === "string" ? resolveReference(hashed(item["id"]), raw.uri) : raw.uri,
            class: item["class"],
            label: asStrings(item["label"])[0],
          },
        ]
      : [],
  );
}
