import type { IncomingMessage, Server, ServerResponse } from "node:http";

import { Histogram, type Registry } from "prom-client";

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Measures every request of a service's listeners: `http_request_seconds` by listener, method and class of status. Paths are in the
 * request log and not here: they have names of people and jobs in them, without end.
 */
export function measureRequests(servers: Readonly<Record<string, Server>>, metrics: Registry): void {
  const seconds = new Histogram({
    name: "http_request_seconds",
    help: "Time from a request's head to the end of its answer",
    labelNames: ["port", "method", "status"],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60],
    registers: [metrics],
  });
  for (const [port, server] of Object.entries(servers)) {
    server.prependListener("request", ({ method = "" }: IncomingMessage, response: ServerResponse) => {
      const started = performance.now();
      response.once("close", () => {
        // An answer that was not finished is one that the client did not wait for, or that broke.
        const status = response.writableFinished ? `${Math.floor(response.statusCode / 100)}xx` : "aborted";
        seconds.observe(
          { port, method: METHODS.has(method) ? method : "other", status },
          (performance.now() - started) / 1000,
        );
      });
    });
  }
}
