import assert from "node:assert/strict";
import { lookup } from "node:dns/promises";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import pg from "pg";

import { openDatabase } from "../database.ts";
import { migrate } from "../migrate.ts";
import { type TestServer, startTestServer } from "./test-server.ts";

const server: TestServer = await startTestServer();
const migrations = mkdtempSync(join(tmpdir(), "swath-migrations-"));
after(async () => {
  await server.close();
  rmSync(migrations, { recursive: true });
});

const open = () =>
  openDatabase<{ note: { text: string } }>({ url: server.url, schema: "notes", migrations, onError: () => {} });

test("migrations are applied once, in order, also by two processes at once", async () => {
  writeFileSync(join(migrations, "0001-note.sql"), "create table notes.note (text text primary key)");
  const [first, second] = await Promise.all([open(), open()]);
  await first.db.insertInto("note").values({ text: "a" }).execute();
  assert.deepEqual(await second.db.selectFrom("note").selectAll().execute(), [{ text: "a" }]);
  await Promise.all([first.close(), second.close()]);
});

test("a failing migration names its file and leaves nothing of it", async () => {
  writeFileSync(join(migrations, "0002-bad.sql"), "create table notes.other (id int); select nonsense");
  await assert.rejects(open(), /0002-bad\.sql of schema notes failed/);
  rmSync(join(migrations, "0002-bad.sql"));
  const database = await open();
  const { rows } = await database.pool.query("select to_regclass('notes.other') as found");
  assert.equal(rows[0].found, null);
  await database.close();
});

test("what was committed survives kill -9", async () => {
  const before = await open();
  await before.db.insertInto("note").values({ text: "kept" }).execute();
  await server.kill();
  await server.start();
  const afterwards = await open();
  const row = await afterwards.db.selectFrom("note").selectAll().where("text", "=", "kept").executeTakeFirst();
  assert.deepEqual(row, { text: "kept" });
  await before.close();
  await afterwards.close();
});

test("a database whose name nobody knows yet is waited for", async () => {
  const pool = new pg.Pool({ connectionString: server.url });
  const connect = pool.connect.bind(pool);
  let response = 0;
  pool.connect = (async () => {
    response += 1;
    return response === 1 ? lookup("nowhere.invalid") : connect();
  }) as typeof pool.connect;
  const reasons: (string | undefined)[] = [];
  await migrate({ pool, schema: "notes", directory: migrations, onUnavailable: (reason) => reasons.push(reason) });
  assert.match(reasons[0] ?? "", /cannot be reached: getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid/);
  assert.deepEqual(reasons.slice(1), [undefined]);
  await pool.end();
});

test("a database that is away is waited for, and says why meanwhile", async () => {
  await server.kill();
  const reasons: (string | undefined)[] = [];
  let started = false;
  const opening = openDatabase({
    url: server.url,
    schema: "notes",
    migrations,
    onError: () => {},
    onUnavailable: (reason) => {
      reasons.push(reason);
      if (reasons.length > 3 && !started) {
        started = true;
        void server.start();
      }
    },
  });
  const database = await opening;
  await database.check();
  await database.close();
  assert.match(reasons[0] ?? "", /the database cannot be reached: /);
  assert.equal(reasons.at(-1), undefined);
});

test("a user that the database does not know is an error at once", async () => {
  const url = server.url.replace("//swath:", "//stranger:");
  assert.notEqual(url, server.url);
  await assert.rejects(openDatabase({ url, schema: "notes", migrations, onError: () => {} }), /stranger/);
});
