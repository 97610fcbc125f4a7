import { UNAVAILABLE_DETAIL, isUnavailable } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

/** What the identity service answered; handed on with its status and JSON, as existing clients expect. */
export class IdentityApiError extends Error {
  override readonly name = "IdentityAnswerError";
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`the identity service answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

interface ValidationItem {
  readonly instancePath: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Errors in the shapes of the known identity API: `{"error": …}`, 422 for a wrong body, 400 for none. */
export function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof IdentityApiError) {
    void reply
      .code(error.status)
      .type("application/json")
      .send(error.body ?? { error: error.message });
    return;
  }
  if ("validation" in error && Array.isArray(error.validation)) {
    const missing = request.body === undefined || request.body === null;
    void reply.code(missing ? 400 : 422).send({
      error: (error.validation as readonly ValidationItem[]).map(({ instancePath, message, params }) => ({
        loc: ["body", ...instancePath.split("/").filter((part) => part !== "")],
        msg: message ?? "is not valid",
        ...params,
      })),
    });
    return;
  }
  if (isUnavailable(error)) {
    request.log.error({ err: error }, "request failed");
    void reply.code(503).header("retry-after", "1").send({ error: UNAVAILABLE_DETAIL, requestId: request.id });
    return;
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  if (status >= 500) {
    request.log.error({ err: error }, "request failed");
    void reply.code(500).send({ error: "Internal Server Error", requestId: request.id });
    return;
  }
  void reply.code(status).send({ error: error.message });
}
