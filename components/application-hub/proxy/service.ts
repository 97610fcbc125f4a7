import { parseCookies, readCookie } from "@swath/auth";
import { type RelayedRequest, type Upstreams, forward, openTunnel } from "@swath/relay";
import { type Logger, Problem } from "@swath/service";
import { type CallerPlaces, releaseOnClose } from "@swath/service/caller-limits";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { Duplex } from "node:stream";

import type { ActivityLog } from "./activity.ts";
import { type EnterDeps, handleEnter, isPage, refuseProgram, startEntering } from "./enter.ts";
import { type ServerVisitor, toClientHeaders, toHubHeaders, toServerHeaders } from "./headers.ts";
import { type AddressToken, isServerPath, readAddressToken, toSandboxedHeaders } from "./hub-host.ts";
import type { PlatformRelay } from "./platform-relay.ts";
import { sendText, toSocketText } from "./respond.ts";
import type { Routes, ServerRoute, Visit } from "./routes.ts";
import type { Sites } from "./sites.ts";
import type { StandInTokens } from "./stand-in-tokens.ts";
import type { Tunnels } from "./tunnels.ts";

export interface ProxyDeps extends EnterDeps {
  readonly logger: Logger;
  readonly routes: Routes;
  readonly upstreams: Upstreams;
  readonly tunnels: Tunnels;
  readonly tunnelPlaces: CallerPlaces;
  readonly standIns: StandInTokens;
  readonly activity: ActivityLog;
  readonly hubUrl: string;
  readonly hiddenCookies: ReadonlySet<string>;
  readonly relay: PlatformRelay;
  /** Answers for sites that run in the browser alone. */
  readonly serveSite: Sites["serve"];
}

/** A notebook has one for each kernel and terminal that a tab shows. Behind a server may be many tabs of its owner. */
export const TUNNEL_PLACES = { name: "WebSockets", perUser: 200, perAddress: 200, total: 5000 };

/** A request for a server, and who sent it. */
interface Admitted {
  readonly server: ServerRoute;
  readonly visit: Visit;
  readonly credential: { readonly kind: "cookie" | "token"; readonly value: string };
  /** The path of the request without the token that was in it. */
  readonly path?: string;
}

/** Failed Dependency, as JupyterHub has it: JupyterLab says then that its server has ended. */
const NOT_RUNNING = 424;
const NOT_RUNNING_TEXT = "The server is not running; start it at the hub.";

/** The hub's own host and those of all servers. Listens on nothing yet. */
export function createProxy(deps: ProxyDeps): Server {
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 30_000,
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: ({ method, headers }) => method === "GET" && headers.upgrade?.toLowerCase() === "websocket",
  });
  server.on("request", (request, response) => handle(deps, request, response));
  server.on("checkContinue", (request, response) => handle(deps, request, response));
  server.on("upgrade", (request, socket, head) => handleUpgrade(deps, request, socket, head));
  return server;
}

function handle(deps: ProxyDeps, request: IncomingMessage, response: ServerResponse): void {
  const fail = (error: unknown) => {
    deps.logger.error({ err: error }, "request failed");
    sendText(response, 503, "The hub cannot answer now; try again in a moment.");
  };
  const relayed = readRequest(request);
  const label = labelOf(deps, request);
  if (relayed === undefined || label === undefined) {
    sendText(response, 400, "This request cannot be read in one way alone.");
    return;
  }
  if (label === "") {
    replyOnHubHost(deps, request, response, relayed).catch(fail);
    return;
  }
  // Without waiting where everything is known.
  const known = request.headers.authorization === undefined ? admitNow(deps, label, request) : undefined;
  if (known !== undefined && !relayed.path.startsWith("/.swath/")) {
    serve(deps, known, { user: known.visit.user }, request, response, relayed);
    return;
  }
  reply(deps, label, request, response, relayed).catch(fail);
}

/** The hub itself, and servers for clients with a token (JupyterHub's addresses). Browsers go on to a server's own origin. */
async function replyOnHubHost(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  relayed: RelayedRequest,
): Promise<void> {
  const shown = isServerPath(relayed.path) ? readCredential(request, relayed.path) : undefined;
  const server = shown && (await deps.routes.findAt(relayed.path));
  if (shown === undefined || server === undefined) {
    forwardToHub(deps, request, response, relayed);
    return;
  }
  const visit = await deps.routes.visitByToken(server, shown.token);
  // A worker that a page of the hub registers would see all of its requests.
  if (visit === undefined || request.headers["service-worker"] !== undefined) {
    refuseProgram(response);
    return;
  }
  const admitted: Admitted = { server, visit, credential: { kind: "token", value: shown.token } };
  const visitor = await toVisitor(deps, admitted, request);
  serve(deps, admitted, visitor, request, response, { ...relayed, path: shown.path }, "hub");
}

