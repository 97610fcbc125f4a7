import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

import type { CrashPoints } from "../crash-points.ts";
import { migrateIndex } from "../index/migrate-index.ts";
import type { Bucket, ContentPart } from "../rows.ts";
import type { ObjectStore } from "../store.ts";

/** A bucket of a snapshot, and the name that it is to get: its own, or a new one. */
export interface BucketToRestore {
  readonly bucket: string;
  readonly as: string;
}

export interface RestoredBucket extends BucketToRestore {
  readonly versions: number;
  /** Name of the bucket that holds what was there before; undefined: there was none. */
  readonly before: string | undefined;
  /** Keys and version ids of versions whose content the snapshot has lost. */
  readonly lost: readonly string[];
}

interface RestoreDeps {
  readonly store: Pick<ObjectStore, "index" | "buckets" | "contents" | "files" | "garbage" | "reservedSpace" | "now">;
  readonly crash: CrashPoints;
  readonly signal: AbortSignal;
}

type Row = Record<string, SQLInputValue>;
/** Rows with all columns of the index, of which these are looked at. */
type VersionRow = Row & { readonly key: string; readonly version: string; readonly content: number | null };
type FileRow = Row & { readonly id: string };

/** What one change adds at most: some milliseconds. */
const BATCH = { versions: 50, bytes: 1 << 20, files: 400 };
/** Changes that may wait for the disk: they share its fsyncs. */
const WRITES = 3;
/** Files that get their names at once. */
const CONCURRENCY = 4;

/**
 * Restores buckets of a snapshot while the store is in use: their versions are added under names that nobody sees, and all of
 * them take their places in one change. What was there before stays, as a bucket of its own.
 * @param folder of the snapshot
 * @throws {Error} when the snapshot has no such bucket or was made by a newer release; nothing is changed then
 */
export async function restoreBuckets(
  folder: string,
  wanted: readonly BucketToRestore[],
  deps: RestoreDeps,
): Promise<readonly RestoredBucket[]> {
  const { store, crash } = deps;
  const snapshot = openSnapshot(join(folder, "index.db"));
  const resume = await store.garbage.pause();
  const settle = store.files.keepAllUnsettled();
  const begun: PreparedBucket[] = [];
  try {
    // A crash leaves files of any hour that nothing refers to.
    await store.index.mutate(() => store.index.run("delete from meta where name = 'settled-before'"));
    for (const each of wanted) {
      begun.push(await prepareBucket(snapshot, join(folder, "content"), each, deps));
    }
    const restored = await store.index.mutate(() => begun.map((each) => exchange(store, each)));
    await crash.reach("restore-swapped");
    return restored;
  } catch (error) {
    if (!store.index.hasFailed) {
      // On a full disk even deletes need some space. What fails here is done at the next start.
      await store.reservedSpace
        .whileFull(() => discardUnfinished(store, crash))
        .catch((cause: unknown) => {
          throw new AggregateError([error, cause], error instanceof Error ? error.message : String(error));
        });
    }
    throw error;
  } finally {
    snapshot.close();
    settle();
    resume();
  }
}

/** Deletes the buckets of restores that did not come to their end, in changes of some milliseconds. */
export async function discardUnfinished(
  { index, contents }: Pick<ObjectStore, "index" | "contents">,
  crash: CrashPoints,
): Promise<void> {
  for (const { id } of index.all<{ id: number }>("select id from buckets where name like '.%'")) {
    for (;;) {
      const rows = index.all<{ key: string; seq: number; content: number | null; label: string | null }>(
        "select key, seq, content, label from versions where bucket = ? limit ?",
        id,
        BATCH.versions,
      );
      if (rows.length === 0) {
        break;
      }
      await index.mutate(() => {
        for (const { key, seq, content, label } of rows) {
          index.run("delete from versions where bucket = ? and key = ? and seq = ?", id, key, seq);
          if (content !== null) {
            contents.release(content);
          }
          if (label !== null) {
            contents.discardFile(label);
          }
        }
      });
      await crash.reach("restore-discarded");
    }
    await index.mutate(() => index.run("delete from buckets where id = ?", id));
  }
}

