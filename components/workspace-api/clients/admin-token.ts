import { realmPath } from "@swath/manifest/realm-paths";
import type { Peer } from "@swath/service";

import { IdentityError } from "./identity-admin.ts";

interface AdminTokenOptions {
  readonly peer: Peer;
  readonly realm: string;
  readonly client: string;
  readonly user: string;
  /** One; while it is being changed also the other, for it may be either. */
  readonly passwords: readonly string[];
}

/** Gives an access token of the administrator, logging in anew shortly before the last one ends. */
export function createAdminToken({ peer, realm, client, user, passwords }: AdminTokenOptions): () => Promise<string> {
  let current: { readonly token: string; readonly until: number } | undefined;
  let pending: Promise<string> | undefined;

  const logIn = async ([password = "", ...others] = passwords): Promise<string> => {
    const response = await peer.fetch(`${realmPath(realm)}/protocol/openid-connect/token`, {
      method: "POST",
      timeout: 10_000,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ grant_type: "password", client_id: client, username: user, password }).toString(),
    });
    const body = (await response.json()) as { access_token?: string; expires_in?: number; error_description?: string };
    if ((response.status === 400 || response.status === 401) && others.length > 0) {
      return logIn(others);
    }
    if (!response.ok || body.access_token === undefined) {
      throw new IdentityError(
        response.status,
        `the identity service refuses the login of ${user}: ${body.error_description ?? response.status}`,
      );
    }
    const seconds = body.expires_in ?? 60;
    current = { token: body.access_token, until: Date.now() + Math.max(seconds - 30, seconds / 2) * 1000 };
    return body.access_token;
  };

  return () => {
    if (current !== undefined && current.until > Date.now()) {
      return Promise.resolve(current.token);
    }
    pending ??= logIn().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
