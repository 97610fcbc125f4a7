import { invalidParameter } from "../errors.ts";

/** What is wrong with an input of a request, and where: `inputs.bands[1]`. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

/** Problems that are reported: nobody reads more, and putting a hundred thousand together stalls the service. */
const MAX_PROBLEMS = 100;
/** Values of one list of an input. More belong into a file. */
export const MAX_ITEMS = 50_000;

/** Collects what is wrong with inputs, up to what is reported. */
export class InputProblems {
  readonly found: InputProblem[] = [];
  readonly #isTrial: boolean;

  /** @param isTrial whether other readings of the inputs are tried after this one: it refuses nothing itself */
  constructor(isTrial = false) {
    this.#isTrial = isTrial;
  }

  /** @throws {OgcError} 400 when there are as many as are reported */
  push(problem: InputProblem): void {
    if (this.found.length < MAX_PROBLEMS) {
      this.found.push(problem);
    }
    if (this.found.length >= MAX_PROBLEMS && !this.#isTrial) {
      refuseProblems(this.found);
    }
  }
}

/** @throws {OgcError} 400 with every problem, where there is one */
export function refuseProblems(problems: readonly InputProblem[]): void {
  if (problems.length > 0) {
    const shown = problems.slice(0, MAX_PROBLEMS);
    const list = shown.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw invalidParameter(`The inputs do not fit the process: ${list}.`, shown);
  }
}
