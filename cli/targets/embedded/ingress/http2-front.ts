import {
  constants,
  performServerHandshake,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";

import type { ClientSocket, Entrance } from "./client-connection.ts";
import { Http2StreamSocket, toRequestText } from "./http2-stream.ts";
import type { Limits } from "./limits.ts";

/** Bytes that a client may send ahead of what a pod takes: of one request, and of all of a connection. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 4 * 1024 * 1024;
const MAX_FIELDS = 256;
/** Requests that a client may take back, at once and each second; more end its connection. A map that is moved takes back hundreds. */
const MAX_TAKEN_BACK = 10_000;
const MAX_TAKEN_BACK_A_SECOND = 500;
/** Requests beyond those at once that a client may make; more end its connection. */
const MAX_REFUSED = 1000;
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
    if (socket.destroyed) {
      return;
    }
    const { limits } = this.#options;
    // Some of them are not among the types of the engine yet.
    const settings = {
      settings: {
        maxConcurrentStreams: limits.streams,
        maxHeaderListSize: limits.requestHeadBytes,
        initialWindowSize: STREAM_WINDOW,
        enablePush: false,
      },
      maxHeaderListPairs: MAX_FIELDS,
      maxSessionMemory: SESSION_MEGABYTES,
      maxSessionRejectedStreams: MAX_REFUSED,
      streamResetBurst: MAX_TAKEN_BACK,
      streamResetRate: MAX_TAKEN_BACK_A_SECOND,
    };
    const session = performServerHandshake(socket, settings);
    const state = { open: 0, since: performance.now() };
    this.#sessions.set(session, state);
    session.on("connect", () => {
      if (!session.destroyed) {
        session.setLocalWindowSize(SESSION_WINDOW);
      }
    });
    session.on("error", () => {});
    session.on("close", () => this.#sessions.delete(session));
    session.on("stream", (stream, headers: IncomingHttpHeaders, flags: number) => {
      // One that the client took back before it was looked at.
      if (stream.destroyed) {
        return;
      }
      state.open += 1;
      stream.on("close", () => {
        state.open -= 1;
        state.since = performance.now();
      });
      stream.on("error", () => {});
      const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
      this.#take(stream, { headers, hasBody }, { entrance, remoteAddress: socket.remoteAddress });
    });
  }

  /** Ends connections that have nothing to do; called every second. */
  checkTimeouts(now: number): void {
    const { idleTimeout } = this.#options.limits;
    for (const [session, { open, since }] of this.#sessions) {
      if (open > 0 || now - since <= idleTimeout) {
        continue;
      }
      if (session.closed) {
        // A client that does not read has no part in saying goodbye.
        session.destroy();
      } else {
        session.close();
      }
    }
  }

  #take(
    stream: ServerHttp2Stream,
    { headers, hasBody }: { headers: IncomingHttpHeaders; hasBody: boolean },
    { entrance, remoteAddress }: { entrance: Entrance; remoteAddress: string | undefined },
  ): void {
    const text = toRequestText(headers, hasBody);
    if (text === undefined) {
      stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    const request = { text, method: headers[":method"] ?? "", hasBody };
    if (!this.#options.accept(new Http2StreamSocket(stream, request, remoteAddress), entrance)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
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
