import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { cp, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";

import type { CrashPoint } from "../store/crash-points.ts";
import { listSegments } from "../store/journal/journal-files.ts";
import { RECORD_HEADER_BYTES, readRecord } from "../store/journal/journal-record.ts";
import { rebuildIndex } from "../store/rebuild/rebuild-index.ts";
import { type ObjectStore, openStore } from "../store/store.ts";
import { readVersion } from "./crash-support.ts";
import { changeAtRandom, createRandom } from "./history.ts";

/** Histories: 200 in a long run (JOURNAL_HISTORIES=200). */
const HISTORIES = Number(process.env["JOURNAL_HISTORIES"] ?? 3);
const TABLES = "buckets versions contents files uploads parts completions users roles access_keys meta events".split(
  " ",
);
const fail = (error: unknown) => assert.fail(String(error));
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "objstore-journal-"));
});
after(() => rm(folder, { recursive: true, force: true }));

function openAt(directory: string, reach: (point: CrashPoint) => void = () => {}): Promise<ObjectStore> {
  // New bases are made all the time.
  const options = { directory, journalBytes: 96 << 10, onFailure: fail, onBackgroundError: fail };
  return openStore({ ...options, crash: { reach } });
}

/** Every row of the index but those of its journal. */
function dump(directory: string): Readonly<Record<string, readonly unknown[]>> {
  const index = new DatabaseSync(join(directory, "index.db"));
  try {
    return Object.fromEntries(
      TABLES.map((table) => [
        table,
        index.prepare(`select * from ${table} order by ${table === "versions" ? "1, 2, 3" : "1, 2"}`).all(),
      ]),
    );
  } finally {
    index.close();
  }
}

async function loseIndex(directory: string): Promise<void> {
  for (const name of ["index.db", "index.db-wal", "index.db-shm"]) {
    await rm(join(directory, name), { force: true });
  }
}

/** Opens a store as a start does, reads all content, and gives the rows. */
async function reopen(directory: string): Promise<ReturnType<typeof dump>> {
  const store = await openAt(directory);
  try {
    await store.garbage.drain();
    for (const version of store.index.all<Parameters<typeof readVersion>[1]>(
      "select * from versions where marker = 0",
    )) {
      assert.equal((await readVersion(store, version)).length, version.size, version.key);
    }
  } finally {
    await store.close();
  }
  return dump(directory);
}

async function checkRebuild(directory: string, expected: ReturnType<typeof dump>): Promise<void> {
  await loseIndex(directory);
  const report = await rebuildIndex(directory);
  assert.equal(report.journal?.isDamaged, false);
  assert.deepEqual(dump(directory), expected);
  assert.deepEqual(await reopen(directory), expected, "the store goes on with the new index");
}

test("a lost index is made anew exactly: versions, markers, moves, tags, locks, open uploads, users", async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const directory = join(folder, `history-${seed}`);
    const random = createRandom(seed);
    for (const start of [1, 2]) {
      const store = await openAt(directory);
      for (let step = 0; step < 25; step += 1) {
        await Promise.all([1, 2, 3].map(() => changeAtRandom(store, random)));
      }
      await store.close();
      const expected = dump(directory);
      assert.ok((expected["versions"]?.length ?? 0) > 0, `seed ${seed}, start ${start}`);
      await checkRebuild(directory, expected);
    }
    await rm(directory, { recursive: true });
  }
});

const UNSYNCED = "journal without its last record";
const POINTS: readonly CrashPoint[] = [
  "journal-written",
  "index-committed",
  "index-durable",
  "garbage-unlinked",
  "base-copied",
  "base-named",
];

test("killed or without power at the worst moment, index and journal agree and hold what was acknowledged", async (t) => {
  for (const point of POINTS) {
    await t.test(point, async () => {
      const directory = join(folder, `kill-${point}`);
      const copy = `${directory}-copy`;
      // What a start has forced to the disk is there after a power cut.
      await (await openAt(directory)).close();
      let countdown = point.startsWith("index") || point === "journal-written" ? 25 : 2;
      const acknowledged = new Set<string>();
      let atCopy: readonly string[] | undefined;
      const store = await openAt(directory, (reached) => {
        countdown -= Number(reached === point);
        if (reached === point && countdown === 0) {
          // What a process that is killed here leaves.
          cpSync(directory, copy, { recursive: true });
          atCopy = [...acknowledged];
        }
      });
      const random = createRandom(7);
      const bucket = await store.buckets.create("acknowledged", "root", 0);
      for (let step = 0; step < 2000 && atCopy === undefined; step += 1) {
        const key = `key-${step}`;
        const content = { kind: "inline", data: Buffer.alloc(900, key), md5: "" } as const;
        await Promise.all([
          changeAtRandom(store, random),
          store.versions.put(bucket, { key, size: 900, etag: "e", owner: "root", headers: {}, content }),
          changeAtRandom(store, random),
        ]);
        acknowledged.add(key);
        store.garbage.nudge();
      }
      await store.close();
      assert.ok(atCopy !== undefined, `${point} was not reached`);
      // Before a journal forgets anything, the log of the index is forced to the disk.
      const hasForgotten = point.startsWith("base") || point === "garbage-unlinked";
      const cuts = [
        "killed",
        ...(hasForgotten ? [] : ["index without its log"]),
        ...(point === "index-committed" ? [UNSYNCED] : []),
      ];
      for (const cut of cuts) {
        const at = `${copy}-cut`;
        await cp(copy, at, { recursive: true });
        await rm(join(at, "lock.db"), { force: true });
        if (cut === "index without its log") {
          await rm(join(at, "index.db-wal"));
          await rm(join(at, "index.db-shm"), { force: true });
        } else if (cut === UNSYNCED) {
          await dropLastRecord(at);
        }
        const found = await reopen(at);
        const keys = new Set(found["versions"]?.map((row) => (row as { key: string }).key));
        assert.deepEqual(
          atCopy.filter((key) => !keys.has(key)),
          [],
          `${cut}: acknowledged and lost`,
        );
        if (cut !== "killed" || hasForgotten) {
          await checkRebuild(at, found);
        }
        await rm(at, { recursive: true });
      }
    });
  }
});

