import type { IncomingMessage, ServerResponse } from "node:http";

import { renderXml } from "../protocol/xml.ts";

/** How long a client may send or take less than `LEAST_BYTES` before its request ends. */
const WINDOW = 30_000;
/** A kibibyte a second: slower than any line. */
const MIN_BYTES = 30 << 10;
const LOOK = 5000;

interface Watched {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  since: number;
  read: number;
  written: number;
}

/**
 * Ends requests whose client has stopped to send its body or to take its answer: they would hold on to a connection, a file and room on
 * the disk for ever. A client that waits for this process is left alone.
 */
export class StalledRequests {
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  readonly #now: () => number;

  constructor(options: { readonly now?: () => number; readonly look?: number } = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#timer = setInterval(() => this.endStalled(), options.look ?? LOOK);
    this.#timer.unref();
  }

  watch(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const watched: Watched = {
      message,
      response,
      since: this.#now(),
      read: socket.bytesRead,
      written: socket.bytesWritten,
    };
    this.#watched.add(watched);
    response.once("close", () => this.#watched.delete(watched));
  }

  endStalled(): void {
    const now = this.#now();
    for (const watched of this.#watched) {
      const { message, response } = watched;
      const { bytesRead, bytesWritten } = message.socket;
      // Bytes that lie here are for this process to take.
      const isSending = !message.complete && message.readableLength === 0;
      const isTaking = response.headersSent && response.writableLength > 0;
      const moved = bytesRead - watched.read + (bytesWritten - watched.written);
      if (!(isSending || isTaking) || moved >= MIN_BYTES) {
        watched.since = now;
        watched.read = bytesRead;
        watched.written = bytesWritten;
      } else if (now - watched.since >= WINDOW) {
        this.#watched.delete(watched);
        end(message, response);
      }
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function end(message: IncomingMessage, response: ServerResponse): void {
  const destroy = () =>
    message.destroy(Object.assign(new Error("the client stopped in the middle"), { code: "ECONNRESET" }));
  if (response.headersSent) {
    destroy();
    return;
  }
  const body = renderXml(
    "Error",
    {
      Code: "RequestTimeout",
      Message: "Your socket connection to the server was not read from or written to within the timeout period.",
    },
    null,
  );
  response
    .writeHead(400, {
      "content-type": "application/xml",
      "content-length": Buffer.byteLength(body),
      connection: "close",
    })
    .end(body, destroy);
}
