import { hash, timingSafeEqual } from "node:crypto";

import { decodePercent, isHostileText } from "@swath/service";

import type { RealmHandle } from "../realms/realm-cache.ts";
import { type Client, OTHER_SECRET } from "../store/clients.ts";
import { authenticateByAssertion } from "./client-assertion.ts";
import { signsForItself } from "./client-keys.ts";
import type { Form } from "./form.ts";
import { OAuthError, invalidClient, invalidRequest } from "./oauth-error.ts";

interface Shown {
  readonly clientId: string;
  /** The secret; of HTTP Basic decoded and as it came, since many clients do not encode it. */
  readonly secrets: readonly string[];
  readonly isBasic: boolean;
}

/**
 * Who the client is (RFC 6749 §2.3): HTTP Basic or fields of the form for one with a secret, its id alone for a public one,
 * whose secret is ignored when it sends one, as existing notebooks do.
 * @throws {OAuthError} 401 invalid_client
 */
export async function authenticateClient(
  handle: RealmHandle,
  authorization: string | undefined,
  form: Form,
): Promise<Client> {
  const { findClient } = handle;
  if (form.get("client_assertion") !== undefined || form.get("client_assertion_type") !== undefined) {
    if (authorization !== undefined || form.get("client_secret") !== undefined) {
      throw invalidRequest("a client must say who it is in one way only");
    }
    return authenticateByAssertion(handle, form);
  }
  const shown = readCredentials(authorization, form);
  if (shown === undefined) {
    throw invalidRequest("Missing parameter: client_id");
  }
  // Made only when it is thrown: its stack costs more than the rest of this function.
  const refusal = () => invalidClient(shown.isBasic ? { "www-authenticate": 'Basic realm="identity"' } : {});
  if ([shown.clientId, ...shown.secrets].some(isHostileText)) {
    throw invalidRequest("the credentials of the client are no text");
  }
  const client = await findClient(shown.clientId);
  if (client === undefined || client.settings.bearerOnly) {
    throw refusal();
  }
  if (!client.settings.enabled) {
    throw new OAuthError(401, "invalid_client", "The client is disabled");
  }
  if (!client.settings.publicClient && signsForItself(client)) {
    // Otherwise whoever finds the secret could do without the key.
    throw refusal();
  }
  if (!client.settings.publicClient && !hasSecret(client, shown.secrets)) {
    throw refusal();
  }
  return client;
}

/** The client of HTTP Basic, which must have a secret. */
export async function authenticateConfidentialClient(
  realm: RealmHandle,
  authorization: string | undefined,
  form: Form,
): Promise<Client> {
  const client = await authenticateClient(realm, authorization, form);
  if (client.settings.publicClient) {
    throw new OAuthError(401, "invalid_client", "A public client must not do this", {
      "www-authenticate": 'Basic realm="identity"',
    });
  }
  return client;
}

function readCredentials(authorization: string | undefined, form: Form): Shown | undefined {
  const basic = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? "")?.[1];
  if (basic === undefined) {
    const clientId = form.get("client_id");
    return clientId === undefined
      ? undefined
      : { clientId, secrets: [form.get("client_secret") ?? ""], isBasic: false };
  }
  const text = Buffer.from(basic, "base64").toString("utf8");
  const colon = text.indexOf(":");
  const [clientId, secret] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  const named = form.get("client_id");
  if (named !== undefined && named !== decode(clientId)) {
    throw invalidRequest("client_id differs from the one of the Authorization header");
  }
  return { clientId: decode(clientId), secrets: [decode(secret), secret], isBasic: true };
}

/** Both halves are form-encoded (RFC 6749 §2.3.1); clients that do not encode are understood where that is possible. */
function decode(text: string): string {
  return decodePercent(text.replaceAll("+", " "));
}

function hasSecret({ secret, settings }: Client, shown: readonly string[]): boolean {
  const isSecret = isOneOf(shown, secret);
  return isOneOf(shown, settings.attributes[OTHER_SECRET]) || isSecret;
}

function isOneOf(provided: readonly string[], requested: string | undefined): boolean {
  const digest = hash("sha256", requested ?? "", "buffer");
  const same = provided.map((secret) => timingSafeEqual(hash("sha256", secret, "buffer"), digest)).includes(true);
  return requested !== undefined && requested !== "" && same;
}
