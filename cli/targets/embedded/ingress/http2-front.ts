import { constants, performServerHandshake, type IncomingHttpHeaders, type ServerHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";

import type { ClientSocket, Entrance } from "./client-connection.ts";
import { Http2StreamSocket, toRequestText } from "./http2-stream.ts";
import type { Limits } from "./limits.ts";

/** Bytes that a client may send ahead of what a pod takes: of one request, and of all of a connection. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 4 * 1024 * 1024;
const MAX_FIELDS = 256;
/** What the engine may keep for one connection; beyond it, it refuses requests. */
const SESSION_MEGABYTES = 32;

interface Http2FrontOptions {
  readonly limits: Limits;
  /** Takes one request; false where there are too many. */
  readonly accept: (socket: ClientSocket, entrance: Entrance) => boolean;
}

/** Connections that speak HTTP/2 (RFC 9113), each of whose streams is a request. */
export class Http2Front {
  readonly #options: Http2FrontOptions;
  /** When each had its last request, in milliseconds of `performance.now()`. */
  readonly #sessions = new Map<ServerHttp2Session, { open: number; since: number }>();

  constructor(options: Http2FrontOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  open(socket: TLSSocket, entrance: Entrance): void {
    const { limits, accept } = this.#options;
    const session = performServerHandshake(socket, {
      settings: {
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.requestHeadBytes,
        initialWindowSize: STREAM_WINDOW,
        enablePush: false,
      },
      maxHeaderListPairs: MAX_FIELDS,
      maxSessionMemory: SESSION_MEGABYTES,
    });
    const state = { open: 0, since: performance.now() };
    this.#sessions.set(session, state);
    session.on("connect", () => session.setLocalWindowSize(SESSION_WINDOW));
    session.on("error", () => {});
    session.on("close", () => this.#sessions.delete(session));
    session.on("stream", (stream, headers: IncomingHttpHeaders, flags: number) => {
      state.open += 1;
      stream.on("close", () => {
        state.open -= 1;
        state.since = performance.now();
      });
      stream.on("error", () => {});
      const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
      const text = toRequestText(headers, hasBody);
      if (text === undefined) {
        stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
        return;
      }
      const request = { text, method: headers[":method"] ?? "", hasBody };
      if (!accept(new Http2StreamSocket(stream, request, socket.remoteAddress), entrance)) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM);
      }
    });
  }

  /** Ends connections that have nothing to do; called every second. */
  checkTimeouts(now: number): void {
    for (const [session, { open, since }] of this.#sessions) {
      if (open === 0 && now - since > this.#options.limits.idleTimeout) {
        session.close();
        // A client that does not read has no part in saying goodbye.
        setTimeout(() => session.destroy(), 2000).unref();
        this.#sessions.delete(session);
      }
    }
  }

  /** Takes no further requests; those that are open go on. */
  drain(): void {
    for (const session of this.#sessions.keys()) {
      session.close();
    }
  }

  destroy(): void {
    for (const session of this.#sessions.keys()) {
      session.destroy();
    }
  }
}
