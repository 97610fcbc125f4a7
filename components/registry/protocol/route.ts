import { RegistryError } from "../errors.ts";
import { checkRepositoryName } from "./names.ts";

/** What a path below `/v2/` names. */
export type Route =
  | { readonly kind: "base" }
  | { readonly kind: "catalog" }
  | { readonly kind: "tags" | "uploads"; readonly name: string }
  | { readonly kind: "manifest"; readonly name: string; readonly reference: string }
  | { readonly kind: "blob" | "referrers"; readonly name: string; readonly digest: string }
  | { readonly kind: "upload"; readonly name: string; readonly id: string };

const MAX_PATH_CHARACTERS = 2048;
const UPLOADS = /^(.+)\/blobs\/uploads\/?$/;
const LEAF = /^(.+)\/(manifests|blobs\/uploads|blobs|referrers)\/([^/]+)$/;
const TAGS = /^(.+)\/tags\/list$/;

/** @throws {RegistryError} for a path that names nothing */
export function parseRoute(path: string): Route {
  const rest = decodePath(path).replace(/^\/v2\/?/, "");
  if (rest === "") {
    return { kind: "base" };
  }
  if (rest === "_catalog") {
    return { kind: "catalog" };
  }
  const route = findRoute(rest);
  if (route === undefined) {
    throw new RegistryError("UNSUPPORTED", "There is nothing at this path.", { status: 404 });
  }
  if ("name" in route) {
    checkRepositoryName(route.name);
  }
  return route;
}

function findRoute(rest: string): Route | undefined {
  const uploads = UPLOADS.exec(rest)?.[1];
  if (uploads !== undefined) {
    return { kind: "uploads", name: uploads };
  }
  const tags = TAGS.exec(rest)?.[1];
  if (tags !== undefined) {
    return { kind: "tags", name: tags };
  }
  const [, name = "", kind, last = ""] = LEAF.exec(rest) ?? [];
  switch (kind) {
    case "manifests":
      return { kind: "manifest", name, reference: last };
    case "blobs/uploads":
      return { kind: "upload", name, id: last };
    case "blobs":
      return { kind: "blob", name, digest: last };
    case "referrers":
      return { kind: "referrers", name, digest: last };
    default:
      return undefined;
  }
}

/** Decodes once: some clients encode the colon of a digest. Names are checked after it, so nothing is smuggled in. */
function decodePath(path: string): string {
  if (path.length > MAX_PATH_CHARACTERS) {
    throw new RegistryError("NAME_INVALID", `The path is longer than ${MAX_PATH_CHARACTERS} characters.`);
  }
  if (!path.includes("%")) {
    return path;
  }
  try {
    return decodeURIComponent(path);
  } catch {
    throw new RegistryError("NAME_INVALID", "The path is not valid percent-encoding.");
  }
}
