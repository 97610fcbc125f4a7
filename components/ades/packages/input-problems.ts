import { invalidParameter } from "../errors.ts";

/** What is wrong with an input of a request, and where: `inputs.bands[1]`. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

/** @throws {OgcError} 400 with every problem, where there is one */
export function refuseProblems(problems: readonly InputProblem[]): void {
  if (problems.length > 0) {
    const list = problems.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw invalidParameter(`The inputs do not fit the process: ${list}.`, problems);
  }
}
