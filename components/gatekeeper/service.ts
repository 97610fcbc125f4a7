import {
  IssuerUnavailableError,
  type Issuer,
  type RequestCookies,
  type TokenVerifier,
  parseCookies,
} from "@swath/auth";
import type { Logger } from "@swath/service";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES, createServer } from "node:http";
import type { Duplex } from "node:stream";

import { type CanonicalRequest, canonicalizeRequest } from "./canonical/canonical-request.ts";
import { Refusal } from "./errors.ts";
import type { HostTable, ProtectedHost } from "./hosts.ts";
import type { GatekeeperMetrics } from "./metrics.ts";
import { ENDPOINTS, type EndpointDeps } from "./oauth/endpoints.ts";
import { isSecure } from "./oauth/login-flow.ts";
import type { PermissionTickets } from "./oauth/permission-tickets.ts";
import { type OwnPages, corsHeaders, mayUseCookies, preflightHeaders } from "./origin.ts";
import type { PolicySource } from "./policies/policy-source.ts";
import { forward } from "./proxy/forward.ts";
import { forwardedHeaders } from "./proxy/forwarded-headers.ts";
import { type Tunnels, openTunnel } from "./proxy/tunnel.ts";
import type { Upstreams } from "./proxy/upstream.ts";
import { isNavigation, respond, respondProblem } from "./respond.ts";
import { withoutCookies } from "./tokens/cookies.ts";
import type { FoundToken, TokenFinder } from "./tokens/find-token.ts";
import type { TokenCookies } from "./tokens/token-cookies.ts";

/** Everything that stands between a request and its service, where an issuer is deployed or given. */
export interface Guard {
  readonly issuer: Issuer;
  readonly verifier: TokenVerifier;
  readonly policies: PolicySource;
  readonly finder: TokenFinder;
  readonly endpoints: EndpointDeps;
  /** Audiences that tokens for any host may have, besides the host's own client. */
  readonly audiences: readonly string[];
  /** Where refusals carry a permission ticket of UMA. */
  readonly tickets?: PermissionTickets;
}

export interface GatekeeperDeps {
  readonly hosts: HostTable;
  /** Without it only open paths pass. */
  readonly guard: Guard | undefined;
  readonly cookies: TokenCookies;
  readonly pages: OwnPages;
  readonly upstreams: Upstreams;
  readonly tunnels: Tunnels;
  readonly metrics: GatekeeperMetrics;
  readonly logger: Logger;
  readonly clock: () => number;
}

/** A request read in its one way, and who answers for its host. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly canonical: CanonicalRequest;
  readonly host: ProtectedHost;
  readonly cookies: RequestCookies;
}

/** What a request that may pass goes on with. */
interface Pass {
  readonly token: FoundToken;
}

/** The server in front of all protected hosts. Listens on nothing yet. */
export function createGatekeeper(deps: GatekeeperDeps): Server {
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
        canonical,
        upstream: deps.upstreams.get(host.upstream),
        headers: headersFor(deps, incoming, token),
        setCookies: token.kind === "verified" ? token.setCookies : [],
        verified,
        tunnels: deps.tunnels,
        onFailure: fail,
      });
    })
    .catch(fail);
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

/** The decision when everything it takes is at hand, without waiting; `undefined` when something must be asked for. */
function checkNow(deps: GatekeeperDeps, incoming: Incoming): Pass | undefined {
  const { guard } = deps;
  if (guard === undefined) {
    return undefined;
  }
  const token = guard.finder.peek(tokenRequest(guard, incoming));
  if (token?.kind !== "verified") {
    return isOpen(incoming) && token?.kind === "none" ? { token } : undefined;
  }
  const evaluator = guard.policies.peek(incoming.host.credentials.clientId);
  if (evaluator === undefined || !mayUse(deps, incoming, token)) {
    return undefined;
  }
  const context = { identity: token.verified.identity, now: new Date(deps.clock()) };
  const granted = isOpen(incoming) || evaluator.decidePath(incoming.canonical.path.decoded, context).granted;
  return granted ? { token } : undefined;
}

