import { isObject } from "../model/values.ts";
import type { ValueObject } from "../model/values.ts";
import type { LoadedDocument } from "../load/load.ts";
import { baseOf } from "../load/origin.ts";
import { resolveReference, withoutFragment } from "../load/uri.ts";

/**
 * The document as a File, with all that it is made of as secondary files, as the reference runner prints it: what it runs, imports
 * and includes, its ontologies, and the files that it names itself (defaults, files of the working directory).
 */
export async function dependenciesOf(document: LoadedDocument): Promise<ValueObject> {
  const location = withoutFragment(document.uri);
  const { store } = document;
  const named = new Map<string, string>();
  for (const uri of store?.loaded() ?? []) {
    collectNamed((await store?.load(uri))?.root, uri, named);
  }
  const others: ValueObject[] = [...new Set([...(store?.read() ?? []), ...document.schemas])]
    .filter((uri) => uri !== location && !named.has(uri))
    .map((uri) => ({ class: "File", location: uri }));
  for (const [uri, kind] of named) {
    others.push({ class: kind, location: uri });
  }
  const format = "https://www.iana.org/assignments/media-types/application/cwl";
  return { class: "File", location, format, ...(others.length === 0 ? {} : { secondaryFiles: others }) };
}

function collectNamed(value: unknown, base: string, named: Map<string, string>): void {
  if (Array.isArray(value)) {
    value.forEach((item) => collectNamed(item, base, named));
    return;
  }
  if (!isObject(value)) {
    return;
  }
  const own = baseOf(value) ?? base;
  const { class: kind, location, path } = value;
  const reference = location ?? path;
  if ((kind === "File" || kind === "Directory") && typeof reference === "string" && !/\$[({]/.test(reference)) {
    named.set(resolveReference(reference, own), kind);
  }
  Object.values(value).forEach((item) => collectNamed(item, own, named));
}
