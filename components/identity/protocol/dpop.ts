import { DPOP_ALGORITHMS, DpopError, checkDpopProof, readBearerToken, readDpopToken } from "@swath/auth";
import type { FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import { OAuthError, invalidRequest } from "./oauth-error.ts";

/** Attribute of clients whose tokens are always bound to a key, by the name that the known provider has for it. */
export const DPOP_REQUIRED = "dpop.bound.access.tokens";

const invalidProof = (why: string) =>
  new OAuthError(400, "invalid_dpop_proof", `The DPoP proof is not accepted: ${why}`, {
    "www-authenticate": `DPoP algs="${DPOP_ALGORITHMS.join(" ")}", error="invalid_dpop_proof"`,
  });

/**
 * The key that the sender of a request has shown to hold (RFC 9449 §4.3, §5), as its thumbprint; `undefined` without a header `DPoP`.
 * Each proof is good once, on every replica.
 * @throws {OAuthError} 400 invalid_dpop_proof
 */
export async function findShownKey(
  { publicUrl }: IdentityContext,
  { takeOnce }: RealmHandle,
  request: FastifyRequest,
  accessToken?: string,
): Promise<string | undefined> {
  const [proof, ...others] = request.raw.headersDistinct["dpop"] ?? [];
  if (proof === undefined) {
    return undefined;
  }
  if (others.length > 0) {
    throw invalidProof("there is more than one header DPoP");
  }
  try {
    const { thumbprint, id, expiresAt } = await checkDpopProof(proof, {
      method: request.method,
      // What was asked for: the login service's names of the endpoints are rewritten before this.
      url: `${publicUrl}${request.originalUrl.split("?", 1)[0] ?? ""}`,
      accessToken,
      now: Date.now(),
    });
    if (!(await takeOnce("dpop", id, expiresAt))) {
      throw invalidProof("it was used before");
    }
    return thumbprint;
  } catch (error) {
    throw error instanceof DpopError ? invalidProof(error.message) : error;
  }
}

/** @throws {OAuthError} 400 for a client whose tokens must be bound, and that has shown no key */
export function checkKeyIsShown({ settings }: Client, boundTo: string | undefined): void {
  if (boundTo === undefined && settings.attributes[DPOP_REQUIRED] === "true") {
    throw invalidProof("this client must send one");
  }
}

/** An access token as a request brings it: as Bearer, or as DPoP with the key that was shown. */
export interface ShownToken {
  readonly token: string;
  readonly boundTo: string | undefined;
}

/** @throws {OAuthError} 400 for a proof that is not accepted; 401 for a token sent as DPoP without one */
export async function readShownToken(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
): Promise<ShownToken | undefined> {
  const { authorization } = request.headers;
  const bound = readDpopToken(authorization);
  if (bound === undefined) {
    const token = readBearerToken(authorization);
    return token === undefined ? undefined : { token, boundTo: undefined };
  }
  const boundTo = await findShownKey(context, handle, request, bound);
  if (boundTo === undefined) {
    throw invalidRequest("A token sent as DPoP must come with a header DPoP that holds a proof");
  }
  return { token: bound, boundTo };
}
