import assert from "node:assert/strict";
import { test } from "node:test";

import { type Administrators, isAdministrator } from "./administrators.ts";
import { identityOf } from "./policy/identity-of.ts";

const isAdmin = (claims: Record<string, unknown>, administrators: Administrators) =>
  isAdministrator(identityOf({ sub: "1", ...claims }), administrators);

test("the role makes an administrator, whatever the name", () => {
  const claims = { preferred_username: "grace", realm_access: { roles: ["admin"] } };
  assert.equal(isAdmin(claims, { role: "admin" }), true);
  assert.equal(isAdmin(claims, { role: "platform-admin" }), false);
  assert.equal(isAdmin({ groups: ["platform-admin"] }, { role: "platform-admin" }), false);
  assert.equal(isAdmin({ groups: ["platform-admin"] }, { role: "platform-admin", rolesClaim: "groups" }), true);
});

test("a name makes none where the issuer is not the deployed identity service", () => {
  for (const user of [undefined, ""]) {
    assert.equal(isAdmin({ preferred_username: "admin" }, { role: "admin", user }), false);
    assert.equal(isAdmin({ preferred_username: "" }, { role: "admin", user }), false);
    assert.equal(isAdmin({}, { role: "admin", user }), false);
  }
  assert.equal(isAdmin({ preferred_username: "admin" }, { role: "admin", user: "admin" }), true);
});

test("claims of another shape make none", () => {
  for (const roles of ["admin", { admin: true }, [["admin"]], null]) {
    assert.equal(isAdmin({ realm_access: { roles }, groups: roles }, { role: "admin", rolesClaim: "groups" }), false);
  }
});
