import { CwlError, messageOf } from "../errors.ts";
import type { RunEventBody } from "../events.ts";
import type { FileGate } from "../files/gate.ts";
import type { FormatRelations } from "../inputs/formats.ts";
import type { Fetcher } from "../load/fetcher.ts";
import { readDocumentText } from "../load/fetcher.ts";
import { filePath } from "../load/uri.ts";

const ontologyLimit = 64 * 1024 * 1024;

/**
 * Reads the ontologies of `$schemas`. As with the reference runner, one that cannot be read is said and does not end the run:
 * formats may be equal, or related by another one.
 * @throws {CwlError} `unsafe` for a file that this run may not see
 */
export async function loadOntologies(
  uris: readonly string[],
  fetcher: Fetcher | undefined,
  gate: FileGate,
  emit: (event: RunEventBody) => void,
): Promise<FormatRelations> {
  const [{ Ontology }, { readOntology }] = await Promise.all([
    import("../inputs/ontology.ts"),
    import("../inputs/read-ontology.ts"),
  ]);
  const ontology = new Ontology();
  const missing: string[] = [];
  for (const uri of uris) {
    const path = filePath(uri);
    if (path !== undefined) {
      gate.admitPath(path, "caller");
    }
    try {
      readOntology(await readDocumentText(uri, { fetcher, limit: ontologyLimit, localFiles: true }), ontology);
    } catch (error) {
      if (error instanceof CwlError && (error.code === "unsafe" || error.code === "cancelled")) {
        throw error;
      }
      missing.push(path ?? uri);
      emit({
        type: "step-log",
        step: "",
        text: `Formats are compared without the ontology ${path ?? uri}: ${messageOf(error)}\n`,
      });
    }
  }
  return { ontology, missing };
}
