import { IGNORED_TOKEN_HEADER, IssuerUnavailableError, parseCookies } from "@swath/auth";
import { type Upstreams, forward, openTunnel } from "@swath/relay";
import { type Logger, noteRoute } from "@swath/service";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES, createServer } from "node:http";
import type { Duplex } from "node:stream";

import { canonicalizeRequest } from "./canonical/canonical-request.ts";
import { type Guard, type Incoming, type Pass, check, checkNow, tokenRequest } from "./check-request.ts";
import { type Enforcement, handleEnforcement } from "./enforcement/handle.ts";
import { Refusal } from "./errors.ts";
import type { HostTable } from "./hosts.ts";
import type { GatekeeperMetrics } from "./metrics.ts";
import { ENDPOINTS } from "./oauth/endpoints.ts";
import { type OwnPages, corsHeaders, preflightHeaders } from "./origin.ts";
import { forwardedHeaders } from "./proxy/forwarded-headers.ts";
import type { Tunnels } from "./proxy/tunnels.ts";
import { isNavigation, respond, respondProblem } from "./respond.ts";
import { withoutCookies } from "./tokens/cookies.ts";
import type { FoundToken } from "./tokens/find-token.ts";
import type { TokenCookies } from "./tokens/token-cookies.ts";

export interface GatekeeperDeps {
  readonly hosts: HostTable;
  /** Without it only open paths pass. */
  readonly guard: Guard | undefined;
  readonly cookies: TokenCookies;
  readonly pages: OwnPages;
  /** Answers for the enforcement points of variant B; left out where there are none. */
  readonly enforcement?: Enforcement | undefined;
  readonly upstreams: Upstreams;
  readonly tunnels: Tunnels;
  readonly metrics: GatekeeperMetrics;
  readonly logger: Logger;
  readonly clock: () => number;
}

/** The server in front of all protected hosts. Listens on nothing yet. */
export function createGatekeeper(deps: GatekeeperDeps): Server {
  for (const [path, { methods }] of Object.entries(ENDPOINTS)) {
    methods.forEach((method) => noteRoute({ method, path }));
  }
  const server = createServer({
    // Bodies of any size and length of time pass; only heads must arrive in time.
    requestTimeout: 0,
    headersTimeout: 30_000,
    // Longer than the ingress in front keeps idle connections.
    keepAliveTimeout: 75_000,
    // Anything else that a client wants to switch to (h2c) would be a way around every check: it stays plain HTTP.
    shouldUpgradeCallback: ({ method, headers }) => method === "GET" && headers.upgrade?.toLowerCase() === "websocket",
  });
  server.on("request", (request, response) => handleRequest(deps, request, response));
  // The body is asked for once the request may pass.
  server.on("checkContinue", (request, response) => handleRequest(deps, request, response));
  server.on("upgrade", (request, socket, head) => handleUpgrade(deps, request, socket, head));
  return server;
}

function handleRequest(deps: GatekeeperDeps, request: IncomingMessage, response: ServerResponse): void {
  const started = performance.now();
  response.on("close", () => deps.metrics.observe(response.statusCode, performance.now() - started));
  const fail = (error: unknown) => refuse(deps, request, response, error);
  try {
    const enforced = deps.enforcement && findEnforced(deps, request);
    if (enforced !== undefined) {
      const { guard, enforcement, clock } = deps;
      handleEnforcement({ guard, enforcement, clock }, enforced.host, enforced.canonical, request, response).catch(
        fail,
      );
      return;
    }
    const incoming = readRequest(deps, request);
    const { canonical } = incoming;
    if (canonical.method === "OPTIONS") {
      respond(request, response, { status: 200, headers: preflightHeaders(request.headers, deps.pages) });
      return;
    }
    if (canonical.path.encoded.startsWith("/oauth/") && Object.hasOwn(ENDPOINTS, canonical.path.encoded)) {
      handleEndpoint(deps, incoming, response).catch(fail);
      return;
    }
    const proceed = (pass: Pass) => forwardRequest(deps, incoming, response, pass, fail);
    const known = checkNow(deps, incoming);
    if (known !== undefined) {
      proceed(known);
      return;
    }
    check(deps, incoming)
      .then(proceed)
      .catch((error: unknown) => offerLogin(deps, incoming, response, error).catch(fail));
  } catch (error) {
    fail(error);
  }
}

function handleUpgrade(deps: GatekeeperDeps, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const fail = (error: unknown) => {
    const { status, body } = deps.metrics.count(toRefusal(error));
    logFailure(deps, request, error);
    const text = `${JSON.stringify(body)}\n`;
    const type = "content-type: application/problem+json";
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${type}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
  };
  // Before anything is joined to it, a broken connection has nothing else to end.
  socket.on("error", () => socket.destroy());
  Promise.resolve()
    .then(async () => {
      const incoming = readRequest(deps, request);
      const { canonical, host } = incoming;
      if (canonical.body !== "none") {
        throw new Refusal("AMBIGUOUS_REQUEST", { because: "it wants to switch protocols and has a body" });
      }
      const { token } = checkNow(deps, incoming) ?? (await check(deps, incoming));
      const verified = token.kind === "verified" ? token.verified : undefined;
      openTunnel({
        request,
        socket,
        head,
        path: `${canonical.path.encoded}${canonical.query}`,
        upstream: deps.upstreams.get(host.upstream),
        headers: headersFor(deps, incoming, token),
        changeHeaders: (headers) => [...headers, ...cookieHeaders(token)],
        onOpen: (end) => deps.tunnels.add(verified, end),
        onFailure: (cause) => fail(new Refusal("UPSTREAM", { cause })),
      });
    })
    .catch(fail);
}

