import { PAGE_SECURITY } from "@swath/pages";
import { toProblem } from "@swath/service";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { OgcError, invalidParameter, unsupportedMediaType } from "../errors.ts";
import { PACKAGE_TYPES } from "../packages/media-types.ts";
import { errorPage } from "../pages/error-page.ts";
import { formOf } from "./answer.ts";

/** The error handler of the service: problem details, or a page for somebody in a browser. */
export function sendError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = describe(error, request);
  if (status >= 500 && !(error instanceof OgcError)) {
    request.log.error({ err: error }, "request failed");
  }
  void reply.code(status).headers(headers).header("vary", "Accept, Origin");
  if (wantsPage(request)) {
    return reply
      .headers({ ...PAGE_SECURITY, "cache-control": "no-store" })
      .type("text/html; charset=utf-8")
      .send(errorPage(body));
  }
  return reply.type(problemType(request.headers.accept)).send(JSON.stringify(body));
}

interface Described {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly title: string; readonly detail?: string; readonly [name: string]: unknown };
}

function describe(error: FastifyError | Error, request: FastifyRequest): Described {
  const known = toOgcError(error, request);
  const { url: instance, id: requestId } = request;
  if (known === undefined) {
    const { status, headers, body } = toProblem(error);
    return { status, headers, body: { ...body, instance, requestId } };
  }
  const { status, headers, type, title, message: detail, extensions } = known;
  return { status, headers, body: { type, title, status, detail, instance, ...extensions } };
}

function toOgcError(error: FastifyError | Error, request: FastifyRequest): OgcError | undefined {
  if (error instanceof OgcError) {
    return error;
  }
  const code = "code" in error ? error.code : "";
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return unsupportedMediaType(request.headers["content-type"] ?? "", PACKAGE_TYPES);
  }
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new OgcError(
      413,
      "RequestTooLarge",
      "The body is larger than the 10 MiB allowed; refer to large inputs by href.",
    );
  }
  if (code === "FST_ERR_CTP_JSON_LIMIT" && "statusCode" in error && error.statusCode === 413) {
    return new OgcError(413, "RequestTooLarge", error.message);
  }
  return code.startsWith("FST_ERR_CTP") ? invalidParameter(error.message) : undefined;
}

function wantsPage(request: FastifyRequest): boolean {
  try {
    return formOf(request) === "html";
  } catch {
    // What is wrong is the form that was asked for.
    return false;
  }
}

/** Problem details say so, except to a client that accepts JSON by that name alone. */
function problemType(accept = ""): string {
  return accept.includes("application/json") && !/application\/(problem\+json|\*)|\*\/\*/.test(accept)
    ? "application/json"
    : "application/problem+json";
}
