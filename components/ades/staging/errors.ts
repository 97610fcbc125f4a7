/** Why staging failed: `source` the source or what it says, `access` not allowed, `limit` too much, `output` the job's own results, `target` the object store. */
export type StagingErrorCode = "source" | "access" | "limit" | "output" | "target";

/** A failure that the owner of the job may read: which address, what was wrong, what to do. Holds no secrets. */
export class StagingError extends Error {
  override readonly name = "StagingError";
  readonly code: StagingErrorCode;
  /** The address or path at fault, without its query values and credentials. */
  readonly where: string;
  /** Whether the same call may succeed later. */
  readonly temporary: boolean;

  constructor(
    code: StagingErrorCode,
    where: string,
    problem: string,
    { temporary = false, cause }: { readonly temporary?: boolean; readonly cause?: unknown } = {},
  ) {
    super(`${where}: ${problem}`, { cause });
    this.code = code;
    this.where = where;
    this.temporary = temporary;
  }
}