/**
 * The decision, with everything asked for that it takes: a token, what the identity service knows of it, the host's rules.
 * @throws {Refusal} why the request may not pass
 */
async function check(deps: GatekeeperDeps, incoming: Incoming): Promise<Pass> {
  const { guard } = deps;
  const open = isOpen(incoming);
  if (guard === undefined) {
    if (open) {
      return { token: { kind: "none" } };
    }
    throw new Refusal("NO_ISSUER");
  }
  let token: FoundToken;
  try {
    token = await guard.finder.find(tokenRequest(guard, incoming));
  } catch (error) {
    if (open) {
      // An open path is open whatever becomes of a token that need not be there.
      return { token: { kind: "none" } };
    }
    throw error;
  }
  if (open) {
    return { token: mayUse(deps, incoming, token) ? token : { kind: "none" } };
  }
  if (token.kind === "none") {
    const challenge = `Bearer realm="${incoming.host.url}"`;
    throw new Refusal("TOKEN_MISSING", {
      headers: { "www-authenticate": await addTicket(guard, incoming, challenge) },
    });
  }
  if (token.kind === "invalid") {
    const challenge = `Bearer realm="${incoming.host.url}", error="invalid_token", error_description="${toQuotable(token.error.message)}"`;
    throw new Refusal("TOKEN_INVALID", {
      cause: token.error,
      headers: { "www-authenticate": await addTicket(guard, incoming, challenge) },
    });
  }
  if (!mayUse(deps, incoming, token)) {
    throw new Refusal("CROSS_SITE");
  }
  const { clientId } = incoming.host.credentials;
  const evaluator = guard.policies.peek(clientId) ?? (await guard.policies.load(clientId));
  const context = { identity: token.verified.identity, now: new Date(deps.clock()) };
  if (!evaluator.decidePath(incoming.canonical.path.decoded, context).granted) {
    throw new Refusal("FORBIDDEN");
  }
  return { token };
}

/** A challenge with a ticket for the path's resources where UMA is on: who brings it to the issuer gets a token for them. */
async function addTicket(guard: Guard, { request, host, canonical }: Incoming, challenge: string): Promise<string> {
  const { clientId } = host.credentials;
  const evaluator = guard.tickets === undefined || isNavigation(request) ? undefined : guard.policies.peek(clientId);
  const resources = evaluator?.findResources(canonical.path.decoded).map(({ id }) => id) ?? [];
  const ticket = await guard.tickets?.challenge(host.credentials, resources, host.url);
  return ticket === undefined ? challenge : `${challenge}, ${ticket}`;
}

function tokenRequest({ audiences }: Guard, { request, cookies, host }: Incoming) {
  return {
    authorization: request.headers.authorization,
    cookies,
    audiences: [...audiences, host.credentials.clientId],
    secure: isSecure(host.url),
  };
}

function isOpen({ host, canonical }: Incoming): boolean {
  return host.openPaths.some((pattern) => pattern.test(canonical.path.decoded));
}

function mayUse({ pages }: GatekeeperDeps, { request, canonical }: Incoming, token: FoundToken): boolean {
  return (
    token.kind !== "verified" || token.from === "header" || mayUseCookies(canonical.method, request.headers, pages)
  );
}

function headersFor({ cookies, clock }: GatekeeperDeps, incoming: Incoming, token: FoundToken): readonly string[] {
  const { request, canonical } = incoming;
  return forwardedHeaders({
    rawHeaders: request.rawHeaders,
    host: canonical.host,
    cookie: withoutCookies(incoming.cookies, (name) => cookies.isTokenCookie(name) || name.endsWith("swath_login")),
    verified: token.kind === "verified" ? token.verified : undefined,
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
    canonical,
    upstream: deps.upstreams.get(host.upstream),
    headers: headersFor(deps, incoming, token),
    setCookies: token.kind === "verified" ? token.setCookies : [],
    ...(token.kind === "invalid" && { ignored: token.error.message }),
    onFailure,
  });
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

/** What may stand in a quoted string of a header as it is (RFC 9110 §5.6.4). */
function toQuotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
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
