import { Problem } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

/**
 * Errors as existing clients of workspace APIs read them: `detail` is a text, `{"error": …}`, or the list of what is wrong with
 * the request. The other members are those of problem details (RFC 9457), with `message` for people.
 */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly status: number;
  readonly detail: unknown;

  constructor(status: number, message: string, detail: unknown = message) {
    super(message);
    this.status = status;
    this.detail = detail;
  }
}

/** Also for workspaces that exist and are none of the caller's business. */
export function notFound(name: string): WorkspaceError {
  return new WorkspaceError(404, `There is no workspace ${name} that you may use.`, "Not Found");
}

interface ValidationItem {
  readonly instancePath: string;
  readonly message?: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The error handler of the API's routes; what it does not know goes on to the application's. */
export function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toWorkspaceError(error);
  if (known === undefined) {
    throw error;
  }
  const { status, detail, message } = known;
  void reply
    .code(status)
    .type("application/json")
    .send({
      type: "about:blank",
      title: status === 422 ? "Unprocessable Entity" : message,
      status,
      detail,
      message,
      instance: request.url,
      requestId: request.id,
    });
}

function toWorkspaceError(error: FastifyError | Error): WorkspaceError | undefined {
  if (error instanceof WorkspaceError) {
    return error;
  }
  if (error instanceof Problem) {
    return undefined;
  }
  if ("validation" in error && Array.isArray(error.validation)) {
    const where = String(error.validationContext ?? "body");
    const items = (error.validation as readonly ValidationItem[]).map((item) => toItem(where, item));
    return new WorkspaceError(
      422,
      `The request is not valid: ${items.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join("; ")}.`,
      items,
    );
  }
  if ("code" in error && error.code === "FST_ERR_CTP_INVALID_JSON_BODY") {
    const item = { loc: ["body"], msg: "is not JSON", type: "value_error.jsondecode" };
    return new WorkspaceError(422, "The body of the request is not JSON.", [item]);
  }
  return undefined;
}

function toItem(where: string, { instancePath, message, keyword, params }: ValidationItem) {
  const missing = keyword === "required" ? [String(params["missingProperty"])] : [];
  const extra = keyword === "additionalProperties" ? [String(params["additionalProperty"])] : [];
  return {
    loc: [where, ...instancePath.split("/").filter((part) => part !== ""), ...missing, ...extra],
    msg:
      missing.length > 0
        ? "field required"
        : extra.length > 0
          ? "is not a field that this request may have"
          : (message ?? "is not valid"),
    type: missing.length > 0 ? "value_error.missing" : `value_error.${keyword}`,
    ctx: params,
  };
}
