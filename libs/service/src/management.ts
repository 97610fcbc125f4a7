import { createServer } from "node:http";

import { Registry, collectDefaultMetrics } from "prom-client";

import { type ListenAddress, listen } from "./listen.ts";
import { describeRoutes } from "./route-list.ts";
import { StallMeter } from "./stall-meter.ts";

export interface Management {
  readonly address: ListenAddress;
  /** Metrics of this process; services register their own here. */
  readonly metrics: Registry;
  readonly close: () => Promise<void>;
}

interface ManagementOptions {
  readonly address: ListenAddress;
  /** Resolves when the service can serve; rejects with the reason when it cannot. */
  readonly ready: () => Promise<void>;
  readonly metrics?: Registry;
}

/**
 * The listener that only the cluster reaches, apart from public traffic: `/healthz` (alive), `/readyz` (can serve; 503 with
 * the reason when it cannot), `/metrics` (Prometheus text), `/stall`: the longest stall of the event loop since it was last asked,
 * in milliseconds of processor time, and `/routes`: every operation that the process serves.
 */
export async function startManagement({
  address,
  ready,
  metrics = new Registry(),
}: ManagementOptions): Promise<Management> {
  collectDefaultMetrics({ register: metrics });
  const stalls = new StallMeter();
  const server = createServer((request, response) => {
    const reply = (status: number, type: string, body: string) =>
      response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body);
    const fail = (status: number) => (error: unknown) =>
      reply(status, "text/plain", `${error instanceof Error ? error.message : String(error)}\n`);
    switch (request.url) {
      case "/healthz":
        reply(200, "text/plain", "ok\n");
        break;
      case "/readyz":
        ready().then(() => reply(200, "text/plain", "ok\n"), fail(503));
        break;
      case "/metrics":
        metrics.metrics().then((text) => reply(200, metrics.contentType, text), fail(500));
        break;
      case "/stall":
        reply(200, "text/plain", `${stalls.read().toFixed(1)}\n`);
        break;
      case "/routes":
        reply(200, "application/json", JSON.stringify(describeRoutes()));
        break;
      default:
        reply(404, "text/plain", "only /healthz, /readyz, /metrics, /stall and /routes are here\n");
    }
  });
  return {
    address: await listen(server, address),
    metrics,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
