import type { FastifyInstance, FastifyRequest } from "fastify";

import { OgcError } from "../errors.ts";

/** Parameters that every request of this face may have. */
const EVERYWHERE = ["f"];

/** Answers 400 to parameters that a request does not have (OGC 18-062r2 /req/core/query-param-unknown; OGC 19-072 §7.8). */
export function refuseUnknownParameters(scope: FastifyInstance): void {
  scope.addHook("preHandler", (request, _reply, done) => {
    const known = [...new Set([...EVERYWHERE, ...knownParameters(request)])];
    const unknown = Object.keys(request.query as object).find((name) => !known.includes(name.replace(/\[\]$/, "")));
    done(
      unknown === undefined
        ? undefined
        : new OgcError(
            400,
            "InvalidQueryParameter",
            `There is no parameter ${JSON.stringify(unknown)} here; allowed: ${known.join(", ")}.`,
            { type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/invalid-query-parameter" },
          ),
    );
  });
}

function knownParameters({ routeOptions: { schema } }: FastifyRequest): readonly string[] {
  const { properties = {} } = (schema?.querystring ?? {}) as { readonly properties?: object };
  return Object.keys(properties);
}

/** @throws {OgcError} 400 for members of a body that the request does not have */
export function refuseUnknownMembers(body: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new OgcError(
      400,
      "InvalidParameterValue",
      `${where} has no member ${JSON.stringify(unknown)}; allowed: ${known.join(", ")}.`,
    );
  }
}
