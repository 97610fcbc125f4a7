import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";

import type { RegistryError } from "../errors.ts";
import { type CallerDeps, findCaller } from "./caller.ts";
import { createRegistryTokens } from "./tokens.ts";

const tokens = createRegistryTokens({ secret: "a secret of the tests", service: "registry.example.org" });
const deps = {
  tokens,
  publicUrl: "https://registry.example.org",
  findProject: (name: string) => Promise.resolve({ name, isPublic: name === "open" }),
} as unknown as CallerDeps;
const access = [{ type: "repository", name: "maps/tools", actions: ["pull", "push"] }] as const;

const callWith = async (seconds: number) => {
  const token = await tokens.sign("user:eric", access, seconds);
  return findCaller(deps, { headers: { authorization: `Bearer ${token}` } } as unknown as IncomingMessage);
};

test("an expired token is answered with a challenge that has the scope, so that clients get a new one", async () => {
  const caller = await callWith(-10);
  for (const [action, scope] of [
    ["pull", "pull"],
    ["push", "pull,push"],
  ] as const) {
    await assert.rejects(caller.require("maps/tools", action), (error: RegistryError) => {
      assert.equal(error.code, "UNAUTHORIZED");
      assert.match(error.message, /has expired/);
      assert.equal(
        error.headers["www-authenticate"],
        `Bearer realm="https://registry.example.org/service/token",service="registry.example.org",scope="repository:maps/tools:${scope}",error="invalid_token"`,
      );
      return true;
    });
  }
  assert.deepEqual([caller.isAnonymous, caller.name], [true, "anonymous"]);
  assert.equal(await caller.can("open/tools", "pull"), true);
  assert.equal(await caller.can("open/tools", "push"), false);
});

test("the challenge of a mount names both repositories", async () => {
  const anonymous = await findCaller(deps, { headers: {} } as unknown as IncomingMessage);
  for (const caller of [anonymous, await callWith(-10)]) {
    await assert.rejects(caller.requirePush("maps/tools", "open/base"), (error: RegistryError) => {
      assert.match(
        error.headers["www-authenticate"] ?? "",
        /scope="repository:maps\/tools:pull,push repository:open\/base:pull"/,
      );
      return true;
    });
  }
  await (await callWith(60)).requirePush("maps/tools", "open/base");
});

test("a token without the right is answered insufficient_scope, one with it lets through", async () => {
  const caller = await callWith(60);
  await caller.require("maps/tools", "push");
  await assert.rejects(caller.require("maps/other", "pull"), (error: RegistryError) => {
    assert.match(error.headers["www-authenticate"] ?? "", /error="insufficient_scope"/);
    return true;
  });
});
