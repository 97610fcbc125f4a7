import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { CrashPoint } from "../store/crash-points.ts";
import { rebuildIndex } from "../store/rebuild/rebuild-index.ts";
import { moveWatermark } from "../store/recovery.ts";
import type { Version } from "../store/rows.ts";
import { FileCloner } from "../store/snapshots/clone-file.ts";
import { type ObjectStore, openStore } from "../store/store.ts";
import { checkFiles, readVersion, reopenStore } from "./crash-support.ts";
import { changeAtRandom, createRandom } from "./history.ts";

/** Histories: 100 in a long run (SNAPSHOT_HISTORIES=100). */
const HISTORIES = Number(process.env["SNAPSHOT_HISTORIES"] ?? 3);
const { signal } = new AbortController();
const fail = (error: unknown) => assert.fail(String(error));
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "objstore-snapshots-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const openAt = (directory: string) => openStore({ directory, onFailure: fail, onBackgroundError: fail });

/** All that users see of buckets: settings, usage, versions with tags and locks, and bytes. */
async function describe(store: ObjectStore, names?: readonly string[]): Promise<Record<string, unknown>> {
  const described: Record<string, unknown> = {};
  for (const bucket of store.buckets.list().filter(({ name }) => names?.includes(name) ?? true)) {
    const versions = store.index.all<Version & { readonly bucket: number }>(
      "select * from versions where bucket = ? order by key, seq desc",
      bucket.id,
    );
    const { id: _, upload_bytes: __, ...settings } = bucket;
    described[bucket.name] = {
      ...settings,
      versions: await Promise.all(
        versions.map(async ({ content, bucket: _bucket, ...version }) => {
          const bytes = content === null ? undefined : await readVersion(store, { content, ...version });
          return { ...version, digest: bytes && hash("md5", bytes) };
        }),
      ),
    };
  }
  return described;
}

const toAll = (names: readonly string[]) => names.map((name) => ({ bucket: name, as: name }));

async function changeMuch(store: ObjectStore, random: () => number): Promise<void> {
  for (let step = 0; step < 25; step += 1) {
    await Promise.all([1, 2, 3].map(() => changeAtRandom(store, random)));
  }
}

/** References to each file, as the index should count them. */
function checkReferences(store: ObjectStore): void {
  const wrong = store.index.all(`select files.id, files.refs, count(used.file) as counted from files left join (
    select json_extract(part.value, '$.file') as file from contents, json_each(contents.parts) part where contents.parts is not null
    union all select file from parts union all select label from versions where label is not null) used on used.file = files.id
    where garbage = 0 group by files.id having files.refs <> counted`);
  assert.deepEqual(wrong, []);
}

test("all buckets come back as they were: versions, markers, tags, locks, bytes, while the store goes on", async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const directory = join(folder, `history-${seed}`);
    const random = createRandom(seed);
    const store = await openAt(directory);
    await changeMuch(store, random);
    const expected = await describe(store);
    const names = Object.keys(expected);
    const { id, buckets } = await store.snapshots.create({ isScheduled: false });
    assert.deepEqual(
      buckets.map(({ name }) => name),
      names,
    );
    await changeMuch(store, random);
    await store.garbage.drain();
    const present = await describe(store, names);
    const restored = await store.restore(id, toAll(names), signal);
    assert.deepEqual(await describe(store, names), expected, `seed ${seed}`);
    for (const { bucket, before } of restored) {
      // What was there before stays, under another name.
      const kept = before === undefined ? undefined : (await describe(store, [before]))[before];
      assert.deepEqual(kept && { ...kept, name: bucket }, present[bucket], `seed ${seed}, ${bucket}`);
    }
    // Files that both share go with the last who refers to them.
    await changeMuch(store, random);
    await store.garbage.drain();
    checkReferences(store);
    await store.restore(id, toAll(names), signal);
    assert.deepEqual(await describe(store, names), expected, `seed ${seed}, again`);
    checkReferences(store);
    await store.close();

    const reopened = await reopenStore(directory);
    assert.deepEqual(await describe(reopened, names), expected, `seed ${seed}, opened again`);
    await checkFiles(reopened, directory);
    assert.equal(await reopened.snapshots.delete(id), true);
    assert.deepEqual(await describe(reopened, names), expected, `seed ${seed}, without the snapshot`);
    await reopened.close();
    for (const file of ["index.db", "index.db-wal", "index.db-shm"]) {
      await rm(join(directory, file), { force: true });
    }
    await rebuildIndex(directory);
    const rebuilt = await reopenStore(directory);
    assert.deepEqual(await describe(rebuilt, names), expected, `seed ${seed}, index made anew`);
    checkReferences(rebuilt);
    await rebuilt.close();
    await rm(directory, { recursive: true });
  }
});

test("a bucket is restored under another name, and a snapshot has no others", async () => {
  const directory = join(folder, "one");
  const store = await openAt(directory);
  await changeMuch(store, createRandom(7));
  const [name = ""] = store.buckets.list().map((bucket) => bucket.name);
  const { id } = await store.snapshots.create({ isScheduled: false });
  const expected = (await describe(store, [name]))[name] as object;
  await store.restore(id, [{ bucket: name, as: "as-it-was" }], signal);
  assert.deepEqual((await describe(store))["as-it-was"], { ...expected, name: "as-it-was" });
  assert.deepEqual((await describe(store))[name], expected);
  await assert.rejects(store.restore(id, [{ bucket: "nothing", as: "nothing" }], signal), /has no bucket nothing/);
  assert.equal(store.buckets.find("nothing"), undefined);
  const aborted = AbortSignal.abort();
  await assert.rejects(store.restore(id, toAll([name]), aborted), { name: "AbortError" });
  assert.deepEqual((await describe(store))[name], expected);
  checkReferences(store);
  await store.close();
});

