import { TokenError, type VerifiedToken, parseCookies, readCookie, readRequestTokens } from "@swath/auth";
import type { IncomingMessage, ServerResponse } from "node:http";

import { canonicalizePath } from "../canonical/canonical-path.ts";
import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import { type RequestedPermission, permissionsFor } from "../oauth/permission-tickets.ts";
import { respond } from "../respond.ts";
import { type Guard, umaChallenge } from "../check-request.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * `/authorize` of the known enforcement point: 200 for a request that may pass, which the headers `X-Original-Uri` and
 * `X-Original-Method` describe, else 401 with a permission ticket (UMA 2.0 Grant §3.2). What is registered needs a token with
 * permissions that the ticket was exchanged for, in a header or in the cookie `auth_rpt-<client>`, and who it names must still have them;
 * the answer says how to keep that token.
 */
export async function authorize(
  { policies, verifier, audiences, tickets }: Guard,
  host: ProtectedHost,
  request: IncomingMessage,
  response: ServerResponse,
  now: Date,
): Promise<void> {
  const original = first(request, "x-original-uri") ?? first(request, "x-request-uri");
  const method = (first(request, "x-original-method") ?? request.method ?? "GET").toUpperCase();
  if (original === undefined || !METHODS.includes(method)) {
    throw new Refusal("BAD_PARAMETER", { because: "X-Original-Uri and X-Original-Method must say what is asked for" });
  }
  const path = canonicalizePath(unquote(original).split("?", 1)[0] ?? "").decoded;
  const { clientId } = host.credentials;
  const evaluator = policies.peek(clientId) ?? (await policies.load(clientId));
  const permissions = permissionsFor(evaluator.findResources(path), method);
  const pass = () => respond(request, response, { status: 200 });
  if (evaluator.isOpenPath(path)) {
    return pass();
  }
  if (permissions.length === 0 && evaluator.policySet.enforcementMode !== "ENFORCING") {
    return pass();
  }
  for (const { token, isRpt } of listTokens(request, clientId)) {
    const verified = await verifyToken(verifier, token, [...audiences, clientId]);
    if (verified !== undefined && (await policies.isTokenActive(verified))) {
      const hasPermission =
        permissions.length === 0 || permissions.some((permission) => isPermitted(verified, permission));
      if (hasPermission && evaluator.decidePath(path, { identity: verified.identity, now, method }).granted) {
        return respond(request, response, {
          status: 200,
          headers: describeRpt(token, isRpt || permissions.length > 0),
        });
      }
    }
  }
  const ticket = await tickets?.ticket(host.credentials, permissions);
  respond(request, response, {
    status: 401,
    ...(ticket !== undefined && {
      headers: { "www-authenticate": umaChallenge(tickets?.issuer ?? "", ticket) },
    }),
  });
}

/** The cookie that user agents keep a token with permissions in, for each enforcement point its own. */
const rptCookie = (clientId: string): string => `auth_rpt-${clientId}`;
const RPT_OPTIONS = "Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=300";

interface ShownToken {
  readonly token: string;
  readonly isRpt: boolean;
}

/** Tokens that the request brings, in the order in which they are tried: the cookie of a former exchange may be old. */
function listTokens(request: IncomingMessage, clientId: string): readonly ShownToken[] {
  const rpt = readCookie(parseCookies(request.headers.cookie), rptCookie(clientId));
  return [
    ...(rpt === undefined || rpt === "" ? [] : [{ token: rpt, isRpt: true }]),
    ...readRequestTokens(request.headers, true).map((token) => ({ token, isRpt: false })),
  ];
}

/** What a user agent keeps for the next request: the token with permissions that let this one pass. */
function describeRpt(token: string, isRpt: boolean): Readonly<Record<string, string>> {
  return isRpt ? { "x-auth-rpt": token, "x-auth-rpt-options": RPT_OPTIONS } : {};
}

async function verifyToken(
  verifier: Guard["verifier"],
  token: string,
  audiences: readonly string[],
): Promise<VerifiedToken | undefined> {
  try {
    return await verifier.verify(token, { audiences });
  } catch (error) {
    if (error instanceof TokenError) {
      return undefined;
    }
    throw error;
  }
}

/** Whether a token has a permission for a resource (UMA 2.0 Federated Authorization §5.1.1). */
function isPermitted(
  { claims }: VerifiedToken,
  { resource_id: resource, resource_scopes: wanted }: Required<RequestedPermission>,
): boolean {
  const { permissions } = Object(claims["authorization"]) as { permissions?: unknown };
  return (
    Array.isArray(permissions) &&
    permissions.some((item) => {
      const { rsid, scopes } = Object(item) as { rsid?: unknown; scopes?: unknown };
      return (
        rsid === resource &&
        (scopes === undefined || (Array.isArray(scopes) && wanted.every((scope) => scopes.includes(scope))))
      );
    })
  );
}

/** Clients of the earlier release line send the address in quotation marks. */
const unquote = (text: string): string => /^"(.*)"$/.exec(text.trim())?.[1] ?? text;

function first({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
