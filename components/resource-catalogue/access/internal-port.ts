import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import { type SecretCheck, readBearer } from "@swath/service";
import type { FastifyInstance } from "fastify";

/** A service of the deployment: as an operator, or as a user that it works for. */
export type InternalCaller = "operator" | { readonly username: string };

/** The catalogue on a port that is not published, for other services of the deployment. */
export interface InternalPort {
  /** Serves the application's routes to those who know a secret. */
  readonly createServer: (app: FastifyInstance) => Server;
  /** Who sends a request that came in there. */
  readonly callerOf: (request: IncomingMessage) => InternalCaller | undefined;
}

interface InternalSecrets {
  /** Knows what operators send as a bearer token. */
  readonly isOperator: SecretCheck;
  /** Knows what services send that read for a user, whom `x-on-behalf-of` names (percent-encoded). */
  readonly isDelegate: SecretCheck;
}

const MAX_USERNAME = 255;

export function createInternalPort({ isOperator, isDelegate }: InternalSecrets): InternalPort {
  const callers = new WeakMap<IncomingMessage, InternalCaller>();
  return {
    createServer: (app) =>
      createServer((request, response) => {
        const token = readBearer(request.headers.authorization);
        if (isOperator(token)) {
          callers.set(request, "operator");
          return app.routing(request, response);
        }
        if (!isDelegate(token)) {
          return refuse(response, 401, "This port is for services of the deployment, which know its secret.");
        }
        const username = readUsername(request);
        if (username === undefined) {
          return refuse(
            response,
            400,
            "X-On-Behalf-Of, the name of the user who is read for, is missing or not valid.",
          );
        }
        if (request.method !== "GET" && request.method !== "HEAD") {
          return refuse(response, 403, "For a user the catalogue is only read here.");
        }
        callers.set(request, { username });
        app.routing(request, response);
      }),
    callerOf: (request) => callers.get(request),
  };
}

function readUsername({ headers: { "x-on-behalf-of": header } }: IncomingMessage): string | undefined {
  try {
    const username = typeof header === "string" ? decodeURIComponent(header) : "";
    return username.length > 0 && username.length <= MAX_USERNAME ? username : undefined;
  } catch {
    return undefined;
  }
}

const TITLES = { 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden" } as const;

function refuse(response: ServerResponse, status: keyof typeof TITLES, detail: string): void {
  const body = { type: "about:blank", title: TITLES[status], status, detail };
  response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify(body));
}
