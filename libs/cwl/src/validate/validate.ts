import { CwlError } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { checkDocuments } from "../load/load.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { LoadOptions } from "../load/store.ts";
import { findUnsupported } from "../run/supported.ts";
import { checkJavascript } from "./javascript.ts";

/** Everything that is wrong or doubtful in a document. */
export interface ValidationReport {
  /** No problem is an error: the document can be run. */
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  /** There when valid: the process that is meant, or the first of a file that does not say. */
  readonly document: LoadedDocument | undefined;
}

/**
 * Checks a document without running it. Never throws for what is wrong with it. `applicationPackage` adds advice from
 * the best practice for Earth-observation application packages.
 */
export async function validateDocument(
  reference: string,
  options: LoadOptions & { readonly text?: string | undefined; readonly applicationPackage?: boolean | undefined } = {},
): Promise<ValidationReport> {
  try {
    const checked = await checkDocuments(reference, options);
    const [document] = checked.map((item) => item.document);
    const problems = checked.flatMap((item) => item.problems);
    for (const item of checked) {
      const process = item.document?.process;
      problems.push(
        ...(process === undefined ? [] : [...(await checkJavascript(process)), ...findUnsupported(process)]),
      );
    }
    if (document === undefined || problems.some((problem) => problem.severity === "error")) {
      return { valid: false, problems, document: undefined };
    }
    if (options.applicationPackage !== true) {
      return { valid: true, problems, document };
    }
    const { lintApplicationPackage } = await import("./lint-eo.ts");
    return { valid: true, problems: [...problems, ...lintApplicationPackage(document)], document };
  } catch (error) {
    if (error instanceof CwlError) {
      return { valid: false, problems: error.problems, document: undefined };
    }
    throw error;
  }
}
