import { randomBytes } from "node:crypto";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { putRecord, takeRecord } from "../store/oidc-adapter.ts";
import { authenticateClient } from "./client-authentication.ts";
import { findShownKey } from "./dpop.ts";
import { readForm } from "./form.ts";
import { invalidRequest } from "./oauth-error.ts";

const PREFIX = "urn:ietf:params:oauth:request_uri:";
const SECONDS = 90;
const MODEL = "PushedRequest";
/** How a client says who it is; no part of the authorization request. */
const CREDENTIALS = ["client_secret", "client_assertion", "client_assertion_type"];

/** `POST …/ext/par/request` (RFC 9126 §2): keeps an authorization request and gives a reference to it that is good once. */
export async function handlePushedRequest(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
  const form = readForm(request);
  const client = await authenticateClient(handle, request.headers.authorization, form);
  if (form.get("request_uri") !== undefined) {
    throw invalidRequest("request_uri must not be pushed");
  }
  const boundTo = await findShownKey(context, handle, request);
  const named = form.get("dpop_jkt");
  if (boundTo !== undefined && named !== undefined && named !== boundTo) {
    throw invalidRequest("dpop_jkt is not the thumbprint of the key in the header DPoP");
  }
  const parameters = Object.fromEntries(form.entries().filter(([name]) => !CREDENTIALS.includes(name)));
  const id = randomBytes(32).toString("base64url");
  await putRecord(context.pool, handle.realm.id, {
    model: MODEL,
    id,
    // A proof that comes with the request binds its code to the key (RFC 9449 §10.1).
    payload: { ...parameters, client_id: client.clientId, ...(boundTo !== undefined && { dpop_jkt: boundTo }) },
    seconds: SECONDS,
  });
  return reply.code(201).send({ request_uri: `${PREFIX}${id}`, expires_in: SECONDS });
}

/**
 * The parameters of an authorization request: as they came, or those that were pushed before (RFC 9126 §4).
 * @throws {OAuthError} 400 for a reference that is not good, or another client's
 */
export async function resolveAuthorizationParameters(
  { pool }: IdentityContext,
  { realm }: RealmHandle,
  provided: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const uri = provided["request_uri"];
  if (uri?.startsWith(PREFIX) !== true) {
    return provided;
  }
  const pushed = await takeRecord(pool, realm.id, MODEL, uri.slice(PREFIX.length));
  if (pushed === undefined || pushed["client_id"] !== provided["client_id"]) {
    throw invalidRequest("request_uri is unknown, was used before, or belongs to another client");
  }
  return pushed as Readonly<Record<string, string>>;
}
