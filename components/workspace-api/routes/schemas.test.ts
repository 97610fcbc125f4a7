import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";

import { sendError } from "../errors.ts";
import { ChangeBody } from "./schemas.ts";

test("a change of a workspace names the fields that it cannot have, wherever they are", async () => {
  const app = createApp(createLogger("test", "silent"));
  await app.register(async (scope) => {
    scope.setErrorHandler(sendError);
    scope.patch("/workspaces/:name", { schema: { body: ChangeBody } }, (_request, reply) => reply.code(204).send());
  });
  const patch = (payload: object) => app.inject({ method: "PATCH", url: "/workspaces/ws-eric", payload });
  for (const [field, body] of [
    ["status", { status: "ready" }],
    ["name", { storage: { quota_in_mb: 5 }, name: "ws-other" }],
    ["storage.credentials", { storage: { credentials: {} } }],
    ["members.0.email", { members: [{ username: "bob", role: "reader", email: "x" }] }],
  ] as const) {
    const { statusCode, body: text } = await patch(body);
    assert.equal(statusCode, 422, text);
    assert.ok(text.includes(`body.${field} is not a field that this request may have`), text);
  }
  for (const body of [{ storage: null }, { storage: { quota_in_mb: null } }, { members: [] }, {}]) {
    assert.equal((await patch(body)).statusCode, 204, JSON.stringify(body));
  }
  await app.close();
});
