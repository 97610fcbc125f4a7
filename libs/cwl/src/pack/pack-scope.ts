import { shortName, withoutFragment } from "../load/uri.ts";
import { toJson } from "../model/values.ts";

/** Names of schema-defined types in the package, by full URI and by short name as a document may write them. */
export type TypeNames = ReadonlyMap<string, string>;

/** The schema-defined types of the whole package: each is written out once, and imported after that. */
export class PackedTypes {
  private readonly names = new Map<string, { readonly name: string; readonly text: string }[]>();
  private readonly taken = new Set<string>();
  private readonly written = new Set<string>();

  /** Name in the package of the type with a URI. Types of one file may share a name only when they are the same. */
  nameOf(uri: string, type: RawObject): string {
    const text = toJson(type);
    const known = this.names.get(uri) ?? [];
    this.names.set(uri, known);
    let entry = known.find((item) => item.text === text);
    if (entry === undefined) {
      const file = withoutFragment(uri);
      const plain = `#${file.slice(file.lastIndexOf("/") + 1)}/${shortName(uri)}`.replaceAll(/[^\w#/.-]/g, "_");
      let name = plain;
      for (let number = 2; this.taken.has(name); number += 1) {
        name = `${plain}_${number}`;
      }
      this.taken.add(name);
      entry = { name, text };
      known.push(entry);
    }
    return entry.name;
  }

  /** Whether a type is to be written out, which is so once. */
  write(name: string): boolean {
    const first = !this.written.has(name);
    this.written.add(name);
    return first;
  }
}

export type RawObject = { readonly [key: string]: unknown };

export interface PackScope {
  /** URI of the file that the process is written in. */
  readonly base: string;
  /** Id of the process in the package; undefined for one inside a step. */
  readonly id: string | undefined;
  readonly version: string;
  /** Version of the package. */
  readonly target: string;
  /** Adds the process at a URI to the package and gives its id there. */
  readonly add: (uri: string, version: string) => Promise<string>;
  readonly packedTypes: PackedTypes;
  /** Types that processes around this one define. */
  readonly types?: TypeNames | undefined;
  /** Steps of the workflow around. */
  readonly steps?: ReadonlySet<string> | undefined;
}

/** Name of a requirement without the prefix of the standard. */
export function shortClass(item: RawObject): string {
  return String(item["class"]).replace(/^cwl:|^https:\/\/w3id\.org\/cwl\/cwl#/, "");
}
