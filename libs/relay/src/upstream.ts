import { parsePeerUrl } from "@swath/service";
import { Agent, type RequestOptions, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";

import { SocketAgent } from "./socket-agent.ts";

/** The way to one service behind the gatekeeper. */
export interface Upstream {
  readonly request: typeof httpRequest;
  readonly options: Pick<RequestOptions, "agent" | "socketPath" | "host" | "port">;
  readonly prefix: string;
  /** An agent for one connection that never goes back to the others; `false` for Node's own. */
  readonly openAgent: () => Agent | false;
}

/** Opens ways to services as they are asked for, and keeps their connections. */
export interface Upstreams {
  readonly get: (url: string) => Upstream;
  readonly close: () => void;
}

/** Idle connections go before the servers behind, with their 5 seconds, close them under a request. */
const KEEP_IDLE = 4000;

interface UpstreamsOptions {
  /** Sockets are in folders that programs of others may write in: a link in the place of one is not followed. */
  readonly hasForeignSockets?: boolean;
}

export function createUpstreams({ hasForeignSockets = false }: UpstreamsOptions = {}): Upstreams {
  const PlainAgent = hasForeignSockets ? SocketAgent : Agent;
  const plain = new PlainAgent({
    keepAlive: true,
    scheduling: "lifo",
    timeout: 0,
    keepAliveMsecs: 1000,
    maxFreeSockets: 256,
  });
  const secure = new TlsAgent({ keepAlive: true, scheduling: "lifo", maxFreeSockets: 256 });
  for (const agent of [plain, secure]) {
    agent.on("free", (socket) => socket.setTimeout(KEEP_IDLE));
  }
  const known = new Map<string, Upstream>();
  return {
    get: (url) => {
      const upstream = known.get(url) ?? openUpstream(url, plain, secure);
      known.set(url, upstream);
      return upstream;
    },
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
}

function openUpstream(url: string, plain: Agent, secure: TlsAgent): Upstream {
  const { origin, prefix, socketPath } = parsePeerUrl(url);
  const openAgent = () => plain instanceof SocketAgent && new SocketAgent();
  if (socketPath !== undefined) {
    return { request: httpRequest, options: { agent: plain, socketPath }, prefix, openAgent };
  }
  const { protocol, hostname, port } = new URL(origin);
  const tls = protocol === "https:";
  return {
    request: tls ? httpsRequest : httpRequest,
    options: {
      agent: tls ? secure : plain,
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? (tls ? 443 : 80) : Number(port),
    },
    prefix,
    openAgent: tls ? () => false : openAgent,
  };
}
