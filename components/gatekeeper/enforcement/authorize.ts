import { METHOD_RESOURCE_TYPE, TokenError, type VerifiedToken, methodScope, readBearerToken } from "@swath/auth";
import type { IncomingMessage, ServerResponse } from "node:http";

import { canonicalizePath } from "../canonical/canonical-path.ts";
import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import { respond } from "../respond.ts";
import type { Guard } from "../check-request.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * `/authorize` of the known enforcement point: 200 for a request that may pass, which the headers `X-Original-Uri` and
 * `X-Original-Method` describe, else 401 with a permission ticket (UMA 2.0 Grant §3.2). What is registered needs a token with
 * permissions that the ticket was exchanged for, and who it names must still have them.
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
  const path = canonicalizePath(original.split("?", 1)[0] ?? "").decoded;
  const { clientId } = host.credentials;
  const evaluator = policies.peek(clientId) ?? (await policies.load(clientId));
  const registered = evaluator.findResources(path).filter(({ type }) => type === METHOD_RESOURCE_TYPE);
  const pass = () => respond(request, response, { status: 200 });
  if (evaluator.isOpenPath(path)) {
    return pass();
  }
  if (registered.length === 0 && evaluator.policySet.enforcementMode !== "ENFORCING") {
    return pass();
  }
  const token = readBearerToken(request.headers.authorization) ?? first(request, "x-user-id");
  const verified = token === undefined ? undefined : await verifyToken(verifier, token, [...audiences, clientId]);
  const scope = methodScope(method);
  if (verified !== undefined && (await policies.isTokenGood(verified))) {
    const hasPermission = registered.length === 0 || registered.some(({ id }) => isPermitted(verified, id, scope));
    if (hasPermission && evaluator.decidePath(path, { identity: verified.identity, now, method }).granted) {
      return pass();
    }
  }
  const ticket = await tickets?.ticket(
    host.credentials,
    registered.map(({ id }) => ({ resource_id: id, resource_scopes: [scope] })),
  );
  respond(request, response, {
    status: 401,
    ...(ticket !== undefined && {
      headers: { "www-authenticate": `UMA realm=eoepca,as_uri=${tickets?.issuer ?? ""},ticket=${ticket}` },
    }),
  });
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
function isPermitted({ claims }: VerifiedToken, resource: string, scope: string): boolean {
  const { permissions } = Object(claims["authorization"]) as { permissions?: unknown };
  return (
    Array.isArray(permissions) &&
    permissions.some((item) => {
      const { rsid, scopes } = Object(item) as { rsid?: unknown; scopes?: unknown };
      return rsid === resource && (scopes === undefined || (Array.isArray(scopes) && scopes.includes(scope)));
    })
  );
}

function first({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
