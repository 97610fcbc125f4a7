import { HELD_DETAIL, Problem, isHeldByOthers, isUnavailable } from "@swath/service";

import { FilterError } from "../query/expression.ts";
import { LoadInProgress } from "../store/load-lock.ts";
import { WriteConflict } from "../store/write-records.ts";
import { XmlError } from "../xml/xml-error.ts";
import { RecordError } from "../model/xml-record.ts";

export type OwsCode =
  | "OperationNotSupported"
  | "OptionNotSupported"
  | "MissingParameterValue"
  | "InvalidParameterValue"
  | "VersionNegotiationFailed"
  | "InvalidUpdateSequence"
  | "NotFound"
  | "TransactionFailed"
  | "NoApplicableCode";

/** HTTP status codes of OWS Common 2.0 (OGC 06-121r9 §8.6). */
const STATUS: Readonly<Record<OwsCode, number>> = {
  OperationNotSupported: 501,
  OptionNotSupported: 501,
  MissingParameterValue: 400,
  InvalidParameterValue: 400,
  VersionNegotiationFailed: 400,
  InvalidUpdateSequence: 400,
  NotFound: 404,
  TransactionFailed: 409,
  NoApplicableCode: 500,
};

/** What is wrong with a request of an OGC web service. */
export class OwsError extends Error {
  override readonly name = "OwsError";
  readonly code: OwsCode;
  /** The parameter at fault. */
  readonly locator: string | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: OwsCode,
    locator: string | undefined,
    message: string,
    { status = STATUS[code], headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.code = code;
    this.locator = locator;
    this.status = status;
    this.headers = headers;
  }
}

/** Any thrown value as one that clients may see; `undefined` for a fault of the service itself. */
export function toOwsError(error: unknown): OwsError | undefined {
  if (error instanceof OwsError) {
    return error;
  }
  if (error instanceof FilterError) {
    return new OwsError("InvalidParameterValue", "constraint", `${capitalize(error.message)}.`);
  }
  if (error instanceof XmlError || error instanceof RecordError) {
    return new OwsError("NoApplicableCode", "body", `The document ${error.message}.`, { status: 400 });
  }
  if (error instanceof WriteConflict) {
    const ids = error.ids.map((id) => JSON.stringify(id)).join(", ");
    const said = {
      exists: "already exists; replace it by csw:Update",
      missing: "does not exist",
      changed: "was changed meanwhile",
      "no-collection": "has no collection any more",
    };
    return new OwsError("TransactionFailed", "identifier", `${ids} ${said[error.reason]}; nothing was changed.`);
  }
  if (error instanceof LoadInProgress || isHeldByOthers(error)) {
    const detail = error instanceof LoadInProgress ? error.message : HELD_DETAIL;
    return new OwsError("NoApplicableCode", undefined, detail, {
      status: 503,
      headers: { "retry-after": "10" },
    });
  }
  if (error instanceof Problem) {
    const code =
      error.status === 404 ? "NotFound" : error.status === 400 ? "InvalidParameterValue" : "NoApplicableCode";
    return new OwsError(code, undefined, error.message, { status: error.status, headers: error.headers });
  }
  if (isUnavailable(error)) {
    return new OwsError(
      "NoApplicableCode",
      undefined,
      "Something that the catalogue needs does not answer; try again in a moment.",
      {
        status: 503,
        headers: { "retry-after": "1" },
      },
    );
  }
  const { statusCode } = error as { statusCode?: number };
  return error instanceof Error && statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new OwsError("NoApplicableCode", undefined, error.message, { status: statusCode })
    : undefined;
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
