import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { type Database, openDatabase } from "@swath/postgres";
import { createLogger, loadSettings } from "@swath/service";
import { sql } from "kysely";

import { settings as definitions } from "../config.ts";
import { sweep } from "../retention/sweep.ts";
import { dismissJob } from "../store/jobs.ts";
import type { Tables } from "../store/tables.ts";
import { ROOT, type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
let database: Database<Tables>;
let s3: S3Client;
const folder = mkdtempSync(join(tmpdir(), "swath-retention-"));
const logger = createLogger("test", "error");
before(async () => {
  ades = await startAdes();
  database = await openDatabase<Tables>({ url: ades.postgres.url, schema: "ades", onError: () => {} });
  s3 = new S3Client({ endpoint: ades.objstoreUrl, region: "us-east-1", forcePathStyle: true, credentials: ROOT });
  await s3.send(new CreateBucketCommand({ Bucket: "results" }));
});
after(async () => {
  s3.destroy();
  await database.close();
  await ades.close();
  rmSync(folder, { recursive: true, force: true });
});

const settingsWith = (more: Record<string, string>) =>
  loadSettings(definitions, {
    DATABASE_URL: ades.postgres.url,
    DATA_DIR: folder,
    PUBLIC_URL: ades.url,
    S3_ENDPOINT: ades.objstoreUrl,
    S3_ACCESS_KEY: ROOT.accessKeyId,
    S3_SECRET_KEY: ROOT.secretAccessKey,
    ...more,
  });

/** A job that ended so many days ago, with a log, a step and two objects of results. */
async function endedJob(days: number, status = "successful"): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into job (owner, process_id, process_version, status, request, finished_at)
    values ('eric', 'old', 1, ${status}, '{"inputs":{}}', now() - make_interval(days => ${days})) returning id`.execute(
    database.db,
  );
  const id = rows[0]?.id ?? "";
  const result = { outputs: {}, catalogUri: `s3://results/processing-results/${id}/catalog.json` };
  await sql`update job set result = ${JSON.stringify(result)}::json where id = ${id}`.execute(database.db);
  await sql`insert into job_log (job, step, text) values (${id}, 's', 'x')`.execute(database.db);
  await sql`insert into job_step (job, name, status) values (${id}, 's', 'successful')`.execute(database.db);
  for (const name of ["catalog.json", "item/a.tif"]) {
    await s3.send(new PutObjectCommand({ Bucket: "results", Key: `processing-results/${id}/${name}`, Body: "x" }));
  }
  return id;
}
const stored = async (id: string) =>
  (await s3.send(new ListObjectsV2Command({ Bucket: "results", Prefix: `processing-results/${id}/` }))).KeyCount ?? 0;
const known = async (id: string) => (await ades.send(`/eric/ogc-api/jobs/${id}`)).status === 200;

test("without a limit jobs are kept for ever", async () => {
  const id = await endedJob(5000);
  await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  assert.deepEqual([await known(id), await stored(id)], [true, 2]);
});

test("jobs that ended longer ago than they are kept are forgotten, their results with them only when it is so set", async () => {
  const [old, young, running] = [await endedJob(31), await endedJob(29), await endedJob(100, "running")];
  const swept = await sweep({
    db: database.db,
    pool: database.pool,
    settings: settingsWith({ JOB_RETENTION_DAYS: "30" }),
    logger,
  });
  assert.ok(swept.jobs >= 1);
  assert.deepEqual(await Promise.all([old, young, running].map(known)), [false, true, true]);
  assert.equal(await stored(old), 2);
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from job_log where job = ${old}`.execute(
    database.db,
  );
  assert.equal(rows[0]?.count, 0);
  const other = await endedJob(31);
  await sweep({
    db: database.db,
    pool: database.pool,
    settings: settingsWith({ JOB_RETENTION_DAYS: "30", RESULT_RETENTION: "with-job" }),
    logger,
  });
  assert.deepEqual([await stored(other), await stored(young)], [0, 2]);
  await sql`delete from job where id = ${running}`.execute(database.db);
});

test("a job that its owner deletes takes its results along when it is so set; a store that is away is asked again", async () => {
  const id = await endedJob(0);
  await dismissJob(database.db, { owner: "eric", id, withResults: true });
  const away = settingsWith({ RESULT_RETENTION: "with-job", S3_ENDPOINT: "http://127.0.0.1:1" });
  await sweep({ db: database.db, pool: database.pool, settings: away, logger: createLogger("test", "silent") });
  assert.equal(await stored(id), 2);
  await sql`update removal set next_at = now()`.execute(database.db);
  await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  assert.equal(await stored(id), 0);
  const { rows } = await sql`select from removal`.execute(database.db);
  assert.equal(rows.length, 0);
});

test("folders that jobs left behind are removed, those in use are not", async () => {
  const running = await endedJob(0, "running");
  await sql`update job set finished_at = null, lease_until = now() + interval '1 hour' where id = ${running}`.execute(
    database.db,
  );
  const jobs = join(folder, "jobs");
  const unknown = "00000000-0000-4000-8000-000000000000";
  const [fresh, other] = ["00000000-0000-4000-8000-000000000001", "not-a-job"];
  for (const name of [running, unknown, fresh, other]) {
    mkdirSync(join(jobs, name, "in"), { recursive: true });
    writeFileSync(join(jobs, name, "in/data"), "x");
    if (name !== fresh) {
      utimesSync(join(jobs, name), new Date(0), new Date(0));
    }
  }
  mkdirSync(join(folder, "packages/package-x"), { recursive: true });
  utimesSync(join(folder, "packages/package-x"), new Date(0), new Date(0));
  const swept = await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  assert.equal(swept.folders, 2);
  assert.deepEqual(readdirSync(jobs).toSorted(), [running, fresh, other].toSorted());
  assert.equal(existsSync(join(folder, "packages/package-x")), false);
});

test("versions of processes that nobody runs any more are forgotten, the current one never", async () => {
  const send = (text: string, method = "POST", path = "") =>
    ades.send(`/eric/ogc-api/processes${path}`, { text, method, type: "application/cwl" });
  const text = "cwlVersion: v1.2\nclass: Workflow\nid: v\ninputs: {}\noutputs: {}\nsteps: []\n";
  assert.equal((await send(text)).status, 201);
  assert.equal((await send(text, "PUT", "/v")).status, 204);
  await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  const versions = async () =>
    (
      await sql<{ version: number }>`select version from process where id = 'v' order by version`.execute(database.db)
    ).rows.map(({ version }) => version);
  assert.deepEqual(await versions(), [1, 2], "the last ones stay to go back to");
  for (let version = 3; version <= 12; version += 1) {
    assert.equal((await send(text, "PUT", "/v")).status, 204);
  }
  await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  assert.deepEqual(await versions(), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.equal((await ades.send("/eric/ogc-api/processes/v", { method: "DELETE" })).status, 204);
  await sweep({ db: database.db, pool: database.pool, settings: settingsWith({}), logger });
  assert.deepEqual(await versions(), [12]);
});
