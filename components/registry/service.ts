import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import { Problem, drainBody, isUnavailable, noteRoute } from "@swath/service";

import { addressOf, findCaller } from "./access/caller.ts";
import { issueToken } from "./access/token-endpoint.ts";
import { RegistryError, renderError } from "./errors.ts";
import { type RegistryDeps, sendJson } from "./operations/operation.ts";
import { findOperation, listRegistryRoutes } from "./operations/table.ts";
import { QuotaError } from "./store/projects.ts";
import { tellQuotaExceeded } from "./store/webhooks.ts";
import { parseRoute } from "./protocol/route.ts";

/** What takes every request that is not of the distribution API. */
type Fallback = (message: IncomingMessage, response: ServerResponse) => void;

/**
 * The registry's server: `/v2/` by streams, `/service/token`, and the rest (REST API, pages) by `fallback`. Listens on nothing.
 */
export function createRegistryServer(deps: RegistryDeps, fallback: Fallback): Server {
  listRegistryRoutes().forEach(noteRoute);
  noteRoute({ method: "GET", path: "/service/token" });
  noteRoute({ method: "POST", path: "/service/token" });
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 32 << 10,
  });
  server.on("request", (message, response) => {
    const target = message.url ?? "/";
    const mark = target.indexOf("?");
    const path = mark < 0 ? target : target.slice(0, mark);
    if (path !== "/v2" && !path.startsWith("/v2/") && path !== "/service/token") {
      fallback(message, response);
      return;
    }
    const query = new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1));
    perform(deps, message, response, { path, query }).catch((error: unknown) => {
      sendError(deps, error, message, response);
    });
  });
  return server;
}

async function perform(
  deps: RegistryDeps,
  message: IncomingMessage,
  response: ServerResponse,
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
): Promise<void> {
  const { method = "GET" } = message;
  if (path === "/service/token") {
    response.setHeader("cache-control", "no-store");
    sendJson(response, await issueToken(deps.access, message, query));
    return;
  }
  response.setHeader("docker-distribution-api-version", "registry/2.0");
  const route = parseRoute(path);
  const operation = findOperation(route, method);
  const caller = await findCaller(deps.access, message);
  await operation.run({ deps, message, response, method, path, query, caller });
  // What an upload left is not content yet.
  if (method === "DELETE" && route.kind !== "upload" && response.statusCode < 400) {
    const action = `DELETE ${route.kind}`;
    deps.database.audit.note({ action, actor: caller.name, target: path, ip: addressOf(message) });
  }
}

function sendError(deps: RegistryDeps, error: unknown, message: IncomingMessage, response: ServerResponse): void {
  const known = toRegistryError(error);
  if (known.status >= 500 && !response.destroyed) {
    deps.logger.error({ err: error, method: message.method, path: message.url?.split("?", 1)[0] }, "request failed");
  }
  if (error instanceof QuotaError) {
    tellQuotaExceeded(deps.database, error.projectId, error.message).catch((failure: unknown) =>
      deps.logger.error({ err: failure }, "a webhook was not told of a quota"),
    );
  }
  if (response.headersSent) {
    // The status cannot be taken back; an answer that ends early is seen by its length.
    response.destroy();
    return;
  }
  const body = renderError(known);
  response.writeHead(known.status, {
    ...known.headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(message.method === "HEAD" ? undefined : body);
  drainBody(message);
}

function toRegistryError(error: unknown): RegistryError {
  if (error instanceof RegistryError) {
    return error;
  }
  if (error instanceof Problem && (error.status === 429 || error.status === 503)) {
    // Limits of callers are those that all services share.
    const code = error.status === 429 ? "TOOMANYREQUESTS" : "UNAVAILABLE";
    return new RegistryError(code, error.message, { headers: error.headers });
  }
  if (isUnavailable(error)) {
    return new RegistryError("UNAVAILABLE", "A dependency is temporarily unavailable; try again in a moment.", {
      headers: { "retry-after": "1" },
      cause: error,
    });
  }
  if ((error as { code?: string }).code === "ENOSPC") {
    return new RegistryError("DENIED", "The registry's storage is full; delete something first.", {
      status: 507,
      cause: error,
    });
  }
  return new RegistryError("UNKNOWN", "The registry failed to handle this request; its log has the cause.", {
    cause: error,
  });
}
