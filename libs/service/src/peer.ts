import { Agent, type Dispatcher, type RequestInit, type Response, fetch } from "undici";

/** A client of another service of the deployment. */
export interface Peer {
  /** Origin to build absolute URLs with, for libraries that want one together with `dispatcher`. */
  readonly origin: string;
  readonly dispatcher: Dispatcher;
  /** `fetch` for a path of the peer. Ends with an error after `timeout` milliseconds (30,000) without an answer's head. */
  readonly fetch: (path: string, init?: RequestInit & { timeout?: number }) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a client for `http://host:port`, `https://…` or `http+unix://<percent-encoded socket path>`.
 * @throws {TypeError} for any other URL
 */
export function createPeer(url: string): Peer {
  const { origin, prefix, socketPath } = parsePeerUrl(url);
  const dispatcher = new Agent({
    ...(socketPath !== undefined && { connect: { socketPath } }),
    keepAliveTimeout: 4000,
  });
  return {
    origin,
    dispatcher,
    fetch: (path, { timeout = 30_000, signal, ...init } = {}) => {
      const deadline = AbortSignal.timeout(timeout);
      return fetch(`${origin}${prefix}${path}`, {
        ...init,
        dispatcher,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
    },
    close: () => dispatcher.destroy(),
  };
}

/**
 * The parts of a peer address, for clients other than `createPeer`: proxies that hand streams through.
 * @throws {TypeError} for anything that is not a peer address
 */
export function parsePeerUrl(url: string): { origin: string; prefix: string; socketPath?: string } {
  const unix = /^http\+unix:\/\/([^/]+)(\/.*)?$/.exec(url);
  if (unix?.[1] !== undefined) {
    return {
      origin: "http://localhost",
      prefix: (unix[2] ?? "").replace(/\/+$/, ""),
      socketPath: decodeURIComponent(unix[1]),
    };
  }
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new TypeError(
      `"${url}" is not a peer address; allowed: http://host:port, https://host, http+unix://%2Fpath%2Fto.sock`,
    );
  }
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname.replace(/\/+$/, "") };
}
