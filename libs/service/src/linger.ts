import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { drainBody } from "./read-body.ts";

const lingering = new WeakSet<Server>();
const latest = new WeakMap<Socket, IncomingMessage>();

/**
 * Reads and drops what is left of a body whose response is complete, on every route, also before the connection is closed. A socket that is
 * closed with unread bytes resets the connection (RFC 9112 §9.6), and a client that still sends loses the response.
 */
export function lingerOnUnreadBodies(server: Server): void {
  if (lingering.has(server)) {
    return;
  }
  lingering.add(server);
  const follow = (message: IncomingMessage, response: ServerResponse): void => {
    const { socket } = message;
    if (!latest.has(socket)) {
      delayClose(socket);
    }
    latest.set(socket, message);
    response.once("finish", () => drainBody(message));
  };
  server.on("request", follow);
  // Wrap existing listeners only: adding the first one would stop Node.js from answering `100 Continue` by itself.
  if (server.listenerCount("checkContinue") > 0) {
    server.on("checkContinue", follow);
  }
}

/** Node.js closes a connection by `destroySoon` as soon as its last response is written. */
function delayClose(socket: Socket): void {
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const message = latest.get(socket);
    if (message === undefined || message.complete || socket.destroyed) {
      destroySoon();
      return;
    }
    socket.end();
    message.once("end", destroySoon);
    drainBody(message);
  };
}
