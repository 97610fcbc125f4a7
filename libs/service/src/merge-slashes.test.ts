import assert from "node:assert/strict";
import { test } from "node:test";

import { createApp } from "./fastify.ts";
import { createLogger } from "./log.ts";

test("takes repeated slashes of a path as one, and leaves the query alone", async () => {
  const app = createApp(createLogger("test", "fatal"), {
    rewriteUrl: ({ url = "/" }) => url.replace(/^\/known\//, "/new/"),
  });
  app.get("/new/thing", (request) => request.query);
  const { statusCode, body } = await app.inject("//known//thing?at=https://example.org//x");
  assert.equal(statusCode, 200);
  assert.equal(body, '{"at":"https://example.org//x"}');
  await app.close();
});

test("keeps them where they are part of names", async () => {
  const app = createApp(createLogger("test", "fatal"), { keepsSlashes: true });
  app.get("/files/*", (request) => (request.params as { "*": string })["*"]);
  assert.equal((await app.inject("/files/a//b")).body, "a//b");
  await app.close();
});
