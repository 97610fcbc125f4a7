import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request as sendRequest,
} from "node:http";
import { type LookupFunction, type Socket, connect } from "node:net";
import { pipeline } from "node:stream";

export interface ForwardProxyOptions {
  /** Why a destination may not be reached; undefined where it may. `host` is in small letters, without brackets and a last dot. */
  readonly whyNot: (host: string, port: number) => string | undefined;
  /** Resolves a host's name to the addresses that may be connected to, and to no others. */
  readonly lookup: (host: string) => LookupFunction;
  readonly maxConnections: number;
}

/** Milliseconds that a destination may take to answer a connection. */
const CONNECT_MS = 30_000;

/**
 * An HTTP proxy for clients that set one (RFC 9110 §7.6, CONNECT of §9.3.6). What is refused is told with 403. The connection goes to
 * the address that `lookup` gave, and is not resolved again. Listens on nothing yet.
 */
export function createForwardProxy(options: ForwardProxyOptions): Server {
  const server = createServer((request, response) => forward(request, response, options));
  server.maxConnections = options.maxConnections;
  server.on("connect", (request: IncomingMessage, near: Socket, head: Buffer) => tunnel(request, near, head, options));
  return server;
}

function forward(request: IncomingMessage, response: ServerResponse, options: ForwardProxyOptions): void {
  const target = readTarget(request.url ?? "");
  const why =
    target === undefined ? "this is a proxy: no address to forward to" : options.whyNot(target.host, target.port);
  if (target === undefined || why !== undefined) {
    // Whoever sends a body reads the answer after it.
    request.resume();
    response.writeHead(403, { "content-type": "text/plain" }).end(`${why}\n`);
    return;
  }
  // What is meant for this proxy is not sent on.
  const {
    "proxy-connection": _proxy,
    "proxy-authorization": _credentials,
    connection: _connection,
    ...headers
  } = request.headers;
  const far = sendRequest(
    {
      host: target.host,
      port: target.port,
      path: target.path,
      method: request.method,
      headers: { ...headers, host: target.authority },
      lookup: options.lookup(target.host),
      agent: false,
      timeout: CONNECT_MS,
    },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, response, () => {});
    },
  );
  far.on("error", (error) => {
    if (response.headersSent) {
      response.destroy();
    } else {
      response.writeHead(502, { "content-type": "text/plain" }).end(`${error.message}\n`);
    }
  });
  pipeline(request, far, () => {});
}

function tunnel(request: IncomingMessage, near: Socket, head: Buffer, options: ForwardProxyOptions): void {
  near.on("error", () => near.destroy());
  const target = readTarget(`http://${request.url ?? ""}`);
  const why = target === undefined ? "no host and port" : options.whyNot(target.host, target.port);
  if (target === undefined || why !== undefined) {
    refuse(near, why ?? "");
    return;
  }
  const { host, port } = target;
  const far = connect({ host, port, lookup: options.lookup(host), timeout: CONNECT_MS });
  far.once("connect", () => {
    far.setTimeout(0);
    near.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    far.write(head);
    pipeline(near, far, near, () => {
      near.destroy();
      far.destroy();
    });
  });
  far.once("timeout", () => far.destroy(new Error("it does not answer")));
  far.once("error", (error) => refuse(near, error.message));
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  readonly path: string;
}

function readTarget(text: string): Target | undefined {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) {
    return undefined;
  }
  const { hostname, port, host, pathname, search } = new URL(text);
  return {
    host: hostname
      .replace(/^\[|\]$/g, "")
      .toLowerCase()
      .replace(/\.$/, ""),
    port: Number(port || 80),
    authority: host,
    path: `${pathname}${search}`,
  };
}

function refuse(socket: Socket, why: string): void {
  socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
}
