import type { FastifyInstance } from "fastify";

import { OgcError } from "../errors.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Methods of each path that is added from now on. */
export function listMethods(scope: FastifyInstance): ReadonlyMap<string, ReadonlySet<string>> {
  const methods = new Map<string, Set<string>>();
  scope.addHook("onRoute", ({ url, method }) => {
    methods.set(url, new Set([...(methods.get(url) ?? []), ...[method].flat()]));
  });
  return methods;
}

/** Answers 405 where there is something, but not by that method (OGC 18-062r2 /req/core/http). */
export function refuseOtherMethods(scope: FastifyInstance, methods: ReadonlyMap<string, ReadonlySet<string>>): void {
  // What is added here is no method of the paths.
  const paths = new Map(methods);
  for (const [url, known] of paths) {
    const allowed = [...known].join(", ");
    scope.route({
      method: METHODS.filter((method) => !known.has(method)),
      url,
      schema: { hide: true },
      onRequest: ({ method }) => {
        throw new OgcError(405, "MethodNotAllowed", `${method} is not possible here; allowed: ${allowed}.`, {
          headers: { allow: allowed },
        });
      },
      // Never reached; a body is not read either.
      handler: () => undefined,
    });
  }
}
