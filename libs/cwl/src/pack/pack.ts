import { CwlError } from "../errors.ts";
import type { LoadedDocument } from "../load/load.ts";
import { entryOf } from "../load/workflow.ts";
import type { DocumentStore, RawDocument } from "../load/store.ts";
import { fragmentOf } from "../load/uri.ts";
import { isObject } from "../model/values.ts";
import { packProcess } from "./pack-process.ts";
import { PackedTypes } from "./pack-scope.ts";
import type { RawObject } from "./pack-scope.ts";
import { newestOf } from "./update.ts";

/**
 * Writes a document and everything it refers to as one: a `$graph` whose entry is `#main`, in the newest of the versions
 * that it is made of. Running it equals running the original. Locations of files stay absolute: what a package refers to
 * does not move with it.
 */
export async function packDocument(document: LoadedDocument): Promise<RawObject> {
  if (document.store === undefined) {
    throw new CwlError(
      "unsupported",
      "this document was loaded in a thread of its own; load it with loadDocument to pack it",
    );
  }
  const packer = new Packer(document.store, newestOf(document.process));
  await packer.add(document.uri, "main", document.process.version);
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
  readonly version: string;
  private readonly store: DocumentStore;
  /** Id in the package by URI. */
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>();
  private readonly types = new PackedTypes();

  constructor(store: DocumentStore, version: string) {
    this.store = store;
    this.version = version;
  }

  /** Adds the process at a URI and gives its id in the package. */
  async add(uri: string, requested: string | undefined, inherited: string): Promise<string> {
    const known = this.names.get(uri);
    if (known !== undefined) {
      return known;
    }
    const name = this.free(requested ?? (fragmentOf(uri) || uri.slice(uri.lastIndexOf("/") + 1)));
    this.names.set(uri, name);
    const file = await this.store.load(uri);
    this.addNamespaces(file);
    const packed = await packProcess(find(file, uri), {
      base: file.uri,
      id: name,
      version: file.version ?? inherited,
      target: this.version,
      packedTypes: this.types,
      add: (target, version) => this.add(target, undefined, version),
    });
    this.graph.push(packed);
    return name;
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

  private free(requested: string): string {
    const plain = requested.replaceAll(/[^\w.-]/g, "_");
    let name = plain;
    for (let number = 2; this.taken.has(name); number += 1) {
      name = `${plain}_${number}`;
    }
    this.taken.add(name);
    return name;
  }
}

function find(file: RawDocument, uri: string): RawObject {
  const fragment = fragmentOf(uri);
  const raw = fragment === "" ? entryOf(file.root) : file.index.get(fragment);
  if (!isObject(raw)) {
    throw new CwlError("invalid-document", `${uri} holds no process`);
  }
  return raw;
}