/** @throws {Refusal} AMBIGUOUS_REQUEST */
function findEnforced({ hosts }: GatekeeperDeps, request: IncomingMessage) {
  const canonical = canonicalizeRequest(request);
  const host = hosts.findEnforced(canonical.host.name);
  return host && { host, canonical };
}

/** @throws {Refusal} AMBIGUOUS_REQUEST, METHOD, UNKNOWN_HOST */
function readRequest({ hosts }: GatekeeperDeps, request: IncomingMessage): Incoming {
  const canonical = canonicalizeRequest(request);
  const host = hosts.find(canonical.host.name);
  if (host === undefined) {
    throw new Refusal("UNKNOWN_HOST", { because: canonical.host.name });
  }
  return { request, canonical, host, cookies: parseCookies(request.headers.cookie) };
}

function headersFor(
  { cookies, clock, guard }: GatekeeperDeps,
  incoming: Incoming,
  token: FoundToken,
): readonly string[] {
  const { request, canonical } = incoming;
  return forwardedHeaders({
    rawHeaders: request.rawHeaders,
    host: canonical.host,
    cookie: withoutCookies(incoming.cookies, (name) => cookies.isTokenCookie(name) || name.endsWith("swath_login")),
    verified: token.kind === "verified" ? token.verified : undefined,
    boundTo: token.kind === "verified" ? token.boundTo : undefined,
    userIdHeader: guard?.issuer.acceptIdTokens === true,
    now: clock(),
  });
}

function forwardRequest(
  deps: GatekeeperDeps,
  incoming: Incoming,
  response: ServerResponse,
  { token }: Pass,
  onFailure: (error: unknown) => void,
): void {
  const { request, canonical, host } = incoming;
  forward({
    request,
    response,
    relayed: { method: canonical.method, path: `${canonical.path.encoded}${canonical.query}`, body: canonical.body },
    upstream: deps.upstreams.get(host.upstream),
    headers: headersFor(deps, incoming, token),
    changeHeaders: (headers) => {
      const ignored = token.kind === "invalid" ? [IGNORED_TOKEN_HEADER, token.error.message] : [];
      const cookies = cookieHeaders(token);
      return [...headers, ...ignored, ...cookies, ...(cookies.length > 0 ? ["Cache-Control", "no-store"] : [])];
    },
    onFailure: (cause) => onFailure(new Refusal("UPSTREAM", { cause })),
  });
}

/** A login that was renewed comes back as cookies. */
function cookieHeaders(token: FoundToken): readonly string[] {
  return token.kind === "verified" ? token.setCookies.flatMap((cookie) => ["Set-Cookie", cookie]) : [];
}

async function handleEndpoint(deps: GatekeeperDeps, incoming: Incoming, response: ServerResponse): Promise<void> {
  const { guard } = deps;
  const { request, canonical, host, cookies } = incoming;
  const endpoint = ENDPOINTS[canonical.path.encoded];
  if (guard === undefined) {
    throw new Refusal("NO_ISSUER");
  }
  if (endpoint?.methods.includes(canonical.method) !== true) {
    throw new Refusal("METHOD", { headers: { allow: endpoint?.methods.join(", ") ?? "" } });
  }
  await endpoint.handle(guard.endpoints, {
    request,
    response,
    canonical,
    host,
    cookies,
    findToken: () => guard.finder.find(tokenRequest(guard, incoming)),
  });
}

/** Sends people with a browser and no good token to the login page; rethrows everything else. */
async function offerLogin(
  deps: GatekeeperDeps,
  incoming: Incoming,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const { request, canonical, host, cookies } = incoming;
  if (!(error instanceof Refusal) || error.status !== 401 || deps.guard === undefined || !isNavigation(request)) {
    throw error;
  }
  const returnTo = `${canonical.path.encoded}${canonical.query}`;
  const { location, setCookies } = await deps.guard.endpoints.flow.start(host, cookies, returnTo);
  respond(request, response, { status: 302, headers: { location, "set-cookie": setCookies } });
}

function refuse(deps: GatekeeperDeps, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  logFailure(deps, request, error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  respondProblem(request, response, deps.metrics.count(toRefusal(error)), corsHeaders(request.headers, deps.pages));
}

function toRefusal(error: unknown): unknown {
  return error instanceof IssuerUnavailableError ? new Refusal("ISSUER_UNAVAILABLE", { cause: error }) : error;
}

/** Refusals are everyday; what the gatekeeper or those it depends on fail at is not. Paths only: queries carry secrets. */
function logFailure({ logger }: GatekeeperDeps, { method, url, headers }: IncomingMessage, error: unknown): void {
  const where = { method, host: headers.host, path: url?.split("?", 1)[0] };
  if (error instanceof Refusal && error.status < 500) {
    const cause = error.cause instanceof Error && "code" in error.cause ? error.cause.code : undefined;
    logger.debug({ ...where, code: error.code, cause }, "refused");
  } else {
    logger.error({ ...where, err: error }, "request failed");
  }
}
