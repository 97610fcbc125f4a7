/** What a bill of materials names, as far as a page shows it. */
export interface Sbom {
  readonly format: "SPDX" | "CycloneDX";
  /** All; `packages` are the first of them. */
  readonly total: number;
  readonly packages: readonly SbomPackage[];
}

interface SbomPackage {
  readonly name: string;
  readonly version: string | null;
  readonly license: string | null;
}

export const SBOM_TYPE = /spdx|cyclonedx/i;
const MAX_PACKAGES = 1000;
const MAX_CHARACTERS = 300;

/** Reads a bill of materials in SPDX 2 or CycloneDX JSON; undefined for any other document. */
export function readSbom(content: Buffer): Sbom | undefined {
  let document: Readonly<Record<string, unknown>> | null;
  try {
    document = JSON.parse(content.toString("utf8")) as typeof document;
  } catch {
    return undefined;
  }
  if (typeof document?.["spdxVersion"] === "string") {
    return toSbom("SPDX", document["packages"], ({ name, versionInfo, licenseConcluded, licenseDeclared }) => ({
      name: toText(name) ?? "",
      version: toText(versionInfo),
      license: [toText(licenseConcluded), toText(licenseDeclared)].find((each) => each !== "NOASSERTION") ?? null,
    }));
  }
  if (document?.["bomFormat"] === "CycloneDX") {
    return toSbom("CycloneDX", document["components"], ({ name, version, licenses }) => ({
      name: toText(name) ?? "",
      version: toText(version),
      license: toLicenses(licenses),
    }));
  }
  return undefined;
}

function toSbom(
  format: Sbom["format"],
  value: unknown,
  read: (entry: Readonly<Record<string, unknown>>) => SbomPackage,
): Sbom {
  const entries = (Array.isArray(value) ? (value as readonly unknown[]) : []).filter(
    (entry): entry is Readonly<Record<string, unknown>> => typeof entry === "object" && entry !== null,
  );
  return { format, total: entries.length, packages: entries.slice(0, MAX_PACKAGES).map(read) };
}

const toText = (value: unknown): string | null => (typeof value === "string" ? value.slice(0, MAX_CHARACTERS) : null);

function toLicenses(value: unknown): string | null {
  const found = (Array.isArray(value) ? (value as readonly unknown[]) : []).flatMap((entry) => {
    const { expression, license } = (entry ?? {}) as {
      expression?: unknown;
      license?: { id?: unknown; name?: unknown };
    };
    return toText(expression) ?? toText(license?.id) ?? toText(license?.name) ?? [];
  });
  return found.length === 0 ? null : found.join(", ").slice(0, MAX_CHARACTERS);
}