async function reply(
  deps: ProxyDeps,
  label: string,
  request: IncomingMessage,
  response: ServerResponse,
  relayed: RelayedRequest,
): Promise<void> {
  if (relayed.path.startsWith("/.swath/enter?")) {
    await handleEnter(deps, label, request, response);
    return;
  }
  const server = await deps.routes.find(label);
  if (server === undefined) {
    // The hub knows why it is not there.
    if (isPage(request)) {
      startEntering(deps, label, request, response);
    } else {
      request.resume();
      sendText(response, NOT_RUNNING, NOT_RUNNING_TEXT);
    }
    return;
  }
  const admitted = await admit(deps, server, request, relayed.path);
  if (admitted === undefined) {
    startEntering(deps, label, request, response);
    return;
  }
  if (relayed.path.startsWith("/.swath/")) {
    await deps.relay.handle(admitted.server, admitted.visit, request, response, relayed);
    return;
  }
  const { path = relayed.path } = admitted;
  serve(deps, admitted, await toVisitor(deps, admitted, request), request, response, { ...relayed, path });
}

/** What the server is told of an admitted request: never what let it in, nor any other token of the hub. */
async function toVisitor(
  { standIns }: ProxyDeps,
  { server, visit, credential }: Admitted,
  request: IncomingMessage,
): Promise<ServerVisitor> {
  const { user } = visit;
  if (credential.kind === "token") {
    return { user, authorization: { token: await standIns.replace(server, visit, credential.value) } };
  }
  const token = readToken(request);
  return token !== undefined && (await standIns.isHubToken(token)) ? { user } : { user, authorization: "as sent" };
}

function serve(
  deps: ProxyDeps,
  { server }: Admitted,
  visitor: ServerVisitor,
  request: IncomingMessage,
  response: ServerResponse,
  relayed: RelayedRequest,
  host: "own" | "hub" = "own",
): void {
  deps.activity.note(server.id);
  if ("site" in server.target) {
    deps.serveSite(server.target, request, response);
    return;
  }
  forward({
    request,
    response,
    relayed,
    upstream: deps.upstreams.get(server.target.url),
    headers: toServerHeaders(request, deps, visitor, host),
    changeHeaders: (headers) => (host === "hub" ? toSandboxedHeaders(headers) : toClientHeaders(headers, deps)),
    onFailure: () => {
      deps.routes.forget("kept");
      sendText(
        response,
        503,
        "The server does not answer. It may just be starting or have ended; the hub's pages say more.",
      );
    },
  });
}

function forwardToHub(
  deps: ProxyDeps,
  request: IncomingMessage,
  response: ServerResponse,
  relayed: RelayedRequest,
): void {
  if (relayed.path.startsWith("/internal")) {
    sendText(response, 404, "There is nothing here.");
    return;
  }
  forward({
    request,
    response,
    relayed,
    upstream: deps.upstreams.get(deps.hubUrl),
    headers: toHubHeaders(request),
    onFailure: (cause) => {
      deps.logger.warn({ err: cause }, "the hub does not answer");
      sendText(response, 503, "The hub is starting; servers that run are not affected. Try again in a moment.");
    },
  });
}

