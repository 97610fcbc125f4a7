import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openDatabase } from "@swath/postgres";

import { ECHO_TOOL } from "./packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
before(async () => {
  ades = await startAdes();
  assert.equal((await deploy("eric")).status, 201);
  assert.equal((await deploy("bob")).status, 201);
});
after(() => ades.close());

const deploy = (user: string) => ades.send(`/${user}/ogc-api/processes`, { text: ECHO_TOOL, type: "application/cwl" });
const report = (user: string, text: string) => ades.send(`/${user}/ogc-api/processes/say/execution`, { text });
const saysHello = async (user: string) => {
  const { status, body } = await report(user, '{"inputs":{"text":"hello"}}');
  assert.deepEqual([status, String(body).trim()], [200, "hello"]);
};

test("half characters, NUL and nesting without end are refused where they come in", async () => {
  const deep = "[".repeat(5000) + "]".repeat(5000);
  for (const [body, detail] of [
    ['{"inputs":{"text":"\\ud800"}}', /inputs\.text holds NUL or half/],
    ['{"inputs":{"text":"a\\u0000b"}}', /inputs\.text holds NUL or half/],
    ['{"inputs":{"te\\udfffxt":"x"}}', /a name in inputs holds NUL or half/],
    ['{"inputs":{"text":"x"},"subscriber":{"successUri":"http://example.org/\\ud800"}}', /subscriber\.successUri/],
    [`{"inputs":{"text":${deep}}}`, /more than 100 arrays and objects/],
  ] as const) {
    const response = await report("eric", body);
    assert.equal(response.status, 400, body.slice(0, 80));
    assert.match(response.body.detail, detail);
  }
  // A whole character of two halves is one.
  const smile = await report("eric", '{"inputs":{"text":"\\ud83d\\ude00"}}');
  assert.equal(String(smile.body).trim(), "😀");
  await saysHello("bob");
});

test("a package with half a character is refused", async () => {
  const text = ECHO_TOOL.replace("id: say", 'id: half\nlabel: "\\ud800"');
  const { status, body } = await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
  assert.equal(status, 400, JSON.stringify(body));
});

test("a row that cannot be read holds up nobody, and says why", async () => {
  const { pool, close } = await openDatabase({ url: ades.postgres.url, schema: "ades", onError: () => {} });
  const insert = async (request: string): Promise<string> => {
    const { rows } = await pool.query<{ id: string }>(
      `insert into job (owner, process_id, process_version, status, request, created_at)
       values ('eric', 'say', 1, 'accepted', $1::json, now() - interval '1 hour') returning id`,
      [request],
    );
    return rows[0]?.id ?? "";
  };
  try {
    // As an earlier version of the service took it.
    const half = await insert('{"inputs":{"text":"\\ud800"},"response":"raw"}');
    // One that the database itself refuses to give out.
    await pool.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'this row is damaged'; end $$`);
    await pool.query(`
      create trigger refuse_damaged before update on job for each row
      when (new.status = 'running' and new.request::text like '%damaged%') execute function refuse()`);
    const damaged = await insert('{"inputs":{"text":"damaged"},"response":"raw"}');
    await saysHello("eric");
    await saysHello("bob");
    const job = await ades.ended(`/eric/ogc-api/jobs/${damaged}`);
    assert.equal(job.status, "failed");
    assert.match(job.message, /cannot be read and was set aside: .*this row is damaged/);
    assert.ok(["successful", "failed"].includes((await ades.ended(`/eric/ogc-api/jobs/${half}`)).status));
    await ades.kill();
    await ades.start();
    await saysHello("bob");
  } finally {
    await close();
  }
});
