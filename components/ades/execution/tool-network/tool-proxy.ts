import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request as sendRequest,
} from "node:http";
import { type LookupFunction, type Socket, connect, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream";

import type { AddressGuard } from "@swath/service/address-guard";
import ipaddr from "ipaddr.js";

import { createAddressGuard } from "../../staging/in/addresses.ts";
import { type AdesSettings, allowedPrivate } from "../storage.ts";

/** Milliseconds that a destination may take to answer a connection. */
const CONNECT_MS = 30_000;
/** Connections of one job's tools at the same time. */
const MAX_CONNECTIONS = 256;

type ProxySettings = Pick<AdesSettings, "ALLOW_PRIVATE" | "PLATFORM_DOMAIN" | "PUBLIC_URL" | "OPEN_HOST">;

interface Rules {
  readonly settings: ProxySettings;
  readonly guard: AddressGuard;
  readonly isOwn: (address: string) => boolean;
}

/**
 * An HTTP proxy on a socket (RFC 9110 §7.6, CONNECT of §9.3.6) that leads tools to the internet, and to private addresses that
 * the operator allows; never to this machine, link-local addresses or hosts of the platform.
 */
export async function openToolProxy(
  path: string,
  settings: ProxySettings,
  isOwn: (address: string) => boolean = isOwnAddress,
): Promise<{ readonly close: () => Promise<void> }> {
  const rules = { settings, isOwn, guard: createAddressGuard(allowedPrivate(settings as AdesSettings)) };
  const server = createServer((request, response) => forward(request, response, rules));
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connect", (request: IncomingMessage, near: Socket, head: Buffer) => {
    near.on("error", () => near.destroy());
    const target = readTarget(`http://${request.url ?? ""}`);
    const why = target === undefined ? "no host and port" : whyNot(target.hostname, rules);
    if (target === undefined || why !== undefined) {
      refuse(near, why ?? "");
      return;
    }
    const far = connect({
      host: unbracket(target.hostname),
      port: Number(target.port || 80),
      lookup: createLookup(rules),
      timeout: CONNECT_MS,
    });
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
  });
  await listen(server, path);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(request: IncomingMessage, response: ServerResponse, rules: Rules): void {
  const target = readTarget(request.url ?? "");
  const why = target === undefined ? "this is a proxy: no address to forward to" : whyNot(target.hostname, rules);
  if (target === undefined || why !== undefined) {
    response.writeHead(403, { "content-type": "text/plain" }).end(`${why}\n`);
    return;
  }
  const { "proxy-connection": _proxy, connection: _connection, ...headers } = request.headers;
  const far = sendRequest(
    {
      host: unbracket(target.hostname),
      port: Number(target.port || 80),
      path: `${target.pathname}${target.search}`,
      method: request.method,
      headers: { ...headers, host: target.host },
      lookup: createLookup(rules),
      timeout: CONNECT_MS,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
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

function readTarget(text: string): URL | undefined {
  return /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

/** Why a tool may not reach a host by its name; addresses that names lead to are checked when they are connected to. */
function whyNot(hostname: string, { settings, guard, isOwn }: Rules): string | undefined {
  const host = unbracket(hostname).toLowerCase().replace(/\.$/, "");
  const platform = [
    settings.PLATFORM_DOMAIN,
    new URL(settings.PUBLIC_URL).hostname,
    settings.OPEN_HOST?.split(":", 1)[0],
  ];
  if (
    platform.some((own) => own !== undefined && (host === own.toLowerCase() || host.endsWith(`.${own.toLowerCase()}`)))
  ) {
    return `${host} is a host of the platform; tools reach none of them`;
  }
  if (host === "localhost" || host.endsWith(".localhost")) {
    return `${host} is this machine; tools do not reach it`;
  }
  if (isIP(host) === 0) {
    return undefined;
  }
  try {
    guard.checkHost(host, host);
  } catch (error) {
    return (error as Error).message;
  }
  return isOwn(host) ? `${host} is this machine or its link; tools do not reach it` : undefined;
}

/** As the guard resolves, without addresses of this machine, whatever the operator allows. */
function createLookup({ guard, isOwn }: Rules): LookupFunction {
  return (hostname, options, callback) =>
    guard.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const list = (Array.isArray(addresses) ? addresses : []).filter(({ address }) => !isOwn(address));
      const [first] = list;
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${hostname} leads to this machine; tools do not reach it`), "", 0);
      } else if (options.all === true) {
        callback(null, list);
      } else {
        callback(null, first.address, first.family);
      }
    });
}

/** Loopback, link-local and unspecified addresses, and those of this machine's interfaces. */
function isOwnAddress(text: string): boolean {
  const address = ipaddr.process(text);
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((item) => item.address));
  return (
    ["loopback", "linkLocal", "unspecified"].includes(address.range()) ||
    own.some(
      (each) => ipaddr.isValid(each) && ipaddr.process(each).toNormalizedString() === address.toNormalizedString(),
    )
  );
}

const unbracket = (host: string): string => host.replace(/^\[|\]$/g, "");

function refuse(socket: Socket, why: string): void {
  socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}
