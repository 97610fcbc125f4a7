/** A code cell of a notebook that ran; `output` is what it printed, and the text of its value. */
export interface RanCell {
  readonly source: string;
  readonly error: string | null;
  readonly output: string;
}

/**
 * A status that the cell prints at the end of a line, or before what else it says of the answer, or in an answer that it prints: `Landing Page
 * (https://…): 404`, `POST … - 409 - {…}`, `'{"status":404,…'`.
 */
const PRINTED_STATUS = /(?:: | - )([45]\d\d)(?= - |\s*$)|"status": ?[45]\d\d/m;
/** Printed by notebooks of release 2.0 where they check a result themselves. */
const CROSS = "❌";

/** Why a cell failed: its exception, a status of 400 or more that it printed, or the cross that it printed. `undefined` where it passed. */
export function findFailure({ error, output }: RanCell): string | undefined {
  if (error !== null) {
    return error;
  }
  const status = PRINTED_STATUS.exec(output);
  const line = output.split("\n").find((one) => (status === null ? one.includes(CROSS) : PRINTED_STATUS.test(one)));
  return status === null && !output.includes(CROSS) ? undefined : `it printed: ${line ?? ""}`;
}
