import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

import { returnedHeaders } from "./hop-by-hop.ts";
import type { Upstream } from "./upstream.ts";

interface TunnelOptions {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent after its request. */
  readonly head: Buffer;
  /** Path and query. */
  readonly path: string;
  readonly upstream: Upstream;
  readonly headers: readonly string[];
  /** What the answer's headers become, names and values in turn. */
  readonly changeHeaders?: (headers: string[]) => string[];
  /** The WebSocket is open: `end` ends it. What is given back is called when it has ended. */
  readonly onOpen: (end: () => void) => () => void;
  /** Called at most once, only while nothing has been answered. */
  readonly onFailure: (cause: Error) => void;
}

/**
 * Opens a WebSocket to the service and joins both ends. The connections are joined only after the service itself has
 * switched (101): while it has not, whatever the client sends is not passed on.
 */
export function openTunnel(options: TunnelOptions): void {
  const {
    socket,
    head,
    path,
    upstream,
    headers,
    changeHeaders = (same: string[]) => same,
    onOpen,
    onFailure,
  } = options;
  const outgoing = upstream.request({
    ...upstream.options,
    // A connection of its own, which never goes back to the others.
    agent: upstream.openAgent(),
    method: "GET",
    path: `${upstream.prefix}${path}`,
    setHost: false,
    headers: [...headers, "Connection", "Upgrade", "Upgrade", "websocket"] as unknown as Record<string, string>,
  });
  const giveUp = () => outgoing.destroy();
  socket.on("error", giveUp);
  socket.on("close", giveUp);
  let answered = false;
  outgoing.on("error", (cause) => {
    if (answered) {
      socket.destroy();
    } else {
      answered = true;
      onFailure(cause);
    }
  });
  outgoing.on("response", (incoming) => {
    // The service does not switch: its answer goes back, and the connection ends with it.
    answered = true;
    socket.write(renderHead(incoming, [...changeHeaders(returnedHeaders(incoming.rawHeaders)), "Connection", "close"]));
    incoming.on("error", () => socket.destroy());
    incoming.pipe(socket);
  });
  outgoing.on("upgrade", (incoming, service, serviceHead) => {
    answered = true;
    const switched = [
      ...changeHeaders(returnedHeaders(incoming.rawHeaders)),
      "Connection",
      "Upgrade",
      "Upgrade",
      "websocket",
    ];
    socket.write(renderHead(incoming, switched));
    if (serviceHead.length > 0) {
      socket.write(serviceHead);
    }
    if (head.length > 0) {
      service.write(head);
    }
    const end = () => {
      socket.destroy();
      service.destroy();
    };
    const forget = onOpen(end);
    for (const side of [socket, service]) {
      side.on("error", end);
      side.on("close", () => {
        forget();
        end();
      });
    }
    if ("setNoDelay" in service && typeof service.setNoDelay === "function") {
      service.setNoDelay(true);
    }
    socket.pipe(service);
    service.pipe(socket);
  });
  outgoing.end();
}

function renderHead({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): Buffer {
  let text = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, "latin1");
}
