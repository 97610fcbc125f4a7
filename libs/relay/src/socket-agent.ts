import { Agent, type AgentOptions } from "node:http";
import { type NetConnectOpts, type Socket, connect } from "node:net";
import { Duplex } from "node:stream";

import { findSocket } from "./find-socket.ts";

/** Connects to sockets of programs that are not the platform's, and through no link that one may have put in a socket's place. */
export class SocketAgent extends Agent {
  constructor(options: AgentOptions = {}) {
    super(options);
  }

  override createConnection(options: NetConnectOpts): Duplex {
    const { path } = options as { readonly path?: string | null };
    // An agent sets it to null for a host and a port, so that `connect` does not take the request's path for a socket's.
    if (typeof path !== "string") {
      return connect(options);
    }
    try {
      return connectTo(path, options);
    } catch (error) {
      // Told as any failure to connect is: by the request's own event.
      return new Duplex({ read: () => {}, write: () => {} }).destroy(error as Error);
    }
  }
}

function connectTo(path: string, options: NetConnectOpts): Socket {
  const found = findSocket(path);
  let isClosed = false;
  const close = () => {
    if (!isClosed) {
      isClosed = true;
      found.close();
    }
  };
  try {
    return connect({ ...options, path: found.path })
      .once("connect", close)
      .once("close", close);
  } catch (error) {
    close();
    throw error;
  }
}
