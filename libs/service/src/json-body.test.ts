import assert from "node:assert/strict";
import { test } from "node:test";

import { createApp } from "./fastify.ts";
import { createLogger } from "./log.ts";

const app = createApp(createLogger("test", "silent"), { bodyLimit: 20 << 20 });
app.post("/any", (request) => ({ type: typeof request.body }));
app.post(
  "/numbers",
  { schema: { body: { type: "object", properties: { list: { type: "array", items: { type: "number" } } } } } },
  () => ({}),
);

app.delete("/any", (request) => ({ type: typeof request.body }));

async function post(url: string, payload: string) {
  const response = await app.inject({ method: "POST", url, payload, headers: { "content-type": "application/json" } });
  return { status: response.statusCode, body: JSON.parse(response.body) as Record<string, unknown> };
}

test("answers 400 to 400,000 nested brackets", async () => {
  for (const payload of [
    "[".repeat(400_000),
    '{"a":'.repeat(400_000),
    `${"[".repeat(200_000)}${"]".repeat(200_000)}`,
  ]) {
    const { status, body } = await post("/any", payload);
    assert.equal(status, 400);
    assert.match(String(body["detail"]), /more than 100 arrays and objects are within each other/);
  }
});

test("answers 413 to a body of more than 250,000 values", async () => {
  assert.equal((await post("/any", `[${"1,".repeat(1_000_000)}1]`)).status, 413);
});

test("answers 400 to what is not JSON", async () => {
  for (const payload of ["{", "[1,]", '{"__proto__":1}', '{"a":"\\u0000"}', '["\\ud800"]']) {
    assert.equal((await post("/any", payload)).status, 400, payload);
  }
  assert.deepEqual(await post("/any", '\ufeff{"a":1}'), { status: 200, body: { type: "object" } });
});

test("takes an empty body for none: the route says whether it needs one", async () => {
  const headers = { "content-type": "application/json" };
  const remove = await app.inject({ method: "DELETE", url: "/any", headers });
  assert.deepEqual([remove.statusCode, remove.json()], [200, { type: "undefined" }]);
  assert.deepEqual(await post("/any", ""), { status: 200, body: { type: "undefined" } });
  const { status, body } = await post("/numbers", "");
  assert.equal(status, 400);
  assert.match(String(body["detail"]), /body must be object/);
});

test("reports every mistake of a small body, and one of a large one", async () => {
  const countErrors = async (items: number) => {
    const { status, body } = await post("/numbers", JSON.stringify({ list: Array.from({ length: items }, () => "x") }));
    assert.equal(status, 400);
    return (body["errors"] as readonly unknown[]).length;
  };
  assert.equal(await countErrors(3), 3);
  assert.equal(await countErrors(200_000), 1);
});
