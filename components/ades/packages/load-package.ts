import { type LoadedDocument, loadDocument, validateDocument } from "@swath/cwl";

import { OgcError, invalidParameter } from "../errors.ts";

/** Name under which a package's text is loaded: it has no folder, and may refer to nothing outside itself. */
const BASE = "package:///package.cwl";

/**
 * Reads and checks an application package.
 * @param workflow which workflow, where the package has several (`w=`, or the fragment of its address)
 * @throws {OgcError} 400 with every mistake, its line and what would be right
 */
export async function checkPackage(text: string, workflow: string | undefined): Promise<LoadedDocument> {
  const reference = workflow === undefined ? BASE : `${BASE}#${workflow}`;
  const { valid, problems, document } = await validateDocument(reference, { text, localFiles: false });
  if (!valid || document === undefined) {
    throw invalidParameter("The application package is not valid.", problems);
  }
  if (document.process.class === "Workflow") {
    return document;
  }
  const workflows = document.entries.filter((entry) => entry.class === "Workflow");
  const [only] = workflows;
  if (workflow !== undefined || workflows.length > 1) {
    throw new OgcError(
      400,
      "InvalidParameterValue",
      `The package has ${workflows.length} workflows; name one with w=<id>: ${workflows.map(({ id }) => id).join(", ")}.`,
    );
  }
  return only === undefined ? document : checkPackage(text, only.id);
}

/** The package of a process that was checked when it was deployed. */
export function loadPackage(text: string, workflow: string): Promise<LoadedDocument> {
  return loadDocument(`${BASE}#${workflow}`, { text, localFiles: false });
}
