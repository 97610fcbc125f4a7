import { CwlError } from "@swath/cwl";

import { OgcError } from "../errors.ts";
import { PACKAGE_ADDRESS } from "../packages/bundle.ts";
import { StagingError } from "../staging/errors.ts";
import type { JobFailure } from "../store/tables.ts";

const MAX_TAIL = 2000;

/** Why a job failed, for a scientist: the step, its exit code, the last lines of its log. */
export function explain(error: unknown): string {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return (
      "The disk of the processing service is full: the inputs and results of the job did not fit. " +
      "Ask for less at once, or ask the operator for more room."
    );
  }
  if (error instanceof CwlError) {
    const where = error.step === undefined || error.step === "" ? "" : `Step ${error.step}: `;
    const tail = error.logTail?.trim() ?? "";
    // The engine's own message may end with the same lines.
    const isTold = tail === "" || error.message.includes(tail.slice(-200));
    return `${where}${error.message}${isTold ? "" : `\nLast lines of its log:\n${tail.slice(-MAX_TAIL)}`}`;
  }
  if (error instanceof StagingError || error instanceof OgcError) {
    return error.message;
  }
  const { name = "", $metadata } = error as { readonly name?: string; readonly $metadata?: object };
  if ($metadata !== undefined || name === "TimeoutError") {
    return (
      "The object storage was not there for longer than a job waits for it " +
      `(${error instanceof Error ? error.message : String(error)}). Send the job again later, or tell the operator.`
    );
  }
  return `The job could not be carried out: ${error instanceof Error ? error.message : String(error)}`;
}

/** A message without addresses that mean something inside of the service alone: of the package, and of the job's folder. */
export const withoutPlaces = (message: string, folder: string): string =>
  message
    .replaceAll(PACKAGE_ADDRESS, "the package")
    .replaceAll(`file://${folder}`, folder)
    .replaceAll(`${folder}/`, "")
    .replaceAll(folder, "the job's folder");

/** Whose fault it was: of the inputs, which the client can mend, or of what happened here. */
export function classify(error: unknown): JobFailure {
  const isOfInputs =
    (error instanceof CwlError && error.code === "invalid-inputs") ||
    (error instanceof StagingError && ["source", "access", "limit"].includes(error.code) && !error.temporary) ||
    (error instanceof OgcError && error.status < 500);
  return isOfInputs ? { status: 400, title: "InvalidParameterValue" } : { status: 500, title: "JobFailed" };
}

function codeOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && (cause.code === "ENOSPC" || cause.code === "EDQUOT")) {
      return cause.code;
    }
  }
  return undefined;
}
