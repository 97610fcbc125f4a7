import { Problem } from "@swath/service";

/** What is wrong with a request for a coverage: a code of WCS 2.0, and a problem of 400 for anybody else. */
export class CoverageError extends Problem {
  readonly code: string;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(400, message, options);
    this.code = code;
  }
}
