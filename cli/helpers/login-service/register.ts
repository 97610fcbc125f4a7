import { CommandError } from "../../commands/command.ts";
import type { Fetch } from "../../targets/deployment-fetch.ts";
import { type AdminSession, describe } from "../admin-session.ts";
import type { ClientCredentials } from "./client-file.ts";

export interface Registration {
  /** Address of the login service. */
  readonly login: string;
  /** `oxauth`. */
  readonly provider: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
  /** Whoever registers again with it is given the same client. */
  readonly softwareId?: string;
}

const TIMEOUT_MS = 30_000;

/** Registers a client (RFC 7591) with the administrator's session, or for itself. @throws {CommandError} */
export async function registerClient(
  { login, provider, name, redirectUris, logoutUris, softwareId }: Registration,
  by: { readonly session: AdminSession } | { readonly fetch: Fetch },
): Promise<ClientCredentials> {
  const body = {
    client_name: name,
    grant_types: [
      "client_credentials",
      "password",
      "urn:ietf:params:oauth:grant-type:uma-ticket",
      "authorization_code",
      "refresh_token",
    ],
    redirect_uris: redirectUris,
    post_logout_redirect_uris: logoutUris,
    scope: "openid email user_name uma_protection permission is_operator",
    response_types: ["code"],
    token_endpoint_auth_method: "client_secret_post",
    subject_type: "public",
    access_token_as_jwt: true,
    ...(softwareId !== undefined && { software_id: softwareId }),
  };
  const url = `${login}/${provider}/restv1/register`;
  const response = "session" in by ? await by.session.request("POST", url, body) : await send(by.fetch, url, body);
  const { client_id: id, client_secret: secret } = Object(response.body) as Record<string, unknown>;
  if (![200, 201].includes(response.status) || typeof id !== "string" || typeof secret !== "string") {
    throw new CommandError(
      `client ${name} cannot be registered at ${url}: ${describe(response.status, response.body)}`,
    );
  }
  return { id, secret };
}

async function send(fetch: Fetch, url: string, body: object): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/scim+json", accept: "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: JSON.parse(await response.text()) as unknown };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CommandError(`${url} gives no registration: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
