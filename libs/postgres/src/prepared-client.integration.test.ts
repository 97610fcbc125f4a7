import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type PooledDatabase, openPool } from "./open-pool.ts";
import { type TestServer, startTestServer } from "./server/index.ts";

let server: TestServer;
let database: PooledDatabase;
before(async () => {
  server = await startTestServer();
  // One connection: prepared statements belong to it.
  database = await openPool({ url: server.url, schema: "prepared", connections: 1, onError: () => {} });
});
after(async () => {
  await database?.close();
  await server?.close();
});

const namesOf = async () =>
  (await database.pool.query<{ name: string }>("select name from pg_prepared_statements order by name")).rows.map(
    ({ name }) => name,
  );
const double = (value: unknown) =>
  database.pool.query<{ doubled: number }>("/* prepared: double */ select $1::int * 2 as doubled", [value]);

test("a marked statement is planned once, by the pool and by a connection of it", async () => {
  assert.equal((await double(1)).rows[0]?.doubled, 2);
  assert.equal((await double(2)).rows[0]?.doubled, 4);
  assert.deepEqual(await namesOf(), ["double"]);
  const client = await database.pool.connect();
  try {
    assert.equal((await client.query("/* prepared: three */ select 3 as three")).rows[0].three, 3);
  } finally {
    client.release();
  }
  assert.deepEqual(await namesOf(), ["double", "three"]);
  await database.pool.query("select 1");
  assert.deepEqual(await namesOf(), ["double", "three"], "one without the mark is not kept");
});

test("a statement that the server has lost is sent whole", async () => {
  await double(1);
  await database.pool.query("deallocate all");
  assert.equal((await double(3)).rows[0]?.doubled, 6);
  const client = await database.pool.connect();
  try {
    await client.query("deallocate all");
    assert.equal((await client.query("/* prepared: double */ select $1::int * 2 as doubled", [4])).rows[0].doubled, 8);
  } finally {
    client.release();
  }
});

test("a statement whose table has changed is planned again", async () => {
  await database.pool.query("create table thing (a int); insert into thing values (1)");
  const read = () => database.pool.query("/* prepared: things */ select * from thing");
  assert.deepEqual((await read()).rows, [{ a: 1 }]);
  await database.pool.query("alter table thing add column b text default 'x'");
  assert.deepEqual((await read()).rows, [{ a: 1, b: "x" }]);
});

test("an error of a marked statement is told as any other, and the connection goes on", async () => {
  await assert.rejects(double("x"), { code: "22P02" });
  assert.equal((await double(5)).rows[0]?.doubled, 10);
});
