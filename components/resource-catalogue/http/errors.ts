import { Problem } from "@swath/service";
import type { StacIssue } from "@swath/stac/schema";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

import { FilterError } from "../query/expression.ts";
import { LoadInProgress } from "../store/load-lock.ts";
import { WriteConflict } from "../store/write-records.ts";

/** A document that is refused, with everything that is wrong with it. */
export function invalidDocument(what: string, issues: readonly StacIssue[]): Problem {
  const shown = issues.map(({ path, rule }) => `${path === "" ? what : path} ${rule}`).join("; ");
  return problem(400, "InvalidDocument", `${what} is not valid: ${shown}.`, { errors: issues });
}

/** Problem details (RFC 9457) that also have the members of STAC's errors: `code` and `description`. */
export function problem(
  status: number,
  code: string,
  description: string,
  extensions: Readonly<Record<string, unknown>> = {},
): Problem {
  return new Problem(status, description, { extensions: { code, description, ...extensions } });
}

/** Longer names are not repeated whole. */
const MAX_NAMED = 600;

export const notFound = (what: string): Problem =>
  problem(
    404,
    "NotFound",
    `${what.length > MAX_NAMED ? `${what.slice(0, MAX_NAMED)}…` : what} does not exist, or is not yours to see.`,
  );

export const badParameter = (name: string, rule: string): Problem =>
  problem(400, "InvalidParameterValue", `The parameter ${name} ${rule}.`);

/** The error handler of the JSON interfaces; what it does not know goes on to the application's. */
export function handleError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toKnown(error);
  if (known === undefined) {
    throw error;
  }
  void reply
    .code(known.status)
    .headers(known.headers)
    .type("application/problem+json")
    .send(JSON.stringify({ ...known.body, instance: request.url, requestId: request.id }));
}

function toKnown(error: FastifyError | Error): Problem | undefined {
  if (error instanceof Problem) {
    return "code" in error.body ? error : withCode(error);
  }
  if (error instanceof FilterError) {
    return problem(400, "InvalidParameterValue", `${capitalize(error.message)}.`);
  }
  if (error instanceof WriteConflict) {
    return toConflict(error);
  }
  if (error instanceof LoadInProgress) {
    return withCode(new Problem(503, error.message, { headers: { "retry-after": "10" }, cause: error }));
  }
  if ("statusCode" in error && error.statusCode !== undefined && error.statusCode < 500) {
    const code = error.statusCode === 413 ? "TooLarge" : "BadRequest";
    return problem(error.statusCode, code, error.message);
  }
  return undefined;
}

const withCode = ({ status, message, headers, body }: Problem): Problem =>
  new Problem(status, message, {
    headers,
    extensions: { ...body, code: body.title.replaceAll(" ", ""), description: message },
  });

function toConflict({ reason, ids }: WriteConflict): Problem {
  const named = ids.map((id) => JSON.stringify(id)).join(", ");
  switch (reason) {
    case "exists":
      return problem(409, "Conflict", `${named} already exists; replace it with PUT.`);
    case "missing":
      return problem(404, "NotFound", `${named} does not exist; create it with POST.`);
    case "changed":
      return problem(
        412,
        "PreconditionFailed",
        `${named} is not of the version that If-Match names any more; read it again.`,
      );
    case "no-collection":
      return problem(404, "NotFound", "The collection does not exist any more.");
  }
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
