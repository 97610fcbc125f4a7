import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import pg from "pg";

import { makeDatabaseRoles } from "../roles.ts";
import { type TestServer, startTestServer } from "../server/index.ts";
import { createAuditLog } from "./audit-log.ts";
import { readHead, readTrail, verifyTrail } from "./read-trail.ts";

let server: TestServer;
let owner: pg.Pool;
let service: pg.Pool;

before(async () => {
  server = await startTestServer();
  const roles = [
    { user: "swath_ades", schema: "ades", password: "of-ades" },
    { user: "swath_portal", schema: "portal", password: "of-portal" },
  ];
  await makeDatabaseRoles({ url: server.url, roles });
  await makeDatabaseRoles({ url: server.url, roles });
  owner = new pg.Pool({ connectionString: server.url });
  service = loginAs("swath_ades", "of-ades");
});
after(async () => {
  await service?.end();
  await owner?.end();
  await server?.close();
});

function loginAs(user: string, password: string): pg.Pool {
  return new pg.Pool({ connectionString: server.url.replace(/\/\/[^@]*@/, `//${user}:${password}@`) });
}

const verify = async (known?: { n: number; hash: string }) =>
  verifyTrail(readTrail(owner), await readHead(owner), known);

test("services note what was done, in their own names alone, and it is chained", async () => {
  const log = createAuditLog(service, (error) => assert.fail(error));
  for (let count = 1; count <= 30; count++) {
    log.note({ action: "DELETE /x", actor: `user-${count}`, details: { service: "registry", n: count } });
  }
  await service.query(`select audit.note('{"action":"FORGED","service":"identity","at":"1999","n":7}')`);
  await log.close();
  await owner.query("select audit.seal()");
  const lines: Record<string, unknown>[] = [];
  for await (const { line } of readTrail(owner)) {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  }
  assert.equal(lines.length, 31);
  assert.ok(lines.every(({ service: name, at }) => name === "ades" && String(at).startsWith("2")));
  assert.equal(await verify(), undefined);
});

test("a service reads nothing and changes nothing of the trail; a reader searches it", async () => {
  for (const statement of [
    "select * from audit.entry",
    "select * from audit.pending",
    "delete from audit.entry",
    "update audit.head set n = 0",
    "insert into audit.service values ('swath_ades', 'identity')",
    "create table audit.mine ()",
    "create or replace function audit.note(entry jsonb) returns void language sql as 'select'",
  ]) {
    await assert.rejects(service.query(statement), /permission denied|must be owner/, statement);
  }
  const reader = loginAs("swath_portal", "of-portal");
  try {
    const { rows } = await reader.query("select n from audit.entry where actor = 'user-3'");
    assert.equal(rows.length, 1);
    await assert.rejects(reader.query("delete from audit.entry"), /permission denied/);
  } finally {
    await reader.end();
  }
  await assert.rejects(owner.query("delete from audit.entry where n = 3"), /append-only/);
  await assert.rejects(owner.query("truncate audit.entry"), /append-only/);
});

test("a line that was changed, taken out, moved or cut off is found, also by a superuser's hand", async () => {
  const head = await readHead(owner);
  const tamper = async (statements: readonly string[], expected: RegExp, known?: typeof head) => {
    const client = await owner.connect();
    try {
      await client.query("begin");
      await client.query("alter table audit.entry disable trigger append_only");
      for (const statement of statements) {
        await client.query(statement);
      }
      const damage = await verifyTrail(readTrail(client as unknown as pg.Pool), await readHead(client as never), known);
      assert.match(damage?.problem ?? "nothing was found", expected, statements.join("; "));
    } finally {
      await client.query("rollback");
      client.release();
    }
  };
  await tamper(["update audit.entry set line = replace(line, 'DELETE', 'GET') where n = 5"], /line 5 is not/);
  await tamper(["delete from audit.entry where n = 5"], /line 5 is missing/);
  await tamper(["delete from audit.entry where n > 20"], /lines 21 to 31 are missing/);
  await tamper(
    ["update audit.entry set n = 1000 where n = 5", "update audit.entry set n = 5 where n = 6"],
    /line 5 is not/,
  );
  const cut = [
    "delete from audit.entry where n > 20",
    "update audit.head set n = 20, hash = (select hash from audit.entry where n = 20)",
  ];
  await tamper(cut, /lines 21 to 31 were there/, head);
  assert.equal(await verify(head), undefined);
});

test("many services at once get one chain without gaps", async () => {
  const logs = Array.from({ length: 6 }, () => createAuditLog(service, (error) => assert.fail(error)));
  for (let count = 0; count < 50; count++) {
    logs.forEach((log, index) => log.note({ action: "x", actor: `${index}-${count}` }));
  }
  await Promise.all(logs.map((log) => log.close()));
  await owner.query("select audit.seal()");
  assert.equal((await readHead(owner)).n, 331);
  assert.equal(await verify(), undefined);
});
