import { createSecretKey } from "node:crypto";

import { decodeJwt, errors, jwtVerify } from "jose";

import type { RealmHandle } from "../realms/realm-cache.ts";
import { type Client, OTHER_SECRET } from "../store/clients.ts";
import type { Form } from "./form.ts";
import { OAuthError, invalidClient, invalidRequest } from "./oauth-error.ts";

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Signatures of clients: with a key pair, whose public keys the client gives, or with its secret. */
export const KEY_PAIR_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];
export const SECRET_ALGORITHMS = ["HS256", "HS384", "HS512"];

/** An assertion lives no longer than this, so that its id need not be kept for longer. */
const MAX_ASSERTION_SECONDS = 600;

/**
 * Who the client is by a JWT that it signed: `private_key_jwt` and `client_secret_jwt` (RFC 7523 §3, OpenID Connect Core §9).
 * Each assertion is good once.
 * @throws {OAuthError} 401 invalid_client
 */
export async function authenticateByAssertion(handle: RealmHandle, form: Form): Promise<Client> {
  if (form.get("client_assertion_type") !== ASSERTION_TYPE) {
    throw invalidRequest(`client_assertion_type must be ${ASSERTION_TYPE}`);
  }
  const assertion = form.require("client_assertion");
  const clientId = readSubject(assertion);
  const named = form.get("client_id");
  if (clientId === undefined || (named !== undefined && named !== clientId)) {
    throw invalidClient();
  }
  const client = await handle.findClient(clientId);
  if (client === undefined || !client.settings.enabled || client.settings.bearerOnly || client.settings.publicClient) {
    throw invalidClient();
  }
  try {
    const { payload } = await verify(handle, assertion, client, {
      issuer: clientId,
      subject: clientId,
      audience: [
        handle.issuer,
        `${handle.address}/protocol/openid-connect/token`,
        `${handle.address}/protocol/openid-connect/ext/par/request`,
      ],
      requiredClaims: ["exp", "jti"],
      clockTolerance: 5,
    });
    const seconds = Number(payload.exp) - Date.now() / 1000;
    if (seconds > MAX_ASSERTION_SECONDS) {
      throw new OAuthError(401, "invalid_client", `the assertion must end within ${MAX_ASSERTION_SECONDS} seconds`);
    }
    const expiresAt = new Date((Number(payload.exp) + 10) * 1000);
    if (!(await handle.takeOnce("client assertion", `${client.id} ${payload.jti ?? ""}`, expiresAt))) {
      throw new OAuthError(401, "invalid_client", "the assertion was used before");
    }
  } catch (error) {
    throw error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError
      ? invalidClient()
      : error;
  }
  return client;
}

function readSubject(assertion: string): string | undefined {
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === "string" && sub.length <= 255 && !sub.includes("\u0000") ? sub : undefined;
  } catch {
    return undefined;
  }
}

async function verify(
  { clientKeys }: RealmHandle,
  assertion: string,
  client: Client,
  options: NonNullable<Parameters<typeof jwtVerify>[2]>,
) {
  const keys = clientKeys.find(client);
  if (keys !== undefined) {
    return jwtVerify(assertion, keys, { ...options, algorithms: KEY_PAIR_ALGORITHMS });
  }
  // A client with keys must sign with them: its secret alone is not enough then.
  const verifyWith = (secret: string) =>
    jwtVerify(assertion, createSecretKey(Buffer.from(secret)), { ...options, algorithms: SECRET_ALGORITHMS });
  const other = client.settings.attributes[OTHER_SECRET];
  return verifyWith(client.secret ?? "").catch((error: unknown) => {
    if (other !== undefined && error instanceof errors.JWSSignatureVerificationFailed) {
      return verifyWith(other);
    }
    throw error;
  });
}
