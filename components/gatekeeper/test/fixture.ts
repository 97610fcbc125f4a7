import { mkdtempSync, rmSync } from "node:fs";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  createServer,
  request as httpRequest,
} from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, loadSettings } from "@swath/service";
import { Registry } from "prom-client";

import { buildGatekeeper } from "../build.ts";
import { settings as definitions } from "../config.ts";
import { toPolicySet } from "../policies/declared-policies.ts";
import { ISSUER, SECRET, type TestProvider, createTestProvider } from "./test-provider.ts";

export const DOMAIN = "example.org";
export const HOST = "ades.example.org";
/** Rules of the protected host: three users with a folder each, one path for everybody, one for administrators. */
export const RESOURCES = [
  ...["eric", "bob"].map((user) => ({ name: user, uris: [`/${user}/*`], users: [user] })),
  { name: "all", uris: ["/shared/*"], authenticated: true },
  { name: "admin", uris: ["/shared/admin/*"], roles: ["admin"] },
];

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

export interface Fixture {
  readonly provider: TestProvider;
  /** What arrived at the service, newest last. */
  readonly seen: { url: string; headers: IncomingHttpHeaders; body: string }[];
  readonly service: Server;
  readonly socket: string;
  readonly send: (request?: Ask) => Promise<TestResponse>;
  /** Sends bytes as they are, gives back everything that comes until the connection ends or is silent. */
  readonly raw: (text: string) => Promise<string>;
  readonly bearer: (claims?: Record<string, unknown>) => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
}

/** Starts a provider, a service and the gatekeeper between them, all on unix sockets. */
export async function startFixture({
  scheme = "http",
  settings = {},
}: { readonly scheme?: string; readonly settings?: Readonly<Record<string, string>> } = {}): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), "swath-gatekeeper-"));
  const at = (name: string) => join(folder, `${name}.sock`);
  const provider = await createTestProvider();
  provider.policySets.set("ades", toPolicySet("ades", RESOURCES));
  const seen: Fixture["seen"] = [];
  const service = createServer((request, response) => {
    if (request.url?.endsWith("/unread") === true) {
      response.writeHead(403).end();
      return;
    }
    collect(request).then(
      (body) => {
        seen.push({ url: request.url ?? "", headers: request.headers, body });
        response.setHeader("x-service", "yes");
        response.end(`served ${request.method} ${request.url}`);
      },
      () => response.destroy(),
    );
  });
  service.on("upgrade", (request, socket) => {
    seen.push({ url: request.url ?? "", headers: request.headers, body: "" });
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello");
    socket.on("data", (data) => socket.write(data.toString().toUpperCase()));
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
  });
  await listenAt(provider.server, at("identity"));
  await listenAt(service, at("service"));
  const peer = (name: string) => `http+unix://${encodeURIComponent(at(name))}`;
  const env = {
    GATEKEEPER_HOSTS: JSON.stringify({
      [HOST]: {
        url: `${scheme}://${HOST}`,
        upstream: "UPSTREAM_ADES",
        clientId: "ades",
        secret: "CLIENT_SECRET_ADES",
        openPaths: ["^/(docs|openapi\\.json)$"],
      },
    }),
    UPSTREAM_ADES: peer("service"),
    CLIENT_SECRET_ADES: SECRET,
    PLATFORM_DOMAIN: DOMAIN,
    IDENTITY_ISSUER: ISSUER,
    ENCRYPTION_KEY: "a key that only this test knows",
    IDENTITY_INTERNAL_URL: peer("identity"),
    ACCEPTED_AUDIENCES: "account",
    ...settings,
  };
  const gatekeeper = await buildGatekeeper({
    settings: loadSettings(definitions, env),
    env,
    logger: createLogger("gatekeeper", "silent"),
    metrics: new Registry(),
  });
  const server = gatekeeper.servers["http"] as Server;
  await listenAt(server, at("gatekeeper"));
  await gatekeeper.ready?.();
  return {
    provider,
    seen,
    service,
    socket: at("gatekeeper"),
    send: (request) => send(at("gatekeeper"), request),
    raw: (text) => raw(at("gatekeeper"), text),
    bearer: async (claims) => ({ authorization: `Bearer ${await provider.sign(claims)}` }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await gatekeeper.close?.();
      for (const other of [provider.server, service]) {
        other.closeAllConnections();
        other.close();
      }
      rmSync(folder, { recursive: true });
    },
  };
}

function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((resolve) => server.listen(path, resolve));
}

async function collect(stream: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.toString("latin1");
  }
  return text;
}

function send(
  socketPath: string,
  { method = "GET", path = "/", host = HOST, headers = {}, body }: Ask = {},
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { socketPath, method, path, headers: { host, ...headers } as Record<string, string>, agent: false },
      (response) => {
        collect(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          reject,
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function raw(socketPath: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(socketPath, () => socket.write(text, "latin1"));
    // An answer may be late on a busy machine; one that has begun is whole when nothing follows.
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      socket.setTimeout(700);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => (received === "" ? reject(error) : undefined));
    socket.on("close", () => resolve(received));
  });
}
