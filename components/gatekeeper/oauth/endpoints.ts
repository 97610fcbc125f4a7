import {
  type Issuer,
  IssuerUnavailableError,
  type LogoutTokenVerifier,
  type RequestCookies,
  TokenError,
} from "@swath/auth";
import { readBody } from "@swath/service";
import type { IncomingMessage, ServerResponse } from "node:http";

import type { CanonicalRequest } from "../canonical/canonical-request.ts";
import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import { corsHeaders, mayUseCookies, type OwnPages } from "../origin.ts";
import type { PolicySource } from "../policies/policy-source.ts";
import { respond, respondJson, respondProblem } from "../respond.ts";
import { readOnlyValue } from "../tokens/cookies.ts";
import type { FoundToken } from "../tokens/find-token.ts";
import type { TokenCookies } from "../tokens/token-cookies.ts";
import type { TokenEndpoint } from "../tokens/token-endpoint.ts";
import { type LoginFlow, CALLBACK_PATH, isSecure } from "./login-flow.ts";
import { readReturnAddress } from "./return-address.ts";

export interface EndpointDeps {
  readonly issuer: Issuer;
  readonly endpoint: TokenEndpoint;
  readonly flow: LoginFlow;
  readonly cookies: TokenCookies;
  readonly policies: PolicySource;
  /** Checks what the issuer tells a client of logouts. */
  readonly logoutTokens: (clientId: string) => LogoutTokenVerifier;
  readonly domain: string;
  readonly pages: OwnPages;
  readonly defaultClient: string;
}

/** A request to one of the gatekeeper's own addresses. */
export interface EndpointRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly canonical: CanonicalRequest;
  readonly host: ProtectedHost;
  readonly cookies: RequestCookies;
  /** Looks for the request's token. */
  readonly findToken: () => Promise<FoundToken>;
}

type Endpoint = (deps: EndpointDeps, request: EndpointRequest) => Promise<void>;

/** The gatekeeper's own addresses, the same on every protected host. */
export const ENDPOINTS: Readonly<Record<string, { readonly methods: readonly string[]; readonly handle: Endpoint }>> = {
  "/oauth/authorize": { methods: ["GET"], handle: authorize },
  [CALLBACK_PATH]: { methods: ["GET"], handle: callback },
  "/oauth/login": { methods: ["POST"], handle: logIn },
  "/oauth/logout": { methods: ["GET", "POST"], handle: logOut },
  "/oauth/back-channel-logout": { methods: ["POST"], handle: hearLogout },
  "/oauth/expired": { methods: ["GET", "HEAD"], handle: expired },
  "/oauth/token": { methods: ["GET"], handle: showToken },
  "/oauth/discovery": { methods: ["GET"], handle: discovery },
};

async function authorize(
  { flow, domain }: EndpointDeps,
  { request, response, canonical, host, cookies }: EndpointRequest,
) {
  const target = new URLSearchParams(canonical.query).get("redirect") ?? "/";
  const address = readReturnAddress(target, host.url, domain);
  if (!address.startsWith(`${host.url}/`)) {
    throw new Refusal("BAD_PARAMETER", { because: "redirect must be a path of this host" });
  }
  const { location, setCookies } = await flow.start(host, cookies, address.slice(host.url.length));
  respond(request, response, { status: 302, headers: { location, "set-cookie": setCookies } });
}

async function callback(deps: EndpointDeps, { request, response, canonical, host, cookies }: EndpointRequest) {
  const { tokens, returnTo } = await deps.flow.finish(host, cookies, new URLSearchParams(canonical.query));
  const setCookies = deps.cookies.keep(tokens, isSecure(host.url));
  respond(request, response, {
    status: 302,
    headers: { location: `${host.url}${returnTo}`, "set-cookie": setCookies },
  });
}

/** User name and password of a form for tokens, with this host's client, as the known gatekeeper does. */
async function logIn(deps: EndpointDeps, { request, response, host }: EndpointRequest) {
  // Otherwise a page of another site could log somebody in under the name of its owner.
  if (!mayUseCookies("POST", request.headers, deps.pages)) {
    throw new Refusal("CROSS_SITE");
  }
  const form = new URLSearchParams(await readForm(request));
  const [username, password] = [form.get("username"), form.get("password")];
  if (username === null || password === null || username === "" || password === "") {
    throw new Refusal("BAD_PARAMETER", { because: "username and password must be given, as a form" });
  }
  const forwardedFor = request.headers["x-forwarded-for"];
  const reply = await deps.endpoint.send(
    host.credentials.clientId,
    { grant_type: "password", username, password, scope: "openid profile email" },
    typeof forwardedFor === "string" ? forwardedFor : undefined,
  );
  const cors = corsHeaders(request.headers, deps.pages);
  if (!reply.ok) {
    const { error, description } = reply;
    respondJson(request, response, { error, error_description: description }, { status: 401, headers: cors });
    return;
  }
  const setCookies = deps.cookies.keep(reply.tokens, isSecure(host.url));
  respondJson(request, response, reply.body, { headers: { ...cors, "set-cookie": setCookies } });
}

