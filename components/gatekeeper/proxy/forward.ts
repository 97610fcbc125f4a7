import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";

import { IGNORED_TOKEN_HEADER } from "@swath/auth";

import type { CanonicalRequest } from "../canonical/canonical-request.ts";
import { Refusal } from "../errors.ts";
import { returnedHeaders } from "./forwarded-headers.ts";
import type { Upstream } from "./upstream.ts";

interface ForwardOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly canonical: CanonicalRequest;
  readonly upstream: Upstream;
  /** Flat names and values. */
  readonly headers: readonly string[];
  readonly setCookies: readonly string[];
  /** Why a token was not looked at: the path is open. */
  readonly ignored?: string;
  /** Called at most once, only while nothing has been answered. */
  readonly onFailure: (refusal: Refusal) => void;
}

/**
 * Hands a request through to a service and its answer back, bodies of any size as streams in both directions, each side
 * slowed to what the other takes. Sends exactly the canonical request.
 */
export function forward(options: ForwardOptions): void {
  const { request, response, canonical, upstream, headers } = options;
  let ended = false;
  let outgoing: ClientRequest;

  const send = (mayRepeat: boolean) => {
    outgoing = upstream.request({
      ...upstream.options,
      method: canonical.method,
      path: `${upstream.prefix}${canonical.path.encoded}${canonical.query}`,
      // Added by hand, so that what was decided on is all there is.
      setHost: false,
      headers: framedHeaders(headers, canonical) as unknown as Record<string, string>,
    });
    outgoing.on("response", (incoming) => {
      ended = true;
      answer(incoming, options);
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
      options.onFailure(new Refusal("UPSTREAM", { cause }));
    });
    if (canonical.body === "none") {
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
    }
  });
  if (request.headers.expect !== undefined && canonical.body !== "none") {
    response.writeContinue();
  }
  send(canonical.body === "none");
}

function framedHeaders(headers: readonly string[], { body }: CanonicalRequest): readonly string[] {
  return body === "chunked" ? [...headers, "Transfer-Encoding", "chunked"] : headers;
}

function answer(incoming: IncomingMessage, { request, response, setCookies, ignored }: ForwardOptions): void {
  const headers = returnedHeaders(incoming.rawHeaders);
  if (ignored !== undefined) {
    headers.push(IGNORED_TOKEN_HEADER, ignored);
  }
  for (const cookie of setCookies) {
    headers.push("Set-Cookie", cookie);
  }
  if (setCookies.length > 0) {
    headers.push("Cache-Control", "no-store");
  }
  if (!request.complete) {
    // What is left of the body ends with the connection instead of being read to nowhere.
    headers.push("Connection", "close");
  }
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
