import assert from "node:assert/strict";
import { test } from "node:test";

import { MockAgent } from "undici";

import { createListUsers } from "../admin/list-users.ts";
import { createRequireAdmin } from "../admin/require-admin.ts";
import { createWorkspaceStorage } from "../files/workspace-storage.ts";
import type { Service } from "../services/registry.ts";
import type { Session } from "../session/session.ts";

const ORIGIN = "http://identity.internal";
const session = {
  verified: { token: "a.b.c", identity: { username: "admin" } },
  isAdmin: true,
} as unknown as Session;

/** A service that refuses the token of every request. */
function createRefusingService(t: { after: (run: () => Promise<void>) => void }): Service {
  const dispatcher = new MockAgent();
  t.after(() => dispatcher.close());
  dispatcher.disableNetConnect();
  dispatcher
    .get(ORIGIN)
    .intercept({ path: () => true })
    .reply(401, {})
    .persist();
  const way = { dispatcher, origin: ORIGIN, prefix: "" };
  return {
    id: "identity",
    title: "Identity",
    url: ORIGIN,
    host: "identity",
    upstream: way,
    direct: way,
  } as unknown as Service;
}

const isEndedLogin = { status: 401, message: /^Your login has ended/ };

test("listing users says that the login has ended when the identity service refuses the token", async (t) => {
  const listUsers = createListUsers(createRefusingService(t), "master");
  await assert.rejects(listUsers(session, "127.0.0.1"), isEndedLogin);
});

test("looking for administrators says that the login has ended, not that its user is none", async (t) => {
  const requireAdmin = createRequireAdmin(createRefusingService(t), "master");
  await assert.rejects(requireAdmin(session, "127.0.0.1"), isEndedLogin);
});

test("opening a workspace's bucket says that the login has ended when the workspace API refuses the token", async (t) => {
  const storage = createWorkspaceStorage(createRefusingService(t), "http://objects.internal");
  t.after(() => storage.close());
  await assert.rejects(storage.open("ws-eric", "a.b.c", "127.0.0.1"), isEndedLogin);
});
