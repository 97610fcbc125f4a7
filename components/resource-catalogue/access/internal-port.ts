import { type IncomingMessage, type Server, createServer } from "node:http";

import { type SecretCheck, readBearer } from "@swath/service";
import type { FastifyInstance } from "fastify";

/** The catalogue on a port that is not published, for other services of the deployment. */
export interface InternalPort {
  /** Serves the application's routes to those who know the secret. */
  readonly createServer: (app: FastifyInstance) => Server;
  /** Whether a request came in there: its sender is an operator. */
  readonly isService: (request: IncomingMessage) => boolean;
}

/** @param isSecret knows what callers send as a bearer token */
export function createInternalPort(isSecret: SecretCheck): InternalPort {
  const accepted = new WeakSet<IncomingMessage>();
  return {
    createServer: (app) =>
      createServer((request, response) => {
        if (!isSecret(readBearer(request.headers.authorization))) {
          const body = {
            type: "about:blank",
            title: "Unauthorized",
            status: 401,
            detail: "This port is for services of the deployment, which know its secret.",
          };
          response.writeHead(401, { "content-type": "application/problem+json" }).end(JSON.stringify(body));
          return;
        }
        accepted.add(request);
        app.routing(request, response);
      }),
    isService: (request) => accepted.has(request),
  };
}
