import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { startTestIssuer } from "@swath/testing/issuer";
import pg from "pg";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const IDLE_SECONDS = 2;
const SECRET = "of-operators";
const issuer = await startTestIssuer();
const catalogue = await startCatalogue({
  AUTHENTICATION: "required",
  IDENTITY_ISSUER: issuer.url,
  ACCEPTED_AUDIENCES: "swath-platform",
  INTERNAL_SECRET: SECRET,
  LOAD_IDLE_SECONDS: String(IDLE_SECONDS),
});
const internal = catalogue.createInternalServer?.();
assert.ok(internal);
internal.listen(0, "127.0.0.1");
await once(internal, "listening");
const internalUrl = `http://127.0.0.1:${(internal.address() as AddressInfo).port}`;
after(async () => {
  await database.end();
  internal.closeAllConnections();
  internal.close();
  await catalogue.close();
  issuer.close();
});

const as = async (user: string): Promise<Record<string, string>> => {
  const token = await issuer.token(user, { aud: "swath-platform", realm_access: { roles: ["admin"] } });
  return { authorization: `Bearer ${token}` };
};
const database = new pg.Client({ connectionString: catalogue.postgres.url });
await database.connect();
const admin = await as("admin");
const COLLECTIONS = Array.from({ length: 8 }, (_, index) => `loads-${index}`);
for (const id of COLLECTIONS) {
  const { status, text } = await catalogue.request("POST", "/stac/collections", {
    body: makeCollection(id),
    headers: admin,
  });
  assert.equal(status, 201, text);
}
const linesOf = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify(makeItem(`${prefix}-${index}`))}\n`).join("");
const pathOf = (collection: string): string => `/stac/collections/${collection}/items.ndjson?method=upsert`;

interface HeldLoad {
  /** Status of the response; `undefined` while there is none, "closed" for a connection that ended without one. */
  readonly outcome: () => number | "closed" | undefined;
  readonly retryAfter: () => string | undefined;
  readonly stop: () => void;
  readonly goAway: () => void;
}

/** A client that sends more lines than are written at once, then a blank now and then, until it is stopped. */
async function holdLoad(user: string, collection: string, prefix: string): Promise<HeldLoad> {
  const headers = { "content-type": "application/x-ndjson", ...(await as(user)) };
  const outgoing: ClientRequest = sendRequest(`${catalogue.url}${pathOf(collection)}`, {
    method: "POST",
    headers,
    agent: false,
  });
  let outcome: ReturnType<HeldLoad["outcome"]>;
  let retryAfter: string | undefined;
  outgoing.on("response", (response: IncomingMessage) => {
    outcome = response.statusCode ?? 0;
    retryAfter = response.headers["retry-after"];
    response.resume();
  });
  outgoing.on("error", () => {});
  outgoing.on("close", () => (outcome ??= "closed"));
  outgoing.write(linesOf(prefix, 300));
  const drip = setInterval(() => outgoing.write("\n"), 200);
  const stop = (): void => clearInterval(drip);
  return {
    outcome: () => outcome,
    retryAfter: () => retryAfter,
    stop,
    goAway: () => {
      stop();
      outgoing.destroy();
    },
  };
}

/** Waits until as many loads have the lock of their collection, and as many wait for it. */
function waitForLoads(granted: number, waiting = 0): Promise<unknown> {
  return waitUntil(`${granted} loads are under way, ${waiting} wait`, async () => {
    const { rows } = await database.query<{ granted: boolean }>(
      "select granted from pg_locks where locktype = 'advisory' and objsubid = 2 and mode = 'ExclusiveLock'",
    );
    const held = rows.filter((row) => row.granted).length;
    return held === granted && rows.length - held === waiting;
  });
}

const isRefused = ({ outcome }: HeldLoad): boolean => [429, 503].includes(Number(outcome()));

async function load(user: string, collection: string, prefix: string): Promise<number> {
  const headers = { "content-type": "application/x-ndjson", ...(await as(user)) };
  const { status } = await catalogue.request("POST", pathOf(collection), { headers, body: linesOf(prefix, 3) });
  return status;
}

test("eight loads that do not end leave other users their single writes, end when nothing comes, and free their places", async (t) => {
  const loads = await Promise.all(
    COLLECTIONS.map((collection, index) => holdLoad(`user-${index >> 1}`, collection, `held-${index}`)),
  );
  t.after(() => loads.forEach(({ goAway }) => goAway()));
  // Of 20 connections 5 are for loads: 3 for users, at most 2 for one of them.
  await waitForLoads(3);
  await waitUntil(
    "five loads are refused",
    () => {
      const outcomes = loads.map(({ outcome }) => outcome());
      assert.equal(loads.filter(isRefused).length, 5, outcomes.join(", "));
      return true;
    },
    30,
  );
  for (const { retryAfter } of loads.filter(isRefused)) {
    assert.ok(Number(retryAfter()) >= 1);
  }
  const other = await as("other");
  const path = "/stac/collections/loads-0/items";
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      catalogue.request("POST", path, { headers: other, body: makeItem(`single-${index}`) }),
    ),
  );
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
  const changed = await catalogue.request("PUT", `${path}/single-1`, { headers: other, body: makeItem("single-1") });
  assert.equal(changed.status, 200, changed.text);
  const deleted = await catalogue.request("DELETE", `${path}/single-2`, { headers: other });
  assert.equal(deleted.status, 204, deleted.text);
  const held = loads.filter(({ outcome }) => outcome() === undefined);
  assert.equal(held.length, 3, "they are under way while others write");
  held.forEach(({ stop }) => stop());
  await waitUntil("stalled loads end", () => held.every(({ outcome }) => outcome() === 408), 30);
  for (const [index, collection] of COLLECTIONS.entries()) {
    const stored = await catalogue.request("GET", `/stac/collections/${collection}/items/held-${index}-0`);
    assert.equal(stored.status, 404, "nothing of a stalled load is stored");
    assert.equal(await load(`user-${index >> 1}`, collection, "after"), 201);
  }
});

test("a load that waits for another one of its collection ends when its client goes", async (t) => {
  const first = await holdLoad("first", "loads-0", "first");
  t.after(() => first.goAway());
  await waitForLoads(1);
  const waiting = [await holdLoad("second", "loads-0", "second"), await holdLoad("second", "loads-0", "second")];
  t.after(() => waiting.forEach(({ goAway }) => goAway()));
  await waitForLoads(1, 2);
  assert.equal(await load("second", "loads-1", "more"), 429);
  waiting.forEach(({ goAway }) => goAway());
  await waitUntil("the places are free", async () => (await load("second", "loads-1", "more")) === 201, 30);
  assert.equal(first.outcome(), undefined, "the first load is still under way");
});

test("writers of many items that wait for a load hold no connection, and go on after it", async (t) => {
  const first = await holdLoad("first", "loads-2", "first");
  t.after(() => first.goAway());
  const other = await as("other");
  await waitForLoads(1);
  const batches = Array.from({ length: 12 }, (_, index) =>
    catalogue.request("POST", "/stac/collections/loads-2/items", {
      headers: other,
      body: { type: "FeatureCollection", features: [makeItem(`x-${index}`), makeItem(`y-${index}`)] },
    }),
  );
  const path = "/stac/collections/loads-3/items";
  for (let index = 0; index < 10; index += 1) {
    const { status } = await catalogue.request("POST", path, { headers: other, body: makeItem(`meanwhile-${index}`) });
    assert.equal(status, 201);
  }
  assert.equal(first.outcome(), undefined, "the load is still under way");
  first.goAway();
  assert.deepEqual(new Set((await Promise.all(batches)).map(({ status }) => status)), new Set([201]));
});

test("services of the platform have places of their own, and wait for one", async (t) => {
  const held = await Promise.all(
    [0, 1, 2].map((index) => holdLoad(`user-${index}`, COLLECTIONS[index] as string, `again-${index}`)),
  );
  t.after(() => held.forEach(({ goAway }) => goAway()));
  await waitForLoads(3);
  assert.equal(await load("fourth", "loads-4", "more"), 503);
  const headers = { "content-type": "application/x-ndjson", authorization: `Bearer ${SECRET}` };
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      fetch(`${internalUrl}${pathOf(index < 4 ? "loads-5" : "loads-6")}`, {
        method: "POST",
        headers,
        body: linesOf(`of-service-${index}`, 300),
      }),
    ),
  );
  assert.deepEqual(
    responses.map(({ status }) => status),
    Array.from({ length: 8 }, () => 201),
  );
  assert.ok(held.every(({ outcome }) => outcome() === undefined));
});
