import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CwlError } from "../errors.ts";

/** Scheme with at least two letters (so no drive letters) that we know; `colon:test.cwl` is a file name. */
const knownScheme = /^(?:file|https?|s3|ftp|data|oci|gs|az|urn|literal):/i;

/** A portable data hash or the id of a collection in Arvados Keep; `keep:notes.txt` is a file name. */
const keepLocator = /^keep:(?:[0-9a-f]{32}\+\d+|[0-9a-z]{5}-4zz18-[0-9a-z]{15})(?:[/+#]|$)/i;

export function hasScheme(reference: string): boolean {
  return knownScheme.test(reference) || keepLocator.test(reference);
}

/** Throws for an address that only another engine can read, before any fetcher is asked for it. */
export function refuseKeep(uri: string): void {
  if (keepLocator.test(uri)) {
    throw new CwlError(
      "unsupported",
      `${uri} lies in Arvados Keep, which is not read here; download it (arv-get) and name the file, or name it by http(s)`,
    );
  }
}

/** URI of a file named on a command line: a path relative to the current directory, or a URI; `#fragment` is kept. */
export function toUri(reference: string, directory = process.cwd()): string {
  if (hasScheme(reference)) {
    return reference;
  }
  const hash = reference.indexOf("#");
  const path = hash === -1 ? reference : reference.slice(0, hash);
  return (
    pathToFileURL(isAbsolute(path) ? path : resolve(directory, path)).href + (hash === -1 ? "" : reference.slice(hash))
  );
}

/** Resolves a URI reference as written in a document, where `%20` is an escape and `#x` a fragment. */
export function resolveReference(reference: string, base: string): string {
  if (hasScheme(reference)) {
    return reference;
  }
  if (reference.startsWith("#")) {
    return withoutFragment(base) + reference;
  }
  // "./" keeps a colon in the first segment from being read as a scheme.
  return new URL(reference.startsWith("/") ? reference : `./${reference}`, base).href;
}

/** Resolves the `path` of a File: a plain path where every character means itself. */
export function resolvePath(path: string, base: string): string {
  if (hasScheme(path)) {
    return path;
  }
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return new URL(path.startsWith("/") ? encoded : `./${encoded}`, base).href;
}

export function withoutFragment(uri: string): string {
  const hash = uri.indexOf("#");
  return hash === -1 ? uri : uri.slice(0, hash);
}

/** The fragment without `#`; empty when there is none. */
export function fragmentOf(uri: string): string {
  const hash = uri.indexOf("#");
  return hash === -1 ? "" : uri.slice(hash + 1);
}

/** The short name of an identifier: what follows the last `#` and the last `/` after it. */
export function shortName(id: string): string {
  const hash = id.lastIndexOf("#");
  const tail = hash === -1 ? id : id.slice(hash + 1);
  return tail.slice(tail.lastIndexOf("/") + 1);
}

/** Local path of a file URI; undefined for any other scheme. */
export function filePath(uri: string): string | undefined {
  if (!/^file:/i.test(uri)) {
    return undefined;
  }
  try {
    return fileURLToPath(withoutFragment(uri));
  } catch (error) {
    throw new CwlError("reference", `${uri} names no file of this machine`, { cause: error });
  }
}

export function fileUri(path: string): string {
  return pathToFileURL(path).href;
}
