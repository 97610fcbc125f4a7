import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";

import { BODY_IN_THREAD, type JsonBody, addJsonBodies } from "./json-body.ts";

const app = createApp(createLogger("test", "silent"), { bodyLimit: 16 << 20 });
addJsonBodies(app);
app.post<{ Body: JsonBody }>("/any", ({ body }) => ({ type: typeof body.value, characters: body.text.length }));
app.post("/thread", { config: BODY_IN_THREAD }, () => ({}));

const post = (url: string, payload: string) =>
  app.inject({ method: "POST", url, payload, headers: { "content-type": "application/geo+json" } });

/** Turns of the event loop that others have while it is served. */
async function countTurns(url: string, payload: string): Promise<number> {
  let turns = 0;
  let isServed = false;
  const count = () => {
    turns += 1;
    if (!isServed) {
      setImmediate(count);
    }
  };
  setImmediate(count);
  assert.equal((await post(url, payload)).statusCode, 200);
  isServed = true;
  return turns;
}

test("parses large bodies while others have their turn, unless a thread will", async () => {
  const polygon = JSON.stringify({
    type: "Polygon",
    coordinates: [Array.from({ length: 100_001 }, (_, i) => [i / 1000, i / 2000])],
  });
  const expected = polygon.length / (64 << 10);
  assert.ok((await countTurns("/any", polygon)) > expected);
  assert.ok((await countTurns("/thread", polygon)) < expected);
  assert.deepEqual((await post("/any", polygon)).json(), { type: "object", characters: polygon.length });
});

test("refuses large bodies that are no JSON, too deep, or of too many values", async () => {
  for (const [payload, status] of [
    ["[".repeat(200_000), 400],
    [`[${"1,".repeat(1_200_000)}1]`, 413],
    [`{"a":"${"x".repeat(100_000)}"`, 400],
  ] as const) {
    assert.equal((await post("/any", payload)).statusCode, status);
  }
});
