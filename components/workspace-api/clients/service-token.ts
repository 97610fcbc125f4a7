import { realmPath } from "@swath/manifest/realm-paths";
import type { Peer } from "@swath/service";

import { IdentityError } from "./identity-admin.ts";

interface ServiceTokenOptions {
  readonly peer: Peer;
  readonly realm: string;
  /** Client whose service account this is. */
  readonly client: string;
  /** One; while it is being changed also the other, for it may be either. */
  readonly secrets: readonly string[];
}

export interface TokenSource {
  /** An access token, as a rule the same until shortly before it ends. @throws {IdentityError} where the login is refused */
  readonly get: () => Promise<string>;
  /** Gets another one next time, where the service does not accept this one any more. */
  readonly drop: (token: string) => void;
}

/** Logs a client in for itself (RFC 6749 section 4.4): no person's password, session or lock is involved. */
export function createServiceTokens({ peer, realm, client, secrets }: ServiceTokenOptions): TokenSource {
  let current: { readonly token: string; readonly until: number } | undefined;
  let pending: Promise<string> | undefined;

  const logIn = async ([secret = "", ...others] = secrets): Promise<string> => {
    const response = await peer.fetch(`${realmPath(realm)}/protocol/openid-connect/token`, {
      method: "POST",
      timeout: 10_000,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: client,
        client_secret: secret,
      }).toString(),
    });
    const body = (await response.json()) as { access_token?: string; expires_in?: number; error_description?: string };
    if ((response.status === 400 || response.status === 401) && others.length > 0) {
      return logIn(others);
    }
    if (!response.ok || body.access_token === undefined) {
      throw new IdentityError(
        response.status,
        `the identity service refuses the client ${client}: ${body.error_description ?? response.status}`,
      );
    }
    const seconds = body.expires_in ?? 60;
    current = { token: body.access_token, until: Date.now() + Math.max(seconds - 30, seconds / 2) * 1000 };
    return body.access_token;
  };

  return {
    get: () => {
      if (current !== undefined && current.until > Date.now()) {
        return Promise.resolve(current.token);
      }
      pending ??= logIn().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    drop: (token) => {
      if (current?.token === token) {
        current = undefined;
      }
    },
  };
}
