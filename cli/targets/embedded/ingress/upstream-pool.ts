import { type Socket, connect } from "node:net";

import type { Upstream } from "./config.ts";

/** What happens on a connection to an upstream, told to the exchange that uses it. */
export interface UpstreamUser {
  readonly onConnect: () => void;
  readonly onData: (chunk: Buffer) => void;
  readonly onDrain: () => void;
  /** The connection is over; `connected` says whether it ever stood, `clean` whether it ended with FIN. */
  readonly onClose: (end: { connected: boolean; clean: boolean; error: Error | undefined }) => void;
}

const CONNECT_TIMEOUT = 4000;
/** Below the 5 s after which Node's servers drop an idle connection, so that we are first to let go. */
const IDLE_MILLISECONDS = 4000;
const MAX_IDLE = 128;

/** A connection to an upstream; at any time it serves at most one exchange. */
export class UpstreamConnection {
  readonly socket: Socket;
  readonly key: string;
  user: UpstreamUser | undefined;
  /** When it stops being usable while idle, in milliseconds of `performance.now()`. */
  expires = 0;
  #clean = false;
  #error: Error | undefined;

  constructor(
    upstream: Upstream,
    key: string,
    user: UpstreamUser,
    onGone: (connection: UpstreamConnection) => void,
    onBytes: (count: number) => void,
  ) {
    this.key = key;
    this.user = user;
    let connected = false;
    this.socket =
      "socketPath" in upstream
        ? connect({ path: upstream.socketPath })
        : connect({ host: upstream.host, port: upstream.port, noDelay: true });
    const timer = setTimeout(() => this.socket.destroy(new Error("no connection in time")), CONNECT_TIMEOUT);
    this.socket
      .on("connect", () => {
        connected = true;
        clearTimeout(timer);
        this.user?.onConnect();
      })
      .on("data", (chunk: Buffer) => {
        if (this.user === undefined) {
          // Bytes that nobody asked for: whoever sent them cannot be trusted to frame the next answer.
          this.socket.destroy();
        } else {
          this.user.onData(chunk);
          onBytes(chunk.length);
        }
      })
      .on("drain", () => this.user?.onDrain())
      .on("end", () => {
        this.#clean = true;
      })
      .on("error", (error) => {
        this.#error = error;
      })
      .on("close", () => {
        clearTimeout(timer);
        onGone(this);
        this.user?.onClose({ connected, clean: this.#clean && this.#error === undefined, error: this.#error });
      });
  }
}

/** Connections to upstreams, kept open between exchanges. */
export class UpstreamPool {
  readonly #onBytes: (count: number) => void;
  readonly #idle = new Map<string, UpstreamConnection[]>();

  /** @param onBytes told of every piece that arrives from an upstream */
  constructor(onBytes: (count: number) => void) {
    this.#onBytes = onBytes;
  }

  /** An idle connection, the one used last, or `undefined`. */
  takeIdle(upstream: Upstream, user: UpstreamUser): UpstreamConnection | undefined {
    const idle = this.#idle.get(keyOf(upstream));
    const now = performance.now();
    for (let connection = idle?.pop(); connection !== undefined; connection = idle?.pop()) {
      if (!connection.socket.destroyed && connection.socket.writable && connection.expires > now) {
        connection.user = user;
        return connection;
      }
      connection.socket.destroy();
    }
    return undefined;
  }

  open(upstream: Upstream, user: UpstreamUser): UpstreamConnection {
    return new UpstreamConnection(
      upstream,
      keyOf(upstream),
      user,
      (connection) => this.#forget(connection),
      this.#onBytes,
    );
  }

  /** Takes back a connection whose exchange is complete on both sides. */
  release(connection: UpstreamConnection, idleSeconds: number | undefined): void {
    const idle = this.#idle.get(connection.key) ?? [];
    const milliseconds =
      idleSeconds === undefined ? IDLE_MILLISECONDS : Math.min(IDLE_MILLISECONDS, idleSeconds * 1000 - 1000);
    connection.user = undefined;
    if (idle.length >= MAX_IDLE || milliseconds <= 0 || connection.socket.destroyed) {
      connection.socket.destroy();
      return;
    }
    connection.expires = performance.now() + milliseconds;
    connection.socket.resume();
    idle.push(connection);
    this.#idle.set(connection.key, idle);
  }

  /** Closes what has been idle too long; called every second. */
  sweep(): void {
    const now = performance.now();
    for (const [key, idle] of this.#idle) {
      for (const connection of idle.filter(({ expires }) => expires <= now)) {
        connection.socket.destroy();
      }
      const rest = idle.filter(({ expires }) => expires > now);
      if (rest.length === 0) {
        this.#idle.delete(key);
      } else {
        this.#idle.set(key, rest);
      }
    }
  }

  close(): void {
    for (const connection of [...this.#idle.values()].flat()) {
      connection.socket.destroy();
    }
    this.#idle.clear();
  }

  #forget(connection: UpstreamConnection): void {
    const idle = this.#idle.get(connection.key);
    const index = idle?.indexOf(connection) ?? -1;
    if (index !== -1) {
      idle?.splice(index, 1);
    }
  }
}

function keyOf(upstream: Upstream): string {
  return "socketPath" in upstream ? upstream.socketPath : `${upstream.host}:${upstream.port}`;
}
