import { CwlError } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { checkDocument } from "../load/load.ts";
import type { LoadedDocument } from "../load/load.ts";
import type { LoadOptions } from "../load/store.ts";

/** Everything that is wrong or doubtful in a document. */
export interface ValidationReport {
  /** No problem is an error: the document can be run. */
  readonly valid: boolean;
  readonly problems: readonly Problem[];
  /** There when valid. */
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
    const { document, problems } = await checkDocument(reference, options);
    if (document === undefined || options.applicationPackage !== true) {
      return { valid: document !== undefined, problems, document };
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
