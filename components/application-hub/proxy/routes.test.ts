import assert from "node:assert/strict";
import { test } from "node:test";

import type { Sql } from "../store/database.ts";
import { type ServerRoute, type Visit, createRoutes } from "./routes.ts";

const server: ServerRoute = { id: "1", label: "a--b", user: "a", name: "b", target: { url: "http://192.0.2.1" } };
const sql = { first: async () => undefined } as unknown as Sql;

test("what the hub granted last is good while it cannot be asked, for a minute", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  let answer: () => Visit | undefined = () => ({ user: "a", isOwner: true, loginId: null });
  const away = () => {
    throw new Error("connect ECONNREFUSED");
  };
  const routes = createRoutes(sql, async () => answer());
  const ask = () => routes.visitByToken(server, "token");
  assert.equal((await ask())?.user, "a");
  answer = away;
  t.mock.timers.tick(30_000);
  assert.equal((await ask())?.user, "a");
  // Servers come and go meanwhile.
  routes.forget("kept");
  assert.equal((await ask())?.user, "a");
  t.mock.timers.tick(31_000);
  await assert.rejects(ask, /ECONNREFUSED/);
});

test("a token that the hub refuses, a right that changed, and another's token are not good", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  let answer: () => Visit | undefined = () => ({ user: "a", isOwner: true, loginId: null });
  const away = () => {
    throw new Error("connect ECONNREFUSED");
  };
  const routes = createRoutes(sql, async () => answer());
  const ask = (token = "token") => routes.visitByToken(server, token);
  assert.ok(await ask());
  t.mock.timers.tick(5000);
  answer = () => undefined;
  assert.equal(await ask(), undefined);
  t.mock.timers.tick(5000);
  answer = away;
  await assert.rejects(ask(), /ECONNREFUSED/);
  answer = () => ({ user: "a", isOwner: true, loginId: null });
  assert.ok(await ask());
  answer = away;
  await assert.rejects(ask("another"), /ECONNREFUSED/);
  routes.forget("changed");
  await assert.rejects(ask(), /ECONNREFUSED/);
});
