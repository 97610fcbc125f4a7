import { CwlError, type Fetcher } from "@swath/cwl";

/** Address under which a package's text is loaded that has none of its own, or that refers to nothing outside itself. */
export const PACKAGE_ADDRESS = "https://package.invalid/package.cwl";

/** Whether a document can be fetched: not one that a package without an address names relative to itself. */
export const isRemote = (uri: string): boolean =>
  /^https?:/i.test(uri) && !uri.startsWith(new URL(".", PACKAGE_ADDRESS).href);

const MARK = '{"swathPackage":1,';

/** A package with the documents that it refers to, as they were when it was deployed. It is stored as one text. */
export interface Bundle {
  /** The package as it was sent. */
  readonly text: string;
  /** What references in it are relative to. */
  readonly address: string;
  /** Texts of other documents by their addresses; of ontologies the part that formats of the package need. */
  readonly references: Readonly<Record<string, string>>;
  /** Why an ontology could not be had, by its address. */
  readonly missing?: Readonly<Record<string, string>>;
}

export const writeBundle = ({ text, address, references, missing }: Bundle): string =>
  `${MARK}${JSON.stringify({ text, address, references, missing }).slice(1)}`;

/** Whether a text is one that `writeBundle` made; what users send may not be. */
export const isBundle = (stored: string): boolean => stored.startsWith(MARK);

/** A stored text: most packages refer to nothing and are stored as they were sent. */
export function readBundle(stored: string): Bundle {
  if (!isBundle(stored)) {
    return { text: stored, address: PACKAGE_ADDRESS, references: {} };
  }
  const { text, address, references, missing } = JSON.parse(stored) as Bundle;
  return { text, address, references, ...(missing && { missing }) };
}

/** Gives the engine what the bundle holds, and nothing else; `onMissing` hears of what is asked for beside it. */
export function fetcherOf({ references, missing = {} }: Bundle, onMissing: (uri: string) => void = () => {}): Fetcher {
  const refuse = (uri: string): never => {
    onMissing(uri);
    const reason = Object.hasOwn(missing, uri) ? missing[uri] : undefined;
    if (reason !== undefined) {
      throw new CwlError("reference", `when the package was deployed: ${reason}`);
    }
    const inside = new URL(".", PACKAGE_ADDRESS).href;
    throw new CwlError(
      "reference",
      uri.startsWith(inside)
        ? `it refers to ${uri.slice(inside.length)}, which is not in it (give the package by its address, or as \`swath cwl pack\` writes it)`
        : `it refers to ${uri}, which was not there when it was deployed`,
    );
  };
  return {
    readText: async (uri, { limit }) => {
      const text = Object.hasOwn(references, uri) ? references[uri] : undefined;
      return text === undefined || Buffer.byteLength(text) > limit ? refuse(uri) : await Promise.resolve(text);
    },
    download: async (uri) => {
      await Promise.resolve();
      throw new CwlError(
        "reference",
        `${uri} cannot be fetched: what inputs of a job name is fetched, what its package and expressions name is not`,
      );
    },
  };
}