test("snapshots of one second have names of their own, are listed newest first, and unknown ones are not deleted", async () => {
  const store = await openAt(join(folder, "names"));
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    ids.push((await store.snapshots.create({ isScheduled: true })).id);
  }
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    (await store.snapshots.list()).map(({ id }) => id),
    ids.toReversed(),
  );
  assert.equal(await store.snapshots.delete("20000101T000000Z"), false);
  assert.equal(await store.snapshots.delete("../content"), false);
  assert.equal(await store.snapshots.find("../content"), undefined);
  await store.close();
});

test("a lost file costs the versions made of it, and is told", async () => {
  const directory = join(folder, "lost");
  const store = await openAt(directory);
  await changeMuch(store, createRandom(3));
  const names = store.buckets.list().map(({ name }) => name);
  const { id } = await store.snapshots.create({ isScheduled: false });
  const content = join(directory, "snapshots", id, "content");
  const [hour = ""] = await readdir(content);
  for (const file of (await readdir(join(content, hour))).slice(0, 2)) {
    await rm(join(content, hour, file));
    await rm(join(directory, "content", hour, file));
  }
  const restored = await store.restore(id, toAll(names), signal);
  assert.ok(restored.flatMap(({ lost }) => lost).length > 0);
  for (const { as } of restored) {
    await describe(store, [as]);
  }
  checkReferences(store);
  await store.close();
});

test("files share blocks where the file system can, and have two names where it cannot", async () => {
  const from = join(folder, "from");
  await writeFile(from, "content");
  const sharing = new FileCloner((source, target) => cp(source, target));
  await sharing.clone(from, join(folder, "reflink"));
  assert.equal(sharing.sharing, "reflink");
  assert.notEqual((await stat(join(folder, "reflink"))).ino, (await stat(from)).ino);
  const linking = new FileCloner(() => Promise.reject(Object.assign(new Error("no"), { code: "ENOTSUP" })));
  await linking.clone(from, join(folder, "link"));
  assert.equal(linking.sharing, "hard link");
  assert.equal((await stat(join(folder, "link"))).ino, (await stat(from)).ino);
  const failing = new FileCloner(() => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })));
  await assert.rejects(failing.clone(from, join(folder, "none")), { code: "ENOSPC" });
  // Whatever this machine's file system is.
  const real = new FileCloner();
  await real.clone(from, join(folder, "real"));
  assert.equal(await readFile(join(folder, "real"), "utf8"), "content");
});

const SNAPSHOT_POINTS: readonly CrashPoint[] = ["snapshot-copied", "snapshot-cloned", "snapshot-named"];
const RESTORE_POINTS: readonly CrashPoint[] = [
  "restore-begun",
  "restore-linked",
  "restore-inserted",
  "index-durable",
  "restore-swapped",
];

test("killed at any point, a snapshot or a restore is whole or is not there, and nothing is left of it", async (t) => {
  const template = join(folder, "template");
  // Long ago: recovery does not look at those hours by itself.
  const now = () => Date.now() - 10 * 24 * 3600 * 1000;
  const store = await openStore({ directory: template, now, onFailure: fail, onBackgroundError: fail });
  const random = createRandom(11);
  await changeMuch(store, random);
  const expected = await describe(store);
  const names = Object.keys(expected);
  const { id } = await store.snapshots.create({ isScheduled: false });
  await changeMuch(store, random);
  await store.garbage.drain();
  const present = await describe(store);
  await store.close();
  const later = await openAt(template);
  await moveWatermark(later.index, later.files);
  await later.close();
  for (const [work, points] of [
    ["create", SNAPSHOT_POINTS],
    ["restore", RESTORE_POINTS],
  ] as const) {
    for (const point of points) {
      for (const nth of work === "create" ? [1] : [1, 2, 3]) {
        await t.test(`${work}, ${point}, time ${nth}`, async () => {
          const directory = join(folder, `${work}-${point}-${nth}`);
          await cp(template, directory, { recursive: true });
          const killed = await runChild(directory, point, nth, work, id, names);
          const reopened = await reopenStore(directory);
          // Waits for what is tidied after the start.
          await reopened.close();
          const tidied = await reopenStore(directory);
          const found = await describe(tidied, names);
          const isRestored = work === "restore" && (!killed || point === "restore-swapped" || isEqual(found, expected));
          assert.deepEqual(found, isRestored ? expected : only(present, names));
          await checkFiles(tidied, directory);
          checkReferences(tidied);
          assert.deepEqual(tidied.index.all("select name from buckets where name like '.%'"), []);
          const listed = (await tidied.snapshots.list()).map((each) => each.id);
          assert.deepEqual((await readdir(join(directory, "snapshots"))).sort(), listed.sort());
          assert.equal(listed.length, work === "create" && point === "snapshot-named" ? 2 : 1);
          // Every snapshot that is listed can be restored.
          for (const each of listed) {
            await tidied.restore(each, toAll(names), signal);
            assert.deepEqual(await describe(tidied, names), each === id ? expected : only(present, names));
          }
          await tidied.close();
          await rm(directory, { recursive: true });
        });
      }
    }
  }
});

const only = (all: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether the child was killed. */
async function runChild(
  directory: string,
  point: string,
  nth: number,
  ...work: readonly [string, string, readonly string[]]
): Promise<boolean> {
  const [action, id, names] = work;
  const args = [directory, point, String(nth), action, id, names.join(",")];
  const child = fork(join(import.meta.dirname, "snapshot-crash-child.ts"), args);
  const [code, killedBy] = (await once(child, "exit")) as [number | null, string | null];
  assert.ok(code === 0 || killedBy === "SIGKILL", `${code} ${killedBy}`);
  return killedBy === "SIGKILL";
}
