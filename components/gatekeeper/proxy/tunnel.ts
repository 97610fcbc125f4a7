import type { VerifiedToken } from "@swath/auth";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

import type { CanonicalRequest } from "../canonical/canonical-request.ts";
import { Refusal } from "../errors.ts";
import type { EndTunnels } from "../policies/policy-source.ts";
import { returnedHeaders } from "./forwarded-headers.ts";
import type { Upstream } from "./upstream.ts";

/** The open WebSocket connections, so that a login that ends takes its connections with it. */
export interface Tunnels {
  readonly add: (verified: VerifiedToken | undefined, end: () => void) => () => void;
  readonly endWhere: EndTunnels;
  readonly endAll: () => void;
  readonly count: () => number;
}

export function createTunnels(): Tunnels {
  const open = new Set<{ readonly verified: VerifiedToken | undefined; readonly end: () => void }>();
  return {
    add: (verified, end) => {
      const tunnel = { verified, end };
      open.add(tunnel);
      return () => open.delete(tunnel);
    },
    endWhere: (mustEnd) => {
      for (const { verified, end } of open) {
        if (verified !== undefined && mustEnd(verified)) {
          end();
        }
      }
    },
    endAll: () => open.forEach(({ end }) => end()),
    count: () => open.size,
  };
}

interface TunnelOptions {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent after its request. */
  readonly head: Buffer;
  readonly canonical: CanonicalRequest;
  readonly upstream: Upstream;
  readonly headers: readonly string[];
  readonly setCookies: readonly string[];
  readonly verified: VerifiedToken | undefined;
  readonly tunnels: Tunnels;
  readonly onFailure: (refusal: Refusal) => void;
}

/**
 * Opens a WebSocket to the service and joins both ends. The connections are joined only after the service itself has
 * switched (101): while it has not, whatever the client sends is not passed on.
 */
export function openTunnel(options: TunnelOptions): void {
  const { socket, head, canonical, upstream, headers, setCookies, verified, tunnels, onFailure } = options;
  const outgoing = upstream.request({
    ...upstream.options,
    // A connection of its own, which never goes back to the others.
    agent: false,
    method: "GET",
    path: `${upstream.prefix}${canonical.path.encoded}${canonical.query}`,
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
      onFailure(new Refusal("UPSTREAM", { cause }));
    }
  });
  outgoing.on("response", (incoming) => {
    // The service does not switch: its answer goes back, and the connection ends with it.
    answered = true;
    socket.write(
      renderHead(incoming, [
        ...returnedHeaders(incoming.rawHeaders),
        ...cookieHeaders(setCookies),
        "Connection",
        "close",
      ]),
    );
    incoming.on("error", () => socket.destroy());
    incoming.pipe(socket);
  });
  outgoing.on("upgrade", (incoming, service, serviceHead) => {
    answered = true;
    const switched = [
      ...returnedHeaders(incoming.rawHeaders),
      ...cookieHeaders(setCookies),
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
    const forget = tunnels.add(verified, end);
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

function cookieHeaders(setCookies: readonly string[]): readonly string[] {
  return setCookies.flatMap((cookie) => ["Set-Cookie", cookie]);
}

function renderHead({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): Buffer {
  let text = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`;
  for (let index = 0; index < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, "latin1");
}
