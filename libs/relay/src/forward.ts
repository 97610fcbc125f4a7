import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";

import { drainBody } from "@swath/service/read-body";

import { returnedHeaders } from "./hop-by-hop.ts";
import type { Upstream } from "./upstream.ts";

/** What is sent on. */
export interface RelayedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** How the body is delimited. */
  readonly body: "none" | "length" | "chunked";
}

interface ForwardOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly relayed: RelayedRequest;
  readonly upstream: Omit<Upstream, "openAgent">;
  /** Flat names and values. */
  readonly headers: readonly string[];
  /** What the answer's headers become, names and values in turn; those of its connection are gone already. */
  readonly changeHeaders?: (headers: string[]) => string[];
  /** Called at most once, only while nothing has been answered. */
  readonly onFailure: (cause: Error) => void;
}

/**
 * Hands a request through to a service and its answer back, bodies of any size as streams in both directions, each side
 * slowed to what the other takes.
 */
export function forward(options: ForwardOptions): void {
  const { request, response, relayed, upstream, headers } = options;
  let ended = false;
  let outgoing: ClientRequest;

  const send = (mayRepeat: boolean) => {
    outgoing = upstream.request({
      ...upstream.options,
      method: relayed.method,
      path: `${upstream.prefix}${relayed.path}`,
      // Added by hand, so that what was decided on is all there is.
      setHost: false,
      headers: framedHeaders(headers, relayed) as unknown as Record<string, string>,
    });
    outgoing.on("response", (incoming) => {
      ended = true;
      reply(incoming, options);
    });
    outgoing.on("error", (cause) => {
      if (ended || response.headersSent) {
        response.destroy();
        return;
      }
      if (mayRepeat && outgoing.reusedSocket && isClosedConnection(cause)) {
        // The service closed an idle connection just as this request took it: it has not seen the request.
        send(false);
        return;
      }
      ended = true;
      options.onFailure(cause);
    });
    if (relayed.body === "none") {
      outgoing.end();
    } else {
      outgoing.flushHeaders();
      request.pipe(outgoing);
    }
  };

  response.on("close", () => {
    // The client went away, or was answered before its body was read whole: the service need not go on.
    if (!response.writableFinished || !outgoing.writableFinished) {
      ended = true;
      request.unpipe(outgoing);
      outgoing.destroy();
      // The sender reads the answer after it has sent all.
      drainBody(request);
    }
  });
  if (request.headers.expect !== undefined && relayed.body !== "none") {
    response.writeContinue();
  }
  send(relayed.body === "none");
}

function framedHeaders(headers: readonly string[], { body }: RelayedRequest): readonly string[] {
  return body === "chunked" ? [...headers, "Transfer-Encoding", "chunked"] : headers;
}

function reply(incoming: IncomingMessage, { response, changeHeaders = (same) => same }: ForwardOptions): void {
  const headers = changeHeaders(returnedHeaders(incoming.rawHeaders));
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
  if (incoming.headers["content-length"] === undefined) {
    // An event stream may say nothing for long: its head must not wait for its first word.
    response.flushHeaders();
  }
  incoming.on("error", () => response.destroy());
  incoming.pipe(response);
}

function isClosedConnection(error: NodeJS.ErrnoException): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE" || error.message === "socket hang up";
}
