import assert from "node:assert/strict";
import { test } from "node:test";

import { identityOf } from "@swath/auth";
import { createLogger } from "@swath/service";

import { createDeclaredPolicies } from "./declared-policies.ts";

const declared = [
  { name: "eric", uris: ["/eric/*"], users: ["eric"], roles: ["admin"] },
  { name: "all", uris: ["/all"], authenticated: true },
  { name: "nobody", uris: ["/nobody"] },
];
const policies = createDeclaredPolicies({
  clients: new Map([["ades", declared]]),
  endTunnels: () => undefined,
  clock: Date.now,
  logger: createLogger("gatekeeper", "silent"),
});

test("declared rules decide where another issuer's tokens are used: one of users, roles, or anybody", () => {
  const may = (path: string, claims: Record<string, unknown>) =>
    policies.peek("ades")?.decidePath(path, { identity: identityOf(claims, { roles: "app.roles" }), now: new Date() })
      .granted;
  assert.equal(may("/eric/x", { sub: "1", preferred_username: "eric" }), true);
  assert.equal(may("/eric/x", { sub: "eric", preferred_username: "bob" }), false);
  assert.equal(may("/eric/x", { sub: "1", app: { roles: ["admin"] } }), true);
  assert.equal(may("/eric/x", { sub: "1", roles: ["admin"] }), false);
  assert.equal(may("/all", { sub: "1" }), true);
  assert.equal(may("/nobody", { sub: "1", preferred_username: "eric" }), false);
  assert.equal(may("/other", { sub: "1", preferred_username: "eric" }), false);
});

test("a token that logged out is refused", async () => {
  const claims = { iss: "i", sub: "1", exp: 1 };
  const verified = { token: "a", claims, identity: identityOf(claims) };
  assert.equal(policies.cachedTokenState(verified), "good");
  await policies.endSession(verified);
  assert.equal(policies.cachedTokenState(verified), "revoked");
  assert.equal(policies.cachedTokenState({ ...verified, token: "b" }), "good");
});
