import assert from "node:assert/strict";
import { test } from "node:test";

import { isScope, permits, permitsAny, scopesOfOwner, scopesOfToken } from "./scopes.ts";

const eric = { user: "eric", admin: false };
const admin = { user: "root", admin: true };

test("people may do everything with what is theirs, and nothing with what is others'", () => {
  const held = scopesOfOwner(eric);
  assert.ok(permits(held, "start:servers", { user: "eric", server: "eric/lab" }));
  assert.ok(permits(held, "read:users:name", { user: "eric" }));
  assert.ok(!permits(held, "start:servers", { user: "bob", server: "bob/" }));
  assert.ok(!permits(held, "list:users"));
  assert.ok(!permitsAny(held, "admin:users"));
  assert.ok(permits(scopesOfOwner(admin), "delete:servers", { user: "bob", server: "bob/" }));
});

test("a token has what it was given, as far as its owner has it", () => {
  const held = scopesOfOwner(eric);
  assert.deepEqual(scopesOfToken(["admin:users", "list:users"], eric, held), []);
  assert.deepEqual(scopesOfToken(["servers!user=bob"], eric, held), []);
  const one = scopesOfToken(["access:servers!server=eric/lab"], eric, held);
  assert.ok(permits(one, "access:servers", { user: "eric", server: "eric/lab" }));
  assert.ok(!permits(one, "access:servers", { user: "eric", server: "eric/other" }));
  const all = scopesOfToken(["inherit"], eric, held);
  assert.ok(permits(all, "tokens", { user: "eric" }));
  assert.ok(!permits(scopesOfToken(["read:users!user"], eric, held), "tokens", { user: "eric" }));
  const server = { ...eric, server: "eric/lab" };
  const own = scopesOfToken(["access:servers!server", "users:activity!user"], server, scopesOfOwner(server));
  assert.ok(permits(own, "access:servers", { server: "eric/lab" }) && permits(own, "users:activity", { user: "eric" }));
});

test("a filter by group is for its members", () => {
  const held = scopesOfToken(["read:users!group=team"], admin, scopesOfOwner(admin));
  assert.ok(permits(held, "read:users:activity", { user: "bob", groups: ["team"] }));
  assert.ok(!permits(held, "read:users:activity", { user: "bob", groups: [] }));
});

test("what is no scope is told from one", () => {
  assert.ok(isScope("servers!user=eric") && isScope("read:hub") && isScope("access:servers!server"));
  assert.ok(!isScope("root") && !isScope("servers!color=red"));
});

test("a filter is read whole: a name that begins like the owner's and goes on after = is another's", () => {
  const owner = { user: "eric", admin: false };
  const held = scopesOfOwner(owner);
  for (const scope of ["read:users!user=eric=bob", "servers!user=eric=", "tokens!user="]) {
    assert.deepEqual(scopesOfToken([scope], owner, held), [], scope);
  }
  assert.ok(scopesOfToken(["read:users!user=eric"], owner, held).length > 0);
});
