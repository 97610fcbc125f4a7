import { type RelayedRequest, forward } from "@swath/relay";
import type { Peer } from "@swath/service";
import { existsSync, readFileSync } from "node:fs";
import { Agent, type IncomingMessage, type ServerResponse, request as httpRequest } from "node:http";
import { Agent as TlsAgent, request as httpsRequest } from "node:https";
import { rootCertificates } from "node:tls";

import { toClientHeaders } from "./headers.ts";
import type { PlatformWay } from "./platform.ts";
import { sendJson, sendText } from "./respond.ts";
import type { ServerRoute, Visit } from "./routes.ts";

/** What programs in a browser find at their own origin, below `/.swath/`. */
export interface PlatformRelay {
  readonly handle: (
    server: ServerRoute,
    visit: Visit,
    request: IncomingMessage,
    response: ServerResponse,
    relayed: RelayedRequest,
  ) => Promise<void>;
  readonly close: () => void;
}

interface RelayDeps {
  readonly hub: Peer;
  readonly secret: string;
  readonly way: PlatformWay;
  /** Public addresses of services by their ids. */
  readonly services: Readonly<Record<string, string>>;
}

/** Of a browser's request, what services are told. */
const SENT = new Set([
  "accept",
  "accept-language",
  "authorization",
  "content-type",
  "content-length",
  "prefer",
  "range",
  "if-none-match",
  "if-match",
]);

/**
 * `/.swath/environment` gives a page its owner's tokens, `/.swath/services/<id>/…` leads to a service of the platform by the token that
 * the page shows: never by a cookie, so that nothing is done that the page did not ask for by itself.
 */
export function createPlatformRelay({ hub, secret, way, services }: RelayDeps): PlatformRelay {
  let agent: Agent | undefined;
  // When the first request comes: by then the platform's own authority has a certificate.
  const openAgent = (): Agent => (way.secure ? new TlsAgent({ ...keep, ca: readAuthorities(way) }) : new Agent(keep));
  return {
    handle: async (server, visit, request, response, relayed) => {
      if (relayed.path === "/.swath/environment" && request.method === "GET") {
        if (!visit.isOwner || !("site" in server.target)) {
          request.resume();
          sendText(response, 403, "This is for the owner of a server that runs in the browser.");
          return;
        }
        const reply = await hub.fetch(`/internal/environment/${encodeURIComponent(visit.user)}`, {
          headers: { authorization: `Bearer ${secret}` },
        });
        sendJson(response, reply.status, await reply.text());
        return;
      }
      const [, id = "", rest = ""] = /^\/\.swath\/services\/([a-z0-9-]+)(\/.*)?$/s.exec(relayed.path) ?? [];
      const address = Object.hasOwn(services, id) ? services[id] : undefined;
      if (address === undefined || !("site" in server.target)) {
        request.resume();
        sendText(response, 404, `There is no service ${id} here.`);
        return;
      }
      const target = new URL(address);
      forward({
        request,
        response,
        relayed: { ...relayed, path: rest === "" ? "/" : rest },
        upstream: {
          request: (way.secure ? httpsRequest : httpRequest) as typeof httpRequest,
          options: {
            agent: (agent ??= openAgent()),
            host: target.hostname,
            port: way.port,
            ...({ lookup: way.lookup, servername: target.hostname } as object),
          },
          prefix: "",
        },
        headers: [
          "Host",
          target.host,
          ...Object.entries(request.headers).flatMap(([name, value]) =>
            (SENT.has(name) || name.startsWith("x-amz-")) && typeof value === "string" ? [name, value] : [],
          ),
        ],
        changeHeaders: (headers) =>
          toClientHeaders(headers, { hiddenCookies: new Set() }).filter((_, index, all) => !isCookie(all, index)),
        onFailure: () => sendText(response, 503, `The service ${id} does not answer.`),
      });
    },
    close: () => agent?.destroy(),
  };
}

const keep = { keepAlive: true, timeout: 0 } as const;

function readAuthorities({ authorityFile }: PlatformWay): string[] {
  const own = authorityFile !== undefined && existsSync(authorityFile) ? [readFileSync(authorityFile, "utf8")] : [];
  return [...rootCertificates, ...own];
}

/** Cookies of services are not the page's. */
const isCookie = (headers: readonly string[], index: number): boolean =>
  headers[index - (index % 2)]?.toLowerCase() === "set-cookie";
