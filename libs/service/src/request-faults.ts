import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import { Counter, type Registry } from "prom-client";

import type { Logger } from "./log.ts";
import { drainBody } from "./read-body.ts";

/** Test clusters look for it in the logs of their pods when they are closed. */
const REQUEST_FAULT = "nothing caught this error of a request";

/** What is at work for one client: a request, or a connection of another protocol. */
interface Exchange {
  /** Answers or ends it after an error that nothing caught. */
  readonly fail: (faultId: string) => void;
  readonly about: () => object;
}

const exchanges = new AsyncLocalStorage<Exchange>();

/** Events of a server whose listeners answer a client; with what follows they are one exchange. */
const EVENTS: ReadonlySet<string | symbol> = new Set([
  "request",
  "checkContinue",
  "checkExpectation",
  "upgrade",
  "connect",
]);

/**
 * Keeps an error that no handler caught with the request that it belongs to: the request is answered 500 with an id that is in the log,
 * `request_faults_total` counts it, and the process goes on. Covers what a listener throws and what is rejected or thrown later by what
 * the listener started.
 */
export function containRequestFaults(server: Server, report: (error: unknown) => boolean): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...values: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (!EVENTS.has(event)) {
      return emit(event, ...values);
    }
    const [message, answer] = values as [IncomingMessage, ServerResponse | Duplex];
    const exchange = toExchange(message, answer);
    if (message.method !== "GET" && message.method !== "HEAD") {
      keepWithExchange(message, exchange, report);
    }
    return containFaults(exchange, () => emit(event, ...values), report) ?? true;
  };
}

/** Pieces of a body come from the connection, outside of what the request's listener started. */
function keepWithExchange(message: IncomingMessage, exchange: Exchange, report: (error: unknown) => boolean): void {
  const emit = message.emit.bind(message) as (event: string | symbol, ...values: unknown[]) => boolean;
  message.emit = (event: string | symbol, ...values: unknown[]): boolean =>
    containFaults(exchange, () => emit(event, ...values), report) ?? true;
}

/** Runs what serves one client; errors of it, now and later, go to `report` with this exchange. */
export function containFaults<Result>(
  exchange: Exchange,
  serve: () => Result,
  report: (error: unknown) => boolean,
): Result | undefined {
  return exchanges.run(exchange, () => {
    try {
      return serve();
    } catch (error) {
      report(error);
      return undefined;
    }
  });
}

/**
 * Makes the reporter of faults: it logs and counts an error that nothing caught and ends the exchange that it belongs to. False when it
 * belongs to none, which is a fault of the process.
 */
export function createFaultReporter(logger: Logger, metrics: Registry | undefined): (error: unknown) => boolean {
  const faults =
    metrics &&
    new Counter({
      name: "request_faults_total",
      help: "Requests ended by an error that nothing caught: defects of the service",
      registers: [metrics],
    });
  return (error) => {
    const exchange = exchanges.getStore();
    if (exchange === undefined) {
      return false;
    }
    const faultId = randomUUID();
    faults?.inc();
    logger.error({ err: error, faultId, ...exchange.about() }, REQUEST_FAULT);
    exchange.fail(faultId);
    return true;
  };
}

function toExchange(message: IncomingMessage, answer: ServerResponse | Duplex): Exchange {
  return {
    fail: (faultId) => {
      // This is the last resort: whatever state the response is in, the process goes on.
      try {
        if (answer instanceof ServerResponse && !answer.headersSent) {
          sendFault(answer, faultId);
          drainBody(message);
        } else if (!(answer instanceof ServerResponse && answer.writableFinished)) {
          answer.destroy();
        }
      } catch {
        message.destroy();
      }
    },
    about: () => ({ method: message.method, path: message.url?.split("?", 1)[0]?.slice(0, 1000) }),
  };
}

function sendFault(response: ServerResponse, faultId: string): void {
  for (const name of response.getHeaderNames()) {
    response.removeHeader(name);
  }
  const body = JSON.stringify({
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
    detail: "The service failed to handle this request; its log has the cause under this request's id.",
    requestId: faultId,
  });
  response
    .writeHead(500, {
      "content-type": "application/problem+json",
      "content-length": Buffer.byteLength(body),
      "x-content-type-options": "nosniff",
    })
    .end(body);
}
