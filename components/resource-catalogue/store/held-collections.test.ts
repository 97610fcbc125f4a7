import assert from "node:assert/strict";
import { test } from "node:test";

import type pg from "pg";

import { writeOne } from "./held-collections.ts";

const CONNECTIONS = 5;
const createPool = () => ({ options: { max: CONNECTIONS } }) as pg.Pool;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Writes that begin, and end when they are told to. */
function createWrites(pool: pg.Pool) {
  const begun: { readonly collection: number; readonly end: (error?: Error) => void }[] = [];
  const write = (collection: number): Promise<string> =>
    writeOne(pool, collection, async () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      begun.push({ collection, end: (error) => (error === undefined ? resolve() : reject(error)) });
      await promise;
    }).then(
      () => "written",
      (error: unknown) => String((error as { status?: number }).status ?? (error as { code?: string }).code),
    );
  return { begun, write };
}

const heldError = () => Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" });

test("the first writes of a held collection leave connections to those of others", async () => {
  const { begun, write } = createWrites(createPool());
  const held = Array.from({ length: 40 }, () => write(1));
  await turn();
  assert.equal(begun.length, CONNECTIONS - 2);
  const other = write(2);
  await turn();
  assert.deepEqual(begun.at(-1)?.collection, 2);
  begun.at(-1)?.end();
  assert.equal(await other, "written");

  // Those that began give up; of the others, sixteen wait one after the other and the rest is refused.
  begun.slice(0, 3).forEach(({ end }) => end(heldError()));
  await turn();
  await turn();
  assert.equal(begun.length, 5, "one at a time from now on");
  for (let index = 4; index < begun.length; index += 1) {
    begun[index]?.end();
    await turn();
    await turn();
  }
  const outcomes = await Promise.all(held);
  assert.equal(outcomes.filter((outcome) => outcome === "55P03").length, 3);
  assert.equal(outcomes.filter((outcome) => outcome === "written").length, 16);
  assert.equal(outcomes.filter((outcome) => outcome === "503").length, 21);
});

test("writes of several held collections leave a connection to other statements", async () => {
  const { begun, write } = createWrites(createPool());
  const all = [1, 2, 3, 4, 5, 6].flatMap((collection) => [write(collection), write(collection)]);
  await turn();
  assert.equal(begun.length, CONNECTIONS - 1);
  for (let index = 0; index < all.length; index += 1) {
    begun[index]?.end();
    await turn();
  }
  assert.deepEqual(
    new Set(await Promise.all(all)),
    new Set(["written"]),
    "each is written when its connection is free",
  );
});

test("a pool of one connection writes", async () => {
  const { begun, write } = createWrites({ options: { max: 1 } } as pg.Pool);
  const both = [write(1), write(2)];
  await turn();
  assert.equal(begun.length, 1);
  begun[0]?.end();
  await turn();
  begun[1]?.end();
  assert.deepEqual(await Promise.all(both), ["written", "written"]);
});

test("a write is refused while thousands wait for a connection", async () => {
  const { begun, write } = createWrites(createPool());
  const writes = Array.from({ length: 2100 }, (_, index) => write(index));
  await turn();
  assert.equal(begun.length, CONNECTIONS - 1);
  for (let index = 0; index < begun.length; index += 1) {
    begun[index]?.end();
    await turn();
  }
  const results = await Promise.all(writes);
  const refused = 2100 - 2000 - (CONNECTIONS - 1);
  assert.equal(results.filter((result) => result === "503").length, refused);
  assert.equal(results.filter((result) => result === "written").length, 2100 - refused);
});
