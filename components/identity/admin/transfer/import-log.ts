import type pg from "pg";

import { isDuplicate } from "../../store/database.ts";
import { AdminError, badRequest } from "../errors.ts";

/** Bytes of a document: as many users as one may have, or a realm without its users. */
export const MAX_DOCUMENT_BYTES = 16 << 20;

export type OnConflict = "FAIL" | "SKIP" | "OVERWRITE";

/** What became of one part of a document. */
export interface ImportResult {
  readonly action: "ADDED" | "SKIPPED" | "OVERWRITTEN";
  readonly resourceType: string;
  readonly resourceName: string;
}

/** What of a document is not here now, and why. */
export interface NotImported {
  readonly resourceType: string;
  readonly resourceName: string;
  readonly why: string;
}

interface ImportLogOptions {
  readonly onConflict: OnConflict;
  /** Goes on without what cannot be taken, and lists it; else that is the error of the whole import. */
  readonly isLenient: boolean;
}

/** Notes what an import does, and decides whether it goes on. */
export class ImportLog {
  readonly results: ImportResult[] = [];
  readonly notImported: NotImported[] = [];
  readonly #options: ImportLogOptions;

  constructor(options: ImportLogOptions) {
    this.#options = options;
  }

  /**
   * Notes a part that is added, or that is there already. @returns whether it is to be written
   * @throws {AdminError} 409 for one that is there where conflicts fail
   */
  meet(resourceType: string, resourceName: string, exists: boolean): boolean {
    const { onConflict } = this.#options;
    if (exists && onConflict === "FAIL") {
      throw new AdminError(
        409,
        `${resourceType} ${JSON.stringify(resourceName)} already exists. Use ifResourceExists SKIP or OVERWRITE.`,
      );
    }
    const action = !exists ? "ADDED" : onConflict === "SKIP" ? "SKIPPED" : "OVERWRITTEN";
    this.results.push({ action, resourceType, resourceName });
    return action !== "SKIPPED";
  }

  skip(resourceType: string, resourceName: string): void {
    this.results.push({ action: "SKIPPED", resourceType, resourceName });
  }

  /** Notes what is left out. @throws {AdminError} 400 where the import is not lenient */
  leaveOut(resourceType: string, resourceName: string, why: string): void {
    if (!this.#options.isLenient) {
      throw badRequest(`${resourceType} ${JSON.stringify(resourceName)}: ${why}`);
    }
    this.notImported.push({ resourceType, resourceName, why });
  }

  /** Takes a part of a part, which is read before anything of it is written. */
  async takeInner(resourceType: string, resourceName: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.leaveOut(resourceType, resourceName, whyWrong(error));
    }
  }

  /** Takes one part whole or, where it is wrong and the import is lenient, not at all. */
  async take(db: pg.PoolClient, resourceType: string, resourceName: string, work: () => Promise<void>): Promise<void> {
    if (!this.#options.isLenient) {
      return work();
    }
    const known = this.results.length;
    await db.query("savepoint part");
    try {
      await work();
      await db.query("release savepoint part");
    } catch (error) {
      const why = whyWrong(error);
      await db.query("rollback to savepoint part");
      this.results.splice(known);
      this.leaveOut(resourceType, resourceName, why);
    }
  }
}

/** What is wrong with a document. @throws the error where it is no mistake of the document */
function whyWrong(error: unknown): string {
  if (isDuplicate(error)) {
    return "something else here has its name, id or e-mail address";
  }
  if (error instanceof RangeError || (error instanceof AdminError && error.status < 500)) {
    return error.message;
  }
  throw error;
}
