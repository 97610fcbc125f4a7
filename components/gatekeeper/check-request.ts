import {
  DPOP_ALGORITHMS,
  type Issuer,
  type RequestCookies,
  type TokenVerifier,
  type VerifiedToken,
  readDpopToken,
} from "@swath/auth";
import type { IncomingMessage } from "node:http";

import type { CanonicalRequest } from "./canonical/canonical-request.ts";
import { Refusal } from "./errors.ts";
import type { ProtectedHost } from "./hosts.ts";
import type { EndpointDeps } from "./oauth/endpoints.ts";
import { isSecure } from "./oauth/login-flow.ts";
import { type PermissionTickets, permissionsFor } from "./oauth/permission-tickets.ts";
import { type OwnPages, mayUseCookies } from "./origin.ts";
import type { PolicySource } from "./policies/policy-source.ts";
import { isNavigation } from "./respond.ts";
import type { FoundToken, TokenFinder } from "./tokens/find-token.ts";

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
  /** Refusals of protected hosts carry one, too. */
  readonly challengesWithTickets?: boolean;
  /** What refusals name as their realm; the host itself when left out. */
  readonly challengeRealm?: string;
}

/** What a decision takes. */
interface CheckDeps {
  readonly guard: Guard | undefined;
  readonly pages: OwnPages;
  readonly clock: () => number;
}

/** A request read in its one way, and who answers for its host. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly canonical: CanonicalRequest;
  readonly host: ProtectedHost;
  readonly cookies: RequestCookies;
}

/** What a request that may pass goes on with. */
export interface Pass {
  readonly token: FoundToken;
}

/** The decision when everything it takes is at hand, without waiting; `undefined` when something must be asked for. */
export function checkNow(deps: CheckDeps, incoming: Incoming): Pass | undefined {
  const { guard } = deps;
  if (guard === undefined) {
    return undefined;
  }
  const token = guard.finder.peek(tokenRequest(guard, incoming));
  const evaluator = guard.policies.peek(incoming.host.credentials.clientId);
  if (token?.kind !== "verified") {
    const open = isOpen(incoming) || evaluator?.isOpenPath(incoming.canonical.path.decoded) === true;
    return open && token?.kind === "none" ? { token } : undefined;
  }
  if (evaluator === undefined || !mayUse(deps, incoming, token)) {
    return undefined;
  }
  const context = contextOf(deps, incoming, token.verified);
  const granted = isOpen(incoming) || evaluator.decidePath(incoming.canonical.path.decoded, context).granted;
  return granted ? { token } : undefined;
}

/**
 * The decision, with everything asked for that it takes: a token, what the identity service knows of it, the host's rules.
 * @throws {Refusal} why the request may not pass
 */
export async function check(deps: CheckDeps, incoming: Incoming): Promise<Pass> {
  const { guard } = deps;
  const { request } = incoming;
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
  const realm = guard.challengeRealm ?? incoming.host.url;
  if (token.kind !== "verified" && (await isOpenByRules(guard, incoming))) {
    return { token: { kind: "none" } };
  }
  if (token.kind === "none") {
    const challenge = `Bearer realm="${realm}"`;
    throw new Refusal("TOKEN_MISSING", {
      headers: { "www-authenticate": await addTicket(guard, incoming, challenge) },
    });
  }
  if (token.kind === "invalid") {
    const isBound = readDpopToken(request.headers.authorization) !== undefined;
    const scheme = isBound ? `DPoP algs="${DPOP_ALGORITHMS.join(" ")}", realm` : "Bearer realm";
    const challenge = `${scheme}="${realm}", error="invalid_token", error_description="${toQuotable(token.error.message)}"`;
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
  const context = contextOf(deps, incoming, token.verified);
  if (!evaluator.decidePath(incoming.canonical.path.decoded, context).granted) {
    throw new Refusal("FORBIDDEN");
  }
  return { token };
}

/** Whether the host's rules let everybody in; asked for where rules of variant B can say so. */
async function isOpenByRules({ issuer, policies }: Guard, { host, canonical }: Incoming): Promise<boolean> {
  const { clientId } = host.credentials;
  const evaluator = policies.peek(clientId) ?? (issuer.acceptIdTokens ? await policies.load(clientId) : undefined);
  return evaluator?.isOpenPath(canonical.path.decoded) === true;
}

function contextOf({ clock }: CheckDeps, { canonical }: Incoming, { identity }: VerifiedToken) {
  return { identity, now: new Date(clock()), method: canonical.method };
}

/** A challenge with a ticket for the path's resources where UMA is on: who brings it to the issuer gets a token for them. */
async function addTicket(guard: Guard, { request, host, canonical }: Incoming, challenge: string): Promise<string> {
  const { clientId } = host.credentials;
  const evaluator =
    guard.challengesWithTickets !== true || isNavigation(request) ? undefined : guard.policies.peek(clientId);
  const resources = evaluator?.findResources(canonical.path.decoded) ?? [];
  if (guard.issuer.acceptIdTokens) {
    const ticket = await guard.tickets?.ticket(host.credentials, permissionsFor(resources, canonical.method));
    return ticket === undefined ? challenge : `${challenge}, ${umaChallenge(guard.tickets?.issuer ?? "", ticket)}`;
  }
  const ids = resources.map(({ id }) => id);
  const ticket = await guard.tickets?.challenge(host.credentials, ids, host.url);
  return ticket === undefined ? challenge : `${challenge}, ${ticket}`;
}

export function tokenRequest({ audiences }: Guard, { request, canonical, cookies, host }: Incoming) {
  return {
    authorization: request.headers.authorization,
    userId: request.headers["x-user-id"],
    proof: {
      proofs: request.headersDistinct["dpop"] ?? [],
      method: canonical.method,
      url: `${host.url}${canonical.path.encoded}`,
    },
    cookies,
    audiences: [...audiences, host.credentials.clientId],
    secure: isSecure(host.url),
  };
}

function isOpen({ host, canonical }: Incoming): boolean {
  return host.openPaths.some((pattern) => pattern.test(canonical.path.decoded));
}

function mayUse({ pages }: CheckDeps, { request, canonical }: Incoming, token: FoundToken): boolean {
  return (
    token.kind !== "verified" || token.from === "header" || mayUseCookies(canonical.method, request.headers, pages)
  );
}

/** The challenge as clients of variant B cut it up: everything behind `ticket=` is the ticket. */
export const umaChallenge = (issuer: string, ticket: string): string =>
  `UMA realm=eoepca,as_uri=${issuer},ticket=${ticket}`;

/** What may stand in a quoted string of a header as it is (RFC 9110 §5.6.4). */
function toQuotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
}