/** The index of a snapshot, in the form of this release. */
function openSnapshot(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    migrateIndex(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

interface PreparedBucket extends BucketToRestore {
  readonly hidden: string;
  readonly versions: number;
  readonly lost: readonly string[];
}

/** Adds the versions of a bucket under a hidden name. */
async function prepareBucket(
  snapshot: DatabaseSync,
  content: string,
  wanted: BucketToRestore,
  { store, crash, signal }: RestoreDeps,
): Promise<PreparedBucket> {
  const row = snapshot.prepare("select * from buckets where name = ?").get(wanted.bucket) as Row | undefined;
  if (row === undefined) {
    throw new Error(`The snapshot has no bucket ${wanted.bucket}.`);
  }
  const hidden = `.restore-${randomBytes(8).toString("hex")}`;
  const { id: old, ...settings } = row;
  const bucket = await store.index.mutate(() => {
    const counts = { objects: 0, bytes: 0, upload_bytes: 0 };
    return insertRow(store, "buckets", { ...settings, ...counts, name: hidden });
  });
  await crash.reach("restore-begun");
  const target = { bucket, contents: new Map<number, number>(), lastKey: undefined };
  const reader = new VersionReader(snapshot);
  const lost: string[] = [];
  const lostContents = new Set<number>();
  let versions = 0;
  const writes: Promise<void>[] = [];
  try {
    for (const batch of reader.read(old as number)) {
      signal.throwIfAborted();
      const missing = await adoptFiles(store, content, batch);
      await crash.reach("restore-linked");
      const whole = batch.filter((version) => isWhole(version, missing, lostContents));
      lost.push(...batch.filter((each) => !whole.includes(each)).map(({ row: each }) => `${each.key} ${each.version}`));
      const write = store.index.mutate(() => insertVersions(store, target, whole));
      // Its failure is seen where it is awaited.
      write.catch(() => {});
      writes.push(write);
      if (writes.length >= WRITES) {
        await writes.shift();
      }
      versions += whole.length;
      await crash.reach("restore-inserted");
    }
    await Promise.all(writes);
  } finally {
    await Promise.allSettled(writes);
  }
  return { ...wanted, hidden, versions, lost };
}

/** Whether a version can be restored; what cannot is noted for other versions of the same content. */
function isWhole(
  { row, content, files }: SnapshotVersion,
  missing: ReadonlySet<string>,
  lostContents: Set<number>,
): boolean {
  const reference = row.content;
  if (reference === null) {
    return true;
  }
  const isLost = content === undefined && lostContents.has(reference);
  if (isLost || files.some((file) => file["size"] === undefined || missing.has(file.id))) {
    lostContents.add(reference);
    return false;
  }
  return true;
}

interface SnapshotVersion {
  readonly row: VersionRow;
  /** Row of its content; undefined for delete markers and for content that an earlier version of the snapshot brought. */
  readonly content: Row | undefined;
  /** Rows of the files of that content and of its label; the id alone where the snapshot's index has lost the row. */
  readonly files: readonly FileRow[];
}

/** Reads the versions of a bucket in batches, each with what belongs to it. */
class VersionReader {
  readonly #snapshot: DatabaseSync;
  /** Contents of more than one version that were read. */
  readonly #shared = new Set<number>();

  constructor(snapshot: DatabaseSync) {
    this.#snapshot = snapshot;
  }

  *read(bucket: number): Generator<readonly SnapshotVersion[], void> {
    const rows = this.#snapshot
      .prepare("select * from versions where bucket = ? order by key, seq desc")
      .iterate(bucket);
    let batch: SnapshotVersion[] = [];
    let bytes = 0;
    let files = 0;
    for (const row of rows) {
      const version = this.#complete(row as VersionRow);
      batch.push(version);
      bytes += (version.content?.["data"] as Uint8Array | null | undefined)?.length ?? 0;
      files += version.files.length;
      if (batch.length >= BATCH.versions || bytes >= BATCH.bytes || files >= BATCH.files) {
        yield batch;
        [batch, bytes, files] = [[], 0, 0];
      }
    }
    if (batch.length > 0) {
      yield batch;
    }
  }

  #complete(row: VersionRow): SnapshotVersion {
    const id = row.content;
    const isKnown = id === null || this.#shared.has(id);
    const content = isKnown ? undefined : this.#find("contents", id);
    if (content !== undefined && Number(content["refs"]) > 1) {
      this.#shared.add(Number(id));
    }
    const parts = typeof content?.["parts"] === "string" ? (JSON.parse(content["parts"]) as ContentPart[]) : [];
    const label = row["label"];
    const names = [...parts.map(({ file }) => file), ...(typeof label === "string" ? [label] : [])];
    return { row, content, files: names.map((id) => ({ ...this.#find("files", id), id })) };
  }

  #find(table: "contents" | "files", id: number | string): Row | undefined {
    return this.#snapshot.prepare(`select * from ${table} where id = ?`).get(id) as Row | undefined;
  }
}

/** Gives the files of a batch their names in the store, durably; gives the ids of those that are lost. */
async function adoptFiles(
  { files }: Pick<ObjectStore, "files">,
  content: string,
  batch: readonly SnapshotVersion[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(batch.flatMap((version) => version.files.map(({ id }) => id)))];
  const missing = new Set<string>();
  const waiting = ids.values();
  const adoptNext = async () => {
    for (const id of waiting) {
      if (!(await files.adopt(id, content))) {
        missing.add(id);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, adoptNext));
  await files.syncNames(ids);
  return missing;
}

interface Target {
  readonly bucket: number;
  /** Contents of the snapshot that several versions share, by their numbers in the store. */
  readonly contents: Map<number, number>;
  /** Key of the version before. */
  lastKey: string | undefined;
}

function insertVersions(
  store: Pick<ObjectStore, "index" | "buckets">,
  target: Target,
  batch: readonly SnapshotVersion[],
): void {
  let objects = 0;
  let bytes = 0;
  for (const { row, content, files } of batch) {
    for (const file of files) {
      addFile(store, file);
    }
    insertRow(store, "versions", { ...row, bucket: target.bucket, content: toContent(store, target, row, content) });
    // The newest of a key comes first.
    objects += Number(row.key !== target.lastKey && row["marker"] === 0);
    bytes += Number(row["size"]);
    target.lastKey = row.key;
  }
  store.buckets.count(target.bucket, { objects, bytes });
}

/** The number that the content of a version has in the store. */
function toContent(
  store: Pick<ObjectStore, "index">,
  { contents }: Target,
  row: VersionRow,
  content: Row | undefined,
): number | null {
  const old = row.content;
  if (old === null) {
    return null;
  }
  const known = contents.get(old);
  if (known !== undefined) {
    store.index.run("update contents set refs = refs + 1 where id = ?", known);
    return known;
  }
  if (content === undefined) {
    throw new Error(`version ${row.version} of ${row.key} has no content in the snapshot`);
  }
  const { id: _, ...rest } = content;
  const added = insertRow(store, "contents", { ...rest, refs: 1 });
  if (Number(content["refs"]) > 1) {
    contents.set(old, added);
  }
  return added;
}

/** One reference more to a file, which may be there, be about to be deleted, or be gone. */
function addFile({ index }: Pick<ObjectStore, "index">, { id, size, digest, form }: FileRow): void {
  index.run(
    `insert into files (id, size, digest, form) values (?, ?, ?, ?) on conflict (id) do update
     set refs = case garbage when 1 then 1 else refs + 1 end, garbage = 0`,
    id,
    size as number,
    digest as string,
    form as number,
  );
}

/** Puts a restored bucket in its place, inside `mutate`. What was there before neither expires nor tells of events any more. */
function exchange(
  { buckets, index, now }: RestoreDeps["store"],
  { hidden, ...prepared }: PreparedBucket,
): RestoredBucket {
  const present = buckets.find(prepared.as);
  const before = present && chooseName(prepared.as, now(), (name) => buckets.find(name) === undefined);
  if (present !== undefined && before !== undefined) {
    index.run("update buckets set lifecycle = null, notification = null, logging = null where id = ?", present.id);
    buckets.rename(present, before);
  }
  buckets.rename(buckets.get(hidden), prepared.as);
  return { ...prepared, before };
}

/** A bucket name of at most 63 characters that says of which bucket it is, and until when. */
function chooseName(bucket: Bucket["name"], now: number, isFree: (name: string) => boolean): string {
  const time = new Date(now)
    .toISOString()
    .replace(/[-:]|\.\d+Z$/g, "")
    .toLowerCase();
  const stem = bucket.slice(0, 36).replace(/[-.]+$/, "");
  for (let n = 1; ; n += 1) {
    const name = `${stem}-before-${time}${n === 1 ? "" : `-${n}`}`;
    if (isFree(name)) {
      return name;
    }
  }
}

/** Inserts a row whose columns are those of this release's index; gives its number. */
function insertRow(
  { index }: Pick<ObjectStore, "index">,
  table: "buckets" | "versions" | "contents",
  row: Row,
): number {
  const names = Object.keys(row);
  const places = names.map(() => "?").join(", ");
  return index.run(`insert into ${table} (${names.join(", ")}) values (${places})`, ...Object.values(row)).id;
}
