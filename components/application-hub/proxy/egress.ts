import { listen } from "@swath/service";
import { lookup } from "node:dns";
import { mkdirSync } from "node:fs";
import { type IncomingMessage, type Server, createServer, request as sendRequest } from "node:http";
import { type LookupFunction, type Socket, connect, isIP } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";

import ipaddr from "ipaddr.js";

import type { PlatformWay } from "./platform.ts";

const CONNECT_MS = 30_000;
const MAX_CONNECTIONS = 4096;

/** What servers may reach: the platform's hosts, or every public address as well. */
type EgressPolicy = "platform" | "internet";

/**
 * HTTP proxies on sockets (RFC 9110 §7.6, CONNECT of §9.3.6), one for each policy: a server that has no network of its own sees the one
 * of its profile. Nothing of this machine and of private networks is reached, except the platform's public hosts at its public port.
 */
export async function openEgress(folder: string, way: PlatformWay): Promise<{ readonly close: () => void }> {
  const servers: Server[] = [];
  for (const policy of ["platform", "internet"] as const) {
    const path = join(folder, policy);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const server = createEgressServer(policy, way);
    await listen(server, { path: join(path, "sock") });
    servers.push(server);
  }
  return {
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

export function createEgressServer(policy: EgressPolicy, way: PlatformWay): Server {
  const server = createServer((request, response) => {
    const target = readTarget(request.url ?? "");
    const why = target === undefined ? "this is a proxy: no address to forward to" : whyNot(target, policy, way);
    if (target === undefined || why !== undefined) {
      request.resume();
      response.writeHead(403, { "content-type": "text/plain" }).end(`${why}\n`);
      return;
    }
    const {
      "proxy-connection": _proxy,
      "proxy-authorization": _credentials,
      connection: _connection,
      ...headers
    } = request.headers;
    const far = sendRequest(
      {
        host: unbracket(target.hostname),
        port: Number(target.port || 80),
        path: `${target.pathname}${target.search}`,
        method: request.method,
        headers: { ...headers, host: target.host },
        lookup: lookupOf(target.hostname, way),
        agent: false,
        timeout: CONNECT_MS,
      },
      (incoming) => {
        response.writeHead(incoming.statusCode ?? 502, incoming.headers);
        pipeline(incoming, response, () => {});
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
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connect", (request: IncomingMessage, near: Socket, head: Buffer) => {
    near.on("error", () => near.destroy());
    const target = readTarget(`http://${request.url ?? ""}`);
    const why = target === undefined ? "no host and port" : whyNot(target, policy, way);
    if (target === undefined || why !== undefined) {
      refuse(near, why ?? "");
      return;
    }
    const far = connect({
      host: unbracket(target.hostname),
      port: Number(target.port || 80),
      lookup: lookupOf(target.hostname, way),
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
  return server;
}

function readTarget(text: string): URL | undefined {
  return /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

function whyNot(target: URL, policy: EgressPolicy, way: PlatformWay): string | undefined {
  const host = unbracket(target.hostname).toLowerCase().replace(/\.$/, "");
  if (way.isPlatform(host)) {
    return Number(target.port || 80) === way.port
      ? undefined
      : `${host} is a host of the platform; its port is ${way.port}`;
  }
  if (policy === "platform") {
    return `${host} is no host of the platform; servers of this profile reach nothing else (egress: platform)`;
  }
  if (host === "localhost" || host.endsWith(".localhost")) {
    return `${host} is this machine; servers do not reach it`;
  }
  return isIP(host) !== 0 && !isPublic(host) ? `${host} is a private address; servers do not reach it` : undefined;
}

function lookupOf(hostname: string, way: PlatformWay): LookupFunction {
  const host = unbracket(hostname).toLowerCase().replace(/\.$/, "");
  return way.isPlatform(host) ? way.lookup : publicLookup;
}

/** Resolves to public addresses alone; the connection goes to what was checked, and is not resolved again. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const allowed = error === null ? addresses.filter(({ address }) => isPublic(address)) : [];
    const [first] = allowed;
    if (error !== null || first === undefined) {
      callback(error ?? new Error(`${hostname} leads to a private address; servers do not reach it`), "", 0);
    } else if (options.all === true) {
      callback(null, allowed);
    } else {
      callback(null, first.address, first.family);
    }
  });
};

const isPublic = (address: string): boolean => ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";

const unbracket = (host: string): string => host.replace(/^\[|\]$/g, "");

function refuse(socket: Socket, why: string): void {
  socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
}
