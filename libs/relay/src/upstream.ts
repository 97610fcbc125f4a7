import { parsePeerUrl } from "@swath/service";
import { Agent, type RequestOptions, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";

/** The way to one service behind the gatekeeper. */
export interface Upstream {
  readonly request: typeof httpRequest;
  readonly options: Pick<RequestOptions, "agent" | "socketPath" | "host" | "port">;
  readonly prefix: string;
}

/** Opens ways to services as they are asked for, and keeps their connections. */
export interface Upstreams {
  readonly get: (url: string) => Upstream;
  readonly close: () => void;
}

/** Idle connections go before the servers behind, with their 5 seconds, close them under a request. */
const KEEP_IDLE = 4000;

export function createUpstreams(): Upstreams {
  const plain = new Agent({
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
  if (socketPath !== undefined) {
    return { request: httpRequest, options: { agent: plain, socketPath }, prefix };
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
  };
}
