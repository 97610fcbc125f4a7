import { OgcError, invalidParameter } from "../errors.ts";
import { PACKAGE_ADDRESS, isBundle, isRemote, writeBundle } from "./bundle.ts";
import { fetchOntologies } from "./fetch-ontologies.ts";
import { fetchPackage } from "./fetch-package.ts";
import { type PackageReader, checkBytes } from "./package-reader.ts";
import type { CheckedPackage } from "./package-work-types.ts";

/** Documents that one package may refer to, at any depth. */
const MAX_DOCUMENTS = 50;
/** Milliseconds for fetching all of them. */
const MAX_FETCH_MS = 60_000;

interface Asked {
  readonly text: string;
  /** Where the package was read; undefined for one that stood in the request. */
  readonly address: string | undefined;
  readonly workflow: string | undefined;
  readonly advice: boolean;
}

/**
 * Checks a package. Documents that it refers to over HTTP (what it runs, imports and includes) are fetched from addresses that the
 * operator lets users reach, without anybody's credentials, and become part of what is stored: later changes there change nothing.
 * @throws {OgcError} 400 for one that cannot be read
 */
export async function checkWithReferences(
  packages: PackageReader,
  owner: string,
  { text, address, workflow, advice }: Asked,
  { dataFolder, allowPrivate }: { readonly dataFolder: string; readonly allowPrivate: readonly string[] },
): Promise<{ readonly checked: CheckedPackage; readonly stored: string }> {
  if (isBundle(text)) {
    throw invalidParameter("The application package is in a form that only the service itself writes.");
  }
  const check = (stored: string) => packages.read("check", owner, { text: stored, workflow, advice });
  const access = { allowPrivate, internal: [], s3: [] };
  const base = address !== undefined && /^https?:/i.test(address) ? address : PACKAGE_ADDRESS;
  const references: Record<string, string> = {};
  const until = Date.now() + MAX_FETCH_MS;
  let bytes = Buffer.byteLength(text);
  let [checked, stored]: [CheckedPackage, string] = [await check(text), text];
  // Relative references of a package that has an address are known once it is read by that.
  for (
    let isFirst = base !== PACKAGE_ADDRESS;
    checked.missing.length > 0 || (isFirst && checked.ontologies.length > 0);
    isFirst = false
  ) {
    // One that was fetched and is too large for the engine is missing still.
    const requested = isFirst ? [] : checked.missing.filter((uri) => isRemote(uri) && !Object.hasOwn(references, uri));
    if (requested.length === 0 && !isFirst) {
      break;
    }
    if (Object.keys(references).length + requested.length > MAX_DOCUMENTS) {
      throw invalidParameter(`The application package refers to more than ${MAX_DOCUMENTS} documents.`);
    }
    await Promise.all(
      requested.map(async (uri) => {
        const document = await fetchPackage(uri, dataFolder, access, { milliseconds: until - Date.now() }).catch(
          (error: unknown) => {
            throw error instanceof OgcError
              ? invalidParameter(`The application package refers to ${uri}. ${error.message}`)
              : error;
          },
        );
        // Before they are put together: many of the largest size are a hundred megabytes.
        bytes += Buffer.byteLength(document);
        checkBytes(bytes);
        references[uri] = document;
      }),
    );
    stored = writeBundle({ text, address: base, references });
    checked = await check(stored);
  }
  if (checked.facts === undefined || checked.ontologies.length === 0) {
    return { checked, stored };
  }
  const ontologies = await fetchOntologies(packages, owner, checked, { dataFolder, access });
  const all = { ...references, ...ontologies.references };
  checkBytes(bytes + Object.values(ontologies.references).reduce((sum, part) => sum + Buffer.byteLength(part), 0));
  return {
    checked: addWarnings(checked, ontologies.warnings),
    stored: writeBundle({ text, address: base, references: all, missing: ontologies.missing }),
  };
}

/** They are problems of the package and, where it is deployed, part of what is known of the process. */
function addWarnings(checked: CheckedPackage, warnings: readonly string[]): CheckedPackage {
  const { facts, problems } = checked;
  if (facts === undefined || warnings.length === 0) {
    return checked;
  }
  return {
    ...checked,
    problems: [...problems, ...warnings.map((message) => ({ severity: "warning" as const, message }))],
    facts: { ...facts, description: { ...facts.description, warnings } },
  };
}
