import { CwlError } from "./errors.ts";
import type { LoadedDocument } from "./load/load.ts";
import { baseOf } from "./load/origin.ts";
import type { DocumentStore, RawDocument } from "./load/store.ts";
import { fragmentOf, resolveReference } from "./load/uri.ts";
import { isFileOrDirectory, isObject } from "./model/values.ts";

type RawObject = { readonly [key: string]: unknown };

/**
 * Writes a document and everything it refers to as one: a `$graph` whose entry is `#main`. Running it equals running
 * the original. Locations of files stay absolute: what a package refers to does not move with it.
 */
export async function packDocument(document: LoadedDocument): Promise<RawObject> {
  if (document.store === undefined) {
    throw new CwlError(
      "unsupported",
      "this document was loaded in a thread of its own; load it with loadDocument to pack it",
    );
  }
  const packer = new Packer(document, document.store);
  await packer.add(document.uri, "main", undefined);
  return {
    cwlVersion: packer.version,
    ...(Object.keys(packer.namespaces).length === 0 ? {} : { $namespaces: packer.namespaces }),
    ...(document.schemas.length === 0 ? {} : { $schemas: document.schemas }),
    ...document.rootFields,
    $graph: packer.graph,
  };
}

class Packer {
  readonly graph: RawObject[] = [];
  readonly namespaces: Record<string, string> = {};
  version: string;
  private readonly store: DocumentStore;
  /** Id in the package by URI. */
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>();

  constructor(document: LoadedDocument, store: DocumentStore) {
    this.store = store;
    this.version = document.process.version;
  }

  /** Adds the process at a URI and gives its id in the package. */
  async add(uri: string, wanted: string | undefined, inherited: string | undefined): Promise<string> {
    const known = this.names.get(uri);
    if (known !== undefined) {
      return known;
    }
    const name = this.free(wanted ?? (fragmentOf(uri) || uri.slice(uri.lastIndexOf("/") + 1)));
    this.names.set(uri, name);
    const file = await this.store.load(uri);
    const raw = this.find(file, uri);
    this.addNamespaces(file);
    const version = file.version ?? inherited ?? this.version;
    const body = (await this.rewrite(raw, file, version)) as RawObject;
    const { cwlVersion: own, $namespaces: _namespaces, $schemas: _schemas, $graph: _graph, id: _id, ...rest } = body;
    const written = own ?? version;
    this.graph.push({ id: name, ...rest, ...(written === this.version ? {} : { cwlVersion: written }) });
    return name;
  }

  private find(file: RawDocument, uri: string): RawObject {
    const fragment = fragmentOf(uri);
    const raw = fragment === "" ? file.root : file.index.get(fragment);
    if (!isObject(raw)) {
      throw new CwlError("invalid-document", `${uri} holds no process`);
    }
    return raw;
  }

  private addNamespaces(file: RawDocument): void {
    for (const [prefix, iri] of Object.entries(file.namespaces)) {
      const other = this.namespaces[prefix];
      if (other !== undefined && other !== iri) {
        throw new CwlError(
          "unsupported",
          `the prefix "${prefix}" means ${other} in one file and ${iri} in another, so they cannot be packed together`,
        );
      }
      this.namespaces[prefix] = iri;
    }
  }

  private async rewrite(value: unknown, file: RawDocument, version: string): Promise<unknown> {
    if (Array.isArray(value)) {
      return await Promise.all((value as unknown[]).map((item) => this.rewrite(item, file, version)));
    }
    if (!isObject(value)) {
      return value;
    }
    const base = baseOf(value) ?? file.uri;
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      result[key] =
        key === "run" && typeof item === "string"
          ? `#${await this.add(resolveReference(item, base), undefined, version)}`
          : await this.rewrite(item, file, version);
    }
    if (isFileOrDirectory(value)) {
      if (typeof value.location === "string" && !value.location.includes("$(")) {
        result["location"] = resolveReference(value.location, base);
      }
    }
    return result;
  }

  private free(wanted: string): string {
    const plain = wanted.replaceAll(/[^\w.-]/g, "_");
    let name = plain;
    for (let number = 2; this.taken.has(name); number += 1) {
      name = `${plain}_${number}`;
    }
    this.taken.add(name);
    return name;
  }
}