function handleUpgrade(deps: ProxyDeps, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on("error", () => socket.destroy());
  const refuse = (status: number, text: string) => socket.end(toSocketText(status, text));
  const label = labelOf(deps, request);
  const relayed = readRequest(request);
  const host = label === "" ? "hub" : "own";
  if (
    label === undefined ||
    relayed === undefined ||
    relayed.body !== "none" ||
    (host === "hub" && !isServerPath(relayed.path))
  ) {
    refuse(404, "There is no WebSocket here.");
    return;
  }
  if (!isOwnPage(request)) {
    refuse(403, "This WebSocket is for pages of its own origin.");
    return;
  }
  (async () => {
    const server = await (host === "hub" ? deps.routes.findAt(relayed.path) : deps.routes.find(label));
    if (server === undefined) {
      refuse(NOT_RUNNING, NOT_RUNNING_TEXT);
      return;
    }
    const admitted = await admit(deps, server, request, relayed.path);
    if (
      admitted === undefined ||
      "site" in server.target ||
      (host === "hub" && admitted.credential.kind === "cookie")
    ) {
      refuse(403, "Log in to this server first.");
      return;
    }
    const visitor = await toVisitor(deps, admitted, request);
    const address = request.socket.remoteAddress ?? "";
    releaseOnClose(socket, deps.tunnelPlaces.take({ user: admitted.visit.user, address }));
    deps.activity.note(server.id);
    openTunnel({
      request,
      socket,
      head,
      path: admitted.path ?? relayed.path,
      upstream: deps.upstreams.get(server.target.url),
      headers: toServerHeaders(request, deps, visitor, host),
      changeHeaders: (headers) => (host === "hub" ? toSandboxedHeaders(headers) : toClientHeaders(headers, deps)),
      onOpen: (end) => {
        const note = () => deps.activity.note(server.id);
        // What the browser sends is use; what a server sends by itself is not.
        socket.on("data", note);
        return deps.tunnels.add({ ...admitted, end });
      },
      onFailure: () => refuse(503, "The server does not answer."),
    });
  })().catch((error: unknown) => {
    if (error instanceof Problem) {
      refuse(error.status, error.message);
      return;
    }
    deps.logger.error({ err: error }, "request failed");
    refuse(503, "The hub cannot answer now; try again in a moment.");
  });
}

function admitNow(deps: ProxyDeps, label: string, request: IncomingMessage): Admitted | undefined {
  const server = deps.routes.peek(label);
  const cookie = server && readCookie(parseCookies(request.headers.cookie), deps.cookieName);
  const visit = server !== undefined && cookie !== undefined ? deps.routes.peekVisit(server, cookie) : undefined;
  return server !== undefined && cookie !== undefined && visit !== undefined
    ? { server, visit, credential: { kind: "cookie", value: cookie } }
    : undefined;
}

async function admit(
  deps: ProxyDeps,
  server: ServerRoute,
  request: IncomingMessage,
  path: string,
): Promise<Admitted | undefined> {
  const cookie = readCookie(parseCookies(request.headers.cookie), deps.cookieName);
  if (cookie !== undefined) {
    const visit = await deps.routes.visitBy(server, cookie);
    if (visit !== undefined) {
      return { server, visit, credential: { kind: "cookie", value: cookie } };
    }
  }
  const shown = readCredential(request, path);
  const visit = shown === undefined ? undefined : await deps.routes.visitByToken(server, shown.token);
  return shown === undefined || visit === undefined
    ? undefined
    : { server, visit, credential: { kind: "token", value: shown.token }, path: shown.path };
}

/** The token of a request, and its path without one. */
function readCredential(request: IncomingMessage, path: string): AddressToken | undefined {
  const token = readToken(request);
  const inAddress = readAddressToken(request, path);
  return token === undefined ? inAddress : { token, path: inAddress?.path ?? path };
}

const readToken = ({ headers }: IncomingMessage): string | undefined =>
  /^(?:token|bearer)\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1];

/** The label of a server's host; empty for the hub's own, undefined for others. */
function labelOf({ hubHost }: ProxyDeps, { headers }: IncomingMessage): string | undefined {
  const host = (headers.host ?? "").toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  if (host === hubHost) {
    return "";
  }
  const label = host.endsWith(`.${hubHost}`) ? host.slice(0, -hubHost.length - 1) : undefined;
  return label !== undefined && /^[a-z0-9-]{1,63}$/.test(label) ? label : undefined;
}

function readRequest({ method = "", url = "", headers }: IncomingMessage): RelayedRequest | undefined {
  const { "transfer-encoding": coding, "content-length": length } = headers;
  if (
    !url.startsWith("/") ||
    method === "CONNECT" ||
    method === "TRACE" ||
    (coding !== undefined && (length !== undefined || coding.toLowerCase() !== "chunked"))
  ) {
    return undefined;
  }
  return {
    method,
    path: url,
    body: coding !== undefined ? "chunked" : length !== undefined && length !== "0" ? "length" : "none",
  };
}

/** A page of another origin of the same site would send the cookie too. */
function isOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === (host ?? "").toLowerCase());
}
