/** Thrown inside a run when a result has to be made again from files that were removed; the run starts from nothing. */
export class JournalInvalidError extends Error {}
