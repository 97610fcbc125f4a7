// An administrator of a test instance by the known provider's own JavaScript client.
import assert from "node:assert/strict";

import KeycloakAdminClient from "@keycloak/keycloak-admin-client";

import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

export interface TestAdministrator {
  readonly identity: TestIdentity;
  readonly kc: KeycloakAdminClient;
}

export async function startWithAdministrator(): Promise<TestAdministrator> {
  const identity = await startIdentity();
  const kc = new KeycloakAdminClient({ baseUrl: identity.url, realmName: "master" });
  await kc.auth({ username: "admin", password: PASSWORD, grantType: "password", clientId: "admin-cli" });
  return { identity, kc };
}

export const must = <Value>(value: Value | null | undefined): Value => {
  assert.ok(value !== undefined && value !== null);
  return value;
};
export const namesOf = (list: readonly { name?: string }[]) => list.map(({ name }) => name);
