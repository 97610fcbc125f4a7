import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openPool } from "./open-pool.ts";
import { startTestServer } from "./server/index.ts";

const server = await startTestServer();
const directory = mkdtempSync(join(tmpdir(), "swath-pool-"));
after(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});
const onError = (): void => {};

test("waits for rows of others for 10 seconds, and in a migration for as long as it takes", async (t) => {
  const migrations = join(directory, "migrations");
  mkdirSync(migrations);
  writeFileSync(
    join(migrations, "0001-note.sql"),
    "create table waited.note as select current_setting('lock_timeout') as lock_timeout;",
  );
  const { pool, close } = await openPool({ url: server.url, schema: "waited", migrations, connections: 1, onError });
  t.after(close);
  assert.equal((await pool.query("select lock_timeout from note")).rows[0].lock_timeout, "0");
  // The one connection has migrated before.
  assert.equal((await pool.query("show lock_timeout")).rows[0].lock_timeout, "10s");
});

test("gives up a statement that waits for longer, and keeps its connection", async (t) => {
  const parameters = { lock_timeout: "100ms" };
  const { pool, close } = await openPool({ url: server.url, schema: "held", connections: 2, parameters, onError });
  t.after(close);
  await pool.query("create schema held");
  await pool.query("create table held.counter as select 1 as n");
  const holder = await pool.connect();
  await holder.query("begin");
  await holder.query("update held.counter set n = 2");
  await assert.rejects(pool.query("update held.counter set n = 3"), { code: "55P03" });
  await holder.query("commit");
  holder.release();
  await pool.query("update held.counter set n = 3");
  assert.equal((await pool.query("select n from held.counter")).rows[0].n, 3);
});
