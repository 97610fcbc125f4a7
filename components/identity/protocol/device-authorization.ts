import { randomBytes, randomInt } from "node:crypto";

import type { FastifyReply, FastifyRequest } from "fastify";

import { grantScope } from "../claims/scopes.ts";
import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import { insertDeviceGrant } from "../store/device-grants.ts";
import { authenticateClient } from "./client-authentication.ts";
import { readForm } from "./form.ts";
import { OAuthError } from "./oauth-error.ts";

const SECONDS = 600;
const INTERVAL_SECONDS = 5;
/** RFC 8628 §6.1: consonants only, so that no word comes about; 20^8 codes. */
const USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH = 8;
/** The attribute that lets a client use this grant, under the name that existing tools set. */
export const DEVICE_GRANT_ATTRIBUTE = "oauth2.device.authorization.grant.enabled";

/** @throws {OAuthError} 400 unauthorized_client */
export function requireDeviceGrant({ settings }: Client): void {
  if (settings.attributes[DEVICE_GRANT_ATTRIBUTE] !== "true") {
    throw new OAuthError(
      400,
      "unauthorized_client",
      `Client not allowed for the device grant: its attribute ${DEVICE_GRANT_ATTRIBUTE} is not "true"`,
    );
  }
}

/** `POST …/auth/device` (RFC 8628 §3.1): begins the login of a program that has no browser of its own. */
export async function handleDeviceAuthorization(
  { pool }: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  void reply.headers({ "cache-control": "no-store", pragma: "no-cache" });
  const form = readForm(request);
  const client = await authenticateClient(handle, request.headers.authorization, form);
  requireDeviceGrant(client);
  const deviceCode = randomBytes(32).toString("base64url");
  const grant = {
    realmId: handle.realm.id,
    client: client.id,
    deviceCode,
    scope: grantScope(client, form.get("scope")),
    seconds: SECONDS,
    intervalSeconds: INTERVAL_SECONDS,
  };
  let userCode: string;
  do {
    userCode = makeUserCode();
  } while (!(await insertDeviceGrant(pool, { ...grant, userCode })));
  const shown = `${userCode.slice(0, USER_CODE_LENGTH / 2)}-${userCode.slice(USER_CODE_LENGTH / 2)}`;
  const address = `${handle.address}/device`;
  return reply.send({
    device_code: deviceCode,
    user_code: shown,
    verification_uri: address,
    verification_uri_complete: `${address}?user_code=${shown}`,
    expires_in: SECONDS,
    interval: INTERVAL_SECONDS,
  });
}

const makeUserCode = (): string =>
  Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS[randomInt(USER_CODE_LETTERS.length)]).join("");

/** A user code as people type it; `undefined` for what cannot be one. */
export function readUserCode(text: string | undefined): string | undefined {
  const letters = (text ?? "").toUpperCase().replace(/[\s-]/g, "");
  return letters.length === USER_CODE_LENGTH && /^[A-Z]+$/.test(letters) ? letters : undefined;
}