/** Ends the login here and at the issuer, then goes to the issuer's logout page, or where `redirect` says. */
async function logOut(deps: EndpointDeps, { request, response, canonical, host, cookies, findToken }: EndpointRequest) {
  if (!mayUseCookies(canonical.method, request.headers, deps.pages)) {
    throw new Refusal("CROSS_SITE");
  }
  const target = new URLSearchParams(canonical.query).get("redirect");
  const returnTo = target === null ? undefined : readReturnAddress(target, host.url, deps.domain);
  const headers = { "set-cookie": deps.cookies.clear(isSecure(host.url)) };
  try {
    const refresh = readOnlyValue(cookies, deps.cookies.names.refresh);
    const found = refresh === undefined ? undefined : deps.cookies.readRefreshToken(refresh);
    const token = await findToken();
    const login = token.kind === "verified" ? token.verified : undefined;
    const clientId = found?.clientId ?? login?.identity.clientId ?? deps.defaultClient;
    // None of both is left out because the other one fails.
    await Promise.all([
      login && deps.policies.endSession(login),
      found && deps.endpoint.revoke(clientId, found.refreshToken),
    ]);
    const { end_session_endpoint: logoutPage } = await deps.issuer.metadata();
    const location = returnTo ?? logoutAddress(logoutPage, host);
    respond(request, response, { status: 302, headers: { ...headers, location } });
  } catch (error) {
    // Whatever the issuer does, or somebody planted among the cookies: this browser has them no longer.
    const problem =
      error instanceof IssuerUnavailableError ? new Refusal("ISSUER_UNAVAILABLE", { cause: error }) : error;
    respondProblem(request, response, problem, headers);
  }
}

/** OpenID Connect RP-Initiated Logout 1.0 §2. */
function logoutAddress(page: string | undefined, host: ProtectedHost): string {
  if (page === undefined) {
    return `${host.url}/`;
  }
  const address = new URL(page);
  address.searchParams.set("client_id", host.credentials.clientId);
  return address.href;
}

/** An issuer of someone else tells of a logout (OpenID Connect Back-Channel Logout 1.0 §2.5). */
async function hearLogout({ policies, logoutTokens }: EndpointDeps, { request, response, host }: EndpointRequest) {
  const { endLogin } = policies;
  if (endLogin === undefined) {
    throw new Refusal("UNKNOWN_PATH");
  }
  const tokens = new URLSearchParams(await readForm(request)).getAll("logout_token");
  const [token] = tokens;
  const headers = { "cache-control": "no-store" };
  const refuse = (description: string) =>
    respondJson(
      request,
      response,
      { error: "invalid_request", error_description: description },
      { status: 400, headers },
    );
  if (token === undefined || tokens.length > 1) {
    refuse("one logout_token is required, in a form");
    return;
  }
  try {
    await logoutTokens(host.credentials.clientId).accept(token, endLogin);
    respond(request, response, { status: 200, headers });
  } catch (error) {
    if (error instanceof TokenError) {
      refuse(error.message);
      return;
    }
    throw error instanceof IssuerUnavailableError ? new Refusal("ISSUER_UNAVAILABLE", { cause: error }) : error;
  }
}

async function expired(deps: EndpointDeps, { request, response, findToken }: EndpointRequest) {
  const token = await findToken();
  const headers = corsHeaders(request.headers, deps.pages);
  respond(request, response, { status: token.kind === "verified" ? 200 : 401, headers });
}

/** The claims of the caller's own token. */
async function showToken(deps: EndpointDeps, { request, response, findToken }: EndpointRequest) {
  const token = await findToken();
  if (token.kind !== "verified") {
    throw new Refusal(token.kind === "none" ? "TOKEN_MISSING" : "TOKEN_INVALID");
  }
  const headers = { ...corsHeaders(request.headers, deps.pages), "set-cookie": token.setCookies };
  respondJson(request, response, token.verified.claims, { headers });
}

function discovery(deps: EndpointDeps, { request, response }: EndpointRequest): Promise<void> {
  const endpoints = Object.keys(ENDPOINTS).map((path) => [`${path.slice("/oauth/".length)}_endpoint`, path]);
  respondJson(request, response, Object.fromEntries(endpoints), { headers: corsHeaders(request.headers, deps.pages) });
  return Promise.resolve();
}

const MAX_FORM = 16_384;

async function readForm(request: IncomingMessage): Promise<string> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) {
    throw new Refusal("BAD_PARAMETER", { because: "the body must be application/x-www-form-urlencoded" });
  }
  const tooLarge = () => new Refusal("BAD_PARAMETER", { because: "the form is too large" });
  return (await readBody(request, { maxBytes: MAX_FORM, tooLarge })).toString("utf8");
}
