import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

/** Passwords that the service of the tests compares at once. */
const AT_ONCE = 2;
const LIMIT = 3;

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
  const { access_token: bearer } = await identity.logIn("admin");
  const answer = await identity.ask("/admin/realms/master", {
    method: "PUT",
    bearer,
    json: { failureFactor: LIMIT },
  });
  assert.equal(answer.status, 204, answer.text);
});
after(() => identity.close());

test("guesses that come at once are no more than those that come one by one", async () => {
  const { hasher } = identity.context;
  const before = hasher.verifications();
  const guesses = Array.from({ length: 40 }, (_, index) => identity.logIn("bob", `guess ${index}`));
  // The right one is among them, too late.
  const answers = await Promise.all([...guesses, identity.logIn("bob")]);
  assert.ok(hasher.verifications() - before < LIMIT + AT_ONCE, `${hasher.verifications() - before} were compared`);
  assert.deepEqual([...new Set(answers.map(({ error }) => error as string))], ["invalid_grant"]);
});

test("many logins of one user at once are no failures", async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => identity.logIn("alice", PASSWORD)));
  assert.deepEqual([...new Set(answers.map((answer) => typeof answer.access_token))], ["string"]);
});
