import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type pg from "pg";

import { type PooledDatabase, openPool } from "./open-pool.ts";
import { type TestServer, startTestServer } from "./server/index.ts";
import { inTransaction } from "./transaction.ts";

let server: TestServer;
let database: PooledDatabase;
before(async () => {
  server = await startTestServer();
  database = await openPool({ url: server.url, schema: "transactions", connections: 2, onError: () => {} });
  await database.pool.query("create table counted (name text primary key, count integer not null)");
});
after(async () => {
  await database?.close();
  await server?.close();
});
beforeEach(() => database.pool.query("truncate counted"));

const add = (client: pg.PoolClient, name: string) => client.query("insert into counted values ($1, 1)", [name]);
const count = async () => Number((await database.pool.query("select count(*) from counted")).rows[0].count);
const interrupted = () => Object.assign(new Error("deadlock detected"), { code: "40P01" });

test("commits before it resolves, and says so once", async () => {
  const committed: number[] = [];
  const result = await inTransaction(
    database.pool,
    async (client) => {
      await add(client, "a");
      return "done";
    },
    { onCommit: () => committed.push(1) },
  );
  assert.deepEqual([result, await count(), committed], ["done", 1, [1]]);
});

test("undoes everything when the work throws, and gives the connection back", async () => {
  for (let round = 0; round < 5; round += 1) {
    await assert.rejects(
      inTransaction(database.pool, async (client) => {
        await add(client, "a");
        throw new Error("no more");
      }),
      /no more/,
    );
  }
  assert.equal(await count(), 0);
  assert.equal(database.pool.idleCount, database.pool.totalCount);
});

test("repeats what others interrupted, as often as it is told", async () => {
  let attempts = 0;
  const work = async (client: pg.PoolClient) => {
    attempts += 1;
    await add(client, "a");
    if (attempts < 3) {
      throw interrupted();
    }
  };
  await inTransaction(database.pool, work, { maxAttempts: 3 });
  assert.deepEqual([attempts, await count()], [3, 1]);
  attempts = 0;
  await assert.rejects(inTransaction(database.pool, work), /deadlock|duplicate/);
  assert.equal(attempts, 1);
});

test("does not use a connection again that cannot roll back", async () => {
  let broken: pg.PoolClient | undefined;
  await assert.rejects(
    inTransaction(database.pool, async (client) => {
      broken = client;
      await client.query("select pg_terminate_backend(pg_backend_pid())");
    }),
  );
  const client = await database.pool.connect();
  try {
    assert.notEqual(client, broken);
    assert.equal((await client.query("select 1 as one")).rows[0].one, 1);
  } finally {
    client.release();
  }
});
