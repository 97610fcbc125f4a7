import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { Registry } from "prom-client";

import { CallerLimits, releaseOnClose } from "./caller-limits.ts";
import type { Problem } from "./problem.ts";

const refusedWith = (status: number) => (error: unknown) =>
  (error as Problem).status === status && Number((error as Problem).headers["retry-after"]) >= 1;

test("a caller that has its places gets 429, others go on; a place that is given back is free", async () => {
  const metrics = new Registry();
  const { take } = new CallerLimits(metrics).createPlaces({ name: "streams", perUser: 3, perAddress: 2, total: 6 });
  const release = take({ address: "192.0.2.1" });
  take({ address: "::ffff:192.0.2.1" });
  assert.throws(() => take({ address: "192.0.2.1" }), refusedWith(429));
  take({ address: "192.0.2.1", user: "eric" });
  take({ address: "192.0.2.2" });
  release();
  release();
  take({ address: "192.0.2.1" });
  assert.throws(() => take({ address: "192.0.2.1" }), refusedWith(429));
  take({ address: "192.0.2.9", user: "eric" });
  take({ address: "192.0.2.9", user: "eric" });
  assert.throws(() => take({ address: "192.0.2.9", user: "eric" }), refusedWith(429));
  assert.throws(() => take({ address: "192.0.2.3" }), refusedWith(503));
  const text = await metrics.metrics();
  assert.match(text, /caller_limit_places\{limit="streams"\} 6/);
  assert.match(text, /caller_limit_refusals_total\{limit="streams",by="address"\} 2/);
  assert.match(text, /caller_limit_refusals_total\{limit="streams",by="total"\} 1/);
});

test("counts all places of the service without a registry of metrics, too", () => {
  const { take } = new CallerLimits().createPlaces({ name: "streams", perUser: 1, perAddress: 1, total: 1 });
  const release = take({ address: "192.0.2.1" });
  assert.throws(() => take({ address: "192.0.2.2" }), refusedWith(503));
  release();
  take({ address: "192.0.2.2" });
});

test("takeWhenFree waits until a place is given back, the signal aborts or the time is over", async () => {
  const places = new CallerLimits().createPlaces({ name: "loads", perUser: 1, perAddress: 1, total: 2 });
  const wait = { maxWaitMs: 60_000, signal: new AbortController().signal };
  const caller = { user: "eric", address: "192.0.2.1" };
  const release = await places.takeWhenFree(caller, wait);
  const order: string[] = [];
  const [second, third] = ["second", "third"].map(async (name) => {
    const releaseOwn = await places.takeWhenFree(caller, wait);
    order.push(name);
    return releaseOwn;
  });
  (await places.takeWhenFree({ user: "alice", address: "192.0.2.1" }, wait))();
  assert.deepEqual(order, [], "the place of another caller is not theirs");
  release();
  (await second)?.();
  (await third)?.();
  assert.deepEqual(order, ["second", "third"]);
  places.take(caller);
  await assert.rejects(places.takeWhenFree(caller, { ...wait, maxWaitMs: 1 }), refusedWith(429));
  await assert.rejects(
    places.takeWhenFree(caller, { ...wait, signal: AbortSignal.abort(new Error("the client went")) }),
    /the client went/,
  );
});

test("a place of a client that went while its request was looked into is given back", async (t) => {
  const { take } = new CallerLimits().createPlaces({ name: "streams", perUser: 1, perAddress: 1, total: 1 });
  const server = createServer((_request, response) => {
    response.once("close", () => {
      releaseOnClose(response, take({ address: "192.0.2.1" }));
      server.emit("released");
    });
    server.emit("arrived");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const outgoing = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  outgoing.on("error", () => {});
  outgoing.end();
  await once(server, "arrived");
  outgoing.destroy();
  await once(server, "released");
  take({ address: "192.0.2.1" });
});

test("addresses of one IPv6 network are one caller", () => {
  const { take } = new CallerLimits().createPlaces({ name: "streams", perUser: 1, perAddress: 1, total: 9 });
  take({ address: "2001:db8::1" });
  assert.throws(() => take({ address: "2001:db8::ffff:2" }), refusedWith(429));
  take({ address: "2001:db8:0:1::1" });
});

test("a rate counts each caller alone and says when to come back", (context) => {
  context.mock.timers.enable({ apis: ["Date"] });
  const { count } = new CallerLimits().createRate({ name: "exports", perUser: 2, perAddress: 1, seconds: 60 });
  count({ address: "192.0.2.1", user: "eric" });
  count({ address: "192.0.2.1", user: "eric" });
  assert.throws(() => count({ address: "192.0.2.1", user: "eric" }), refusedWith(429));
  count({ address: "192.0.2.1", user: "alice" });
  count({ address: "192.0.2.1" });
  assert.throws(() => count({ address: "192.0.2.1" }), refusedWith(429));
  context.mock.timers.tick(60_001);
  count({ address: "192.0.2.1" });
});
