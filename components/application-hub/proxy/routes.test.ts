import assert from "node:assert/strict";
import { test } from "node:test";

import type { Sql } from "../store/database.ts";
import { type ServerRoute, type Visit, createRoutes } from "./routes.ts";

const server: ServerRoute = { id: "1", label: "a--b", user: "a", name: "b", target: { url: "http://192.0.2.1" } };
const sql = { first: async () => undefined } as unknown as Sql;

test("what the hub granted last is good while it cannot be asked, for a minute", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  let response: () => Visit | undefined = () => ({ user: "a", isOwner: true, loginId: null });
  const away = () => {
    throw new Error("connect ECONNREFUSED");
  };
  const routes = createRoutes(sql, async () => response());
  const send = () => routes.visitByToken(server, "token");
  assert.equal((await send())?.user, "a");
  response = away;
  t.mock.timers.tick(30_000);
  assert.equal((await send())?.user, "a");
  // Servers come and go meanwhile.
  routes.forget("kept");
  assert.equal((await send())?.user, "a");
  t.mock.timers.tick(31_000);
  await assert.rejects(send, /ECONNREFUSED/);
});

test("a token that the hub refuses, a right that changed, and another's token are not good", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  let response: () => Visit | undefined = () => ({ user: "a", isOwner: true, loginId: null });
  const away = () => {
    throw new Error("connect ECONNREFUSED");
  };
  const routes = createRoutes(sql, async () => response());
  const send = (token = "token") => routes.visitByToken(server, token);
  assert.ok(await send());
  t.mock.timers.tick(5000);
  response = () => undefined;
  assert.equal(await send(), undefined);
  t.mock.timers.tick(5000);
  response = away;
  await assert.rejects(send(), /ECONNREFUSED/);
  response = () => ({ user: "a", isOwner: true, loginId: null });
  assert.ok(await send());
  response = away;
  await assert.rejects(send("another"), /ECONNREFUSED/);
  routes.forget("changed");
  await assert.rejects(send(), /ECONNREFUSED/);
});
