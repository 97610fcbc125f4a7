import { OgcError } from "../errors.ts";
import type { SourceAccess } from "../staging/types.ts";
import { PACKAGE_ADDRESS, isRemote } from "./bundle.ts";
import { fetchPackage } from "./fetch-package.ts";
import { MAX_ONTOLOGY_BYTES, type PackageReader } from "./package-reader.ts";
import type { CheckedPackage } from "./package-work-types.ts";

/** Ontologies that a package may name; with more it is another kind of document. */
const MAX_ONTOLOGIES = 10;
/** Milliseconds for fetching all of them. */
const MAX_FETCH_MS = 60_000;

interface Ontologies {
  /** What of each the formats of the package need, by address. */
  readonly references: Readonly<Record<string, string>>;
  /** Why one could not be had, by address. */
  readonly missing: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/**
 * Fetches the ontologies that formats of a package's inputs may be related by, as the documents that it refers to, and keeps the
 * part that these formats need. A package is good without one: files that have exactly the format asked for pass.
 * @throws {OgcError} 429 and 503 where too many packages wait to be read
 */
export async function fetchOntologies(
  packages: PackageReader,
  owner: string,
  { ontologies, formats }: CheckedPackage,
  { dataFolder, access }: { readonly dataFolder: string; readonly access: SourceAccess },
): Promise<Ontologies> {
  const references: Record<string, string> = {};
  const missing: Record<string, string> = {};
  const until = Date.now() + MAX_FETCH_MS;
  // One after the other: each may be sixteen megabytes.
  for (const [index, uri] of ontologies.entries()) {
    try {
      refuseUnfetchable(uri, index);
      const text = await fetchPackage(uri, dataFolder, access, {
        milliseconds: until - Date.now(),
        maxBytes: MAX_ONTOLOGY_BYTES,
        what: "ontology",
      });
      references[uri] = await packages.read("reduceOntology", owner, { text, formats });
    } catch (error) {
      if (error instanceof OgcError && error.status !== 400) {
        throw error;
      }
      missing[uri] = (error instanceof Error ? error.message : String(error)).replaceAll(
        PACKAGE_ADDRESS,
        "the package",
      );
    }
  }
  const inside = new URL(".", PACKAGE_ADDRESS).href;
  const warnings = Object.entries(missing).map(
    ([uri, why]) =>
      `The ontology ${uri.replace(inside, "")} of $schemas is not there: ${why.replace(/\.$/, "")}. ` +
      "Files of another format than an input names are refused, also where it is a kind of that.",
  );
  return { references, missing, warnings };
}

function refuseUnfetchable(uri: string, index: number): void {
  if (index >= MAX_ONTOLOGIES) {
    throw new Error(`more than ${MAX_ONTOLOGIES} ontologies are named`);
  }
  if (!isRemote(uri)) {
    throw new Error(
      uri.startsWith(new URL(".", PACKAGE_ADDRESS).href)
        ? "it is named relative to the package, which was sent without an address; name it by its own address"
        : "only addresses with http and https are fetched",
    );
  }
}