/** As a power cut leaves a record that was on its way to the disk. */
async function dropLastRecord(directory: string): Promise<void> {
  const path = listSegments(directory).at(-1)?.path ?? "";
  const file = await open(path, "r+");
  const bytes = await file.readFile();
  let last = RECORD_HEADER_BYTES;
  for (let record = readRecord(bytes, last); record !== undefined;) {
    const next = readRecord(bytes, record.end);
    last = next === undefined ? last : record.end;
    record = next;
  }
  await file.write(Buffer.alloc(RECORD_HEADER_BYTES), 0, RECORD_HEADER_BYTES, last);
  await file.close();
}

test("a store of a release before journals gets one at its first start", async () => {
  const directory = join(folder, "older");
  const random = createRandom(3);
  let store = await openAt(directory);
  for (let step = 0; step < 60; step += 1) {
    await changeAtRandom(store, random);
  }
  await store.close();
  await rm(join(directory, "journal"), { recursive: true });
  const index = new DatabaseSync(join(directory, "index.db"));
  // As the migration leaves it.
  index.exec("update journal set id = '', batch = 0");
  index.close();
  store = await openAt(directory);
  for (let step = 0; step < 20; step += 1) {
    await changeAtRandom(store, random);
  }
  await store.close();
  await checkRebuild(directory, dump(directory));
});

test("an index that is lost or empty beside its journal is no new store", async () => {
  const directory = join(folder, "small");
  const store = await openAt(directory);
  const bucket = await store.buckets.create("b", "root", 0);
  const content = { kind: "inline", data: Buffer.from("abc"), md5: "" } as const;
  await store.versions.put(bucket, { key: "k", size: 3, etag: "e", owner: "root", headers: {}, content });
  await store.close();
  const expected = dump(directory);
  await loseIndex(directory);
  await assert.rejects(openAt(directory), /no index.*swath objstore rebuild/);
  new DatabaseSync(join(directory, "index.db")).exec("pragma journal_mode = wal; vacuum");
  await assert.rejects(openAt(directory), /no index.*swath objstore rebuild/);
  await checkRebuild(directory, expected);
});

test("a journal of another index is set aside, and one that is damaged is told, with what can still be read", async () => {
  const directory = join(folder, "damaged");
  let store = await openAt(directory);
  const bucket = await store.buckets.create("b", "root", 0);
  for (const key of ["first", "second", "third"]) {
    const content = { kind: "inline", data: Buffer.from(key), md5: "" } as const;
    await store.versions.put(bucket, { key, size: key.length, etag: "e", owner: "root", headers: {}, content });
  }
  await store.close();
  await cp(directory, `${directory}-other`, { recursive: true });
  const file = await open(listSegments(directory)[0]?.path ?? "", "r+");
  const bytes = await file.readFile();
  await file.write(Buffer.of(0xff), 0, 1, bytes.indexOf("second"));
  await file.close();
  await loseIndex(directory);
  const report = await rebuildIndex(directory);
  assert.equal(report.journal?.isDamaged, true);
  assert.equal(report.journal?.versions, 1);
  store = await openAt(directory);
  assert.equal(store.versions.findLatest(store.buckets.get("b").id, "first")?.size, 5);
  await store.close();
  await checkRebuild(directory, dump(directory));

  const other = new DatabaseSync(join(`${directory}-other`, "index.db"));
  other.exec("update journal set id = 'restored-from-a-backup'");
  other.close();
  store = await openAt(`${directory}-other`);
  await store.close();
  assert.ok((await readdir(`${directory}-other`)).some((name) => name.startsWith("journal-before-")));
  await checkRebuild(`${directory}-other`, dump(`${directory}-other`));
});
