import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { SQLInputValue } from "node:sqlite";

import { ContentFiles } from "../content/content-files.ts";
import { type ContentLabel, readTrailer } from "../content/content-trailer.ts";
import { noCrashPoints } from "../crash-points.ts";
import type { IndexDatabase } from "../index/index-database.ts";
import type { ContentPart, StoredChecksum } from "../rows.ts";
import { type Row, salvage } from "./salvage.ts";
import { type SettingsRows, readSettingsCopy } from "./settings-copy.ts";

export interface ContentReport {
  /** Versions of the old index that could be read. */
  readonly salvaged: number;
  /** Versions that content files told of and the old index did not. */
  readonly found: number;
  /** Content files that say nothing of themselves and nobody refers to: moved into `lost+found`. */
  readonly strange: number;
  /** Tables of the old index that could not be read whole. */
  readonly lost: readonly string[];
  /**
   * Buckets that hold less than the copy of the settings counted in them: mostly objects of up to 32 KiB, which live in the index
   * alone. What was written or deleted in the seconds after the copy is not in its counts.
   */
  readonly short: readonly BucketShortage[];
}

export interface BucketShortage {
  readonly bucket: string;
  /** Keys that were counted and are not there. */
  readonly objects: number;
  /** Bytes of all versions that were counted and are not there. */
  readonly bytes: number;
}

const BATCH = 1000;

/** Fills a new index with what can be read of an old one, of the copy of the settings, and of content files. */
export async function rebuildFromContent(
  index: IndexDatabase,
  directory: string,
  old: string | undefined,
  now: () => number,
): Promise<ContentReport> {
  const lost: string[] = [];
  const columns = new Map<string, ReadonlySet<string>>();
  const insert = (table: string, row: Row | Readonly<Record<string, SQLInputValue>>) => {
    let known = columns.get(table);
    if (known === undefined) {
      known = new Set(
        index.all<{ name: string }>(`select name from pragma_table_info('${table}')`).map(({ name }) => name),
      );
      columns.set(table, known);
    }
    const names = Object.keys(row).filter((name) => known.has(name));
    const sql = `insert or ignore into ${table} (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`;
    return index.run(sql, ...names.map((name) => row[name] as SQLInputValue)).changes > 0;
  };
  let salvaged = 0;
  if (old !== undefined) {
    await inBatches(
      index,
      salvage(old, (table) => lost.push(table)),
      ({ table, row }) => {
        salvaged += Number(insert(table, row) && table === "versions");
      },
    );
  }
  const copy = readSettingsCopy(directory);
  await index.mutate(() => {
    for (const [table, rows] of Object.entries(copy ?? {})) {
      for (const row of rows) {
        // What is known of a bucket by its name must not get another's number.
        insert(table, row as Readonly<Record<string, SQLInputValue>>);
      }
    }
  });
  const files = new ContentFiles(directory, now, noCrashPoints);
  await files.prepare();
  // What has no content any more may be told of by content files.
  await index.mutate(
    () => void index.run("delete from versions where marker = 0 and content not in (select id from contents)"),
  );
  const { found, strange } = await addLabelled(index, files, insert, directory);
  await index.mutate(() => tidy(index));
  await files.close();
  return { salvaged, found, strange, lost: [...new Set(lost)], short: findShortages(index, copy) };
}

/** Compares what buckets hold with what the copy of the settings counted in them. */
function findShortages(index: IndexDatabase, copy: SettingsRows | undefined): readonly BucketShortage[] {
  return (copy?.buckets ?? []).flatMap((counted) => {
    const found = index.get<{ objects: number; bytes: number }>(
      "select objects, bytes from buckets where name = ?",
      counted["name"] as string,
    );
    const objects = Math.max(0, Number(counted["objects"]) - (found?.objects ?? 0));
    const bytes = Math.max(0, Number(counted["bytes"]) - (found?.bytes ?? 0));
    return objects > 0 || bytes > 0 ? [{ bucket: String(counted["name"]), objects, bytes }] : [];
  });
}

type Insert = (table: string, row: Readonly<Record<string, SQLInputValue>>) => boolean;

interface Labelled {
  readonly id: string;
  readonly size: number;
  readonly label: ContentLabel & { readonly digests: Readonly<Record<string, string>> };
}

/** Adds what content files know and the index does not. */
async function addLabelled(
  index: IndexDatabase,
  files: ContentFiles,
  insert: Insert,
  directory: string,
): Promise<{ found: number; strange: number }> {
  let found = 0;
  const later: Labelled[] = [];
  const unknown: string[] = [];
  for await (const id of files.list("")) {
    const known = index.get<{ garbage: number }>("select garbage from files where id = ?", id);
    if (known?.garbage === 1) {
      continue;
    }
    const labelled = await readLabel(files, id);
    if (labelled?.label.kind === "object") {
      found += await index.mutate(() =>
        addVersion(index, insert, labelled, [{ file: id, size: labelled.size, form: 1 }]),
      );
    } else if (labelled?.label.kind === "version") {
      later.push(labelled);
    } else if (known === undefined) {
      unknown.push(id);
    }
  }
  // Their bytes are in files that are parts, or those of objects that were added just now. Changes come last, in their order.
  for (const labelled of later.toSorted((a, b) => changeOf(a) - changeOf(b))) {
    const parts = labelled.label["content"] as readonly ContentPart[];
    const there = await Promise.all(parts.map(({ file }) => exists(files, file)));
    if (there.every(Boolean)) {
      found += await index.mutate(() =>
        changeOf(labelled) > 0 && applyChange(index, insert, labelled, parts)
          ? 0
          : addVersion(index, insert, labelled, parts),
      );
    } else if (index.get("select 1 from files where id = ?", labelled.id) === undefined) {
      unknown.push(labelled.id);
    }
  }
  let strange = 0;
  for (const id of unknown) {
    if (index.get("select 1 from files where id = ?", id) === undefined) {
      mkdirSync(join(directory, "lost+found"), { recursive: true, mode: 0o700 });
      renameSync(files.pathOf(id), join(directory, "lost+found", id));
      strange += 1;
    }
  }
  return { found, strange };
}

/** When a version became what a label says; 0: it came so. */
function changeOf({ label }: Labelled): number {
  return Number(label["changed"] ?? 0);
}

/** Gives a version that is known what changed of it; gives whether there is one. */
function applyChange(
  index: IndexDatabase,
  insert: Insert,
  { id, label }: Labelled,
  parts: readonly ContentPart[],
): boolean {
  const row = index.get<{ bucket: number; seq: number; label: string | null }>(
    `select v.bucket, v.seq, v.label from versions v join buckets b on b.id = v.bucket join contents c on c.id = v.content
     where b.name = ? and v.key = ? and ? in (v.version, 'null') and json_extract(c.parts, '$[0].file') = ?
     order by v.seq desc limit 1`,
    label.bucket,
    label.key,
    toText(label["version"]),
    parts[0]?.file ?? "",
  );
  if (row !== undefined && row.label !== id) {
    insert("files", { id, size: 0, digest: toDigest(label), form: 1 });
    index.run(
      "update versions set tags = ?, acl = ?, lock = ?, encryption = ?, label = ? where bucket = ? and key = ? and seq = ?",
      toJson(label["tags"]),
      toJson(label["acl"]),
      toJson(label["lock"]),
      toJson(label["encryption"]),
      id,
      row.bucket,
      label.key,
      row.seq,
    );
  }
  return row !== undefined;
}

function addVersion(
  index: IndexDatabase,
  insert: Insert,
  { id, size, label }: Labelled,
  parts: readonly ContentPart[],
): number {
  const bucket = toBucket(index, insert, label);
  const isWhole = label.kind === "object";
  const { versioning } = bucket;
  const version = versioning === "" ? "null" : String(label["version"]);
  const seq = Number(label["seq"]);
  const newest = index.get<{ seq: number; content: number | null; version: string }>(
    "select seq, content, version from versions where bucket = ? and key = ? order by seq desc limit 1",
    bucket.id,
    label.key,
  );
  const known = index.get(
    version === "null"
      ? "select 1 from versions where bucket = ? and key = ? and version = ?"
      : "select 1 from versions indexed by versions_id where bucket = ? and key = ? and version = ? and version <> 'null'",
    bucket.id,
    label.key,
    version,
  );
  if (versioning === "" ? (newest?.seq ?? -1) >= seq : known !== undefined) {
    // Overwritten, and not yet deleted when the index was lost.
    insert("files", { id, size, digest: toDigest(label), form: 1, garbage: 1 });
    return 0;
  }
  for (const part of parts) {
    insert("files", { id: part.file, size: part.size, digest: isWhole ? toDigest(label) : "", form: part.form ?? 0 });
  }
  if (!isWhole) {
    insert("files", { id, size: 0, digest: toDigest(label), form: 1 });
  }
  if (versioning === "" && newest !== undefined) {
    index.run("delete from versions where bucket = ? and key = ? and seq = ?", bucket.id, label.key, newest.seq);
  }
  const { id: content } = index.run("insert into contents (refs, parts) values (1, ?)", JSON.stringify(parts));
  const added = insert("versions", {
    bucket: bucket.id,
    key: label.key,
    seq,
    version,
    size: isWhole ? size : Number(label["size"]),
    etag: isWhole ? String(label.digests["md5"]) : String(label["etag"]),
    modified: Math.floor(seq / 1000),
    owner: toText(label["owner"]),
    content,
    parts: (label["parts"] as number | undefined) ?? null,
    headers: JSON.stringify(label["headers"] ?? {}),
    tags: label["tags"] === undefined ? null : JSON.stringify(label["tags"]),
    checksum: toChecksum(label),
    label: isWhole ? null : id,
    acl: toJson(label["acl"]),
    lock: toJson(label["lock"]),
    encryption: toJson(label["encryption"]),
  });
  return Number(added);
}

/** The bucket that a label names, made anew where nothing else is known of it. */
function toBucket(index: IndexDatabase, insert: Insert, label: ContentLabel): { id: number; versioning: string } {
  const find = () =>
    index.get<{ id: number; versioning: string }>("select id, versioning from buckets where name = ?", label.bucket);
  const known = find();
  if (known !== undefined) {
    return known;
  }
  insert("buckets", { name: label.bucket, owner: toText(label["owner"]), created: 0 });
  return find() as { id: number; versioning: string };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** JSON as rows hold it; labels hold some of it as text already. */
function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : typeof value === "string" ? value : JSON.stringify(value);
}

function toDigest({ digests }: Labelled["label"]): string {
  return `md5:${digests["md5"] ?? ""}`;
}

function toChecksum(label: Labelled["label"]): string | null {
  const { algorithm, checksum } = label as { algorithm?: string; checksum?: StoredChecksum };
  if (checksum !== undefined) {
    return JSON.stringify(checksum);
  }
  const value = algorithm === undefined ? undefined : label.digests[algorithm];
  return algorithm === undefined || value === undefined
    ? null
    : JSON.stringify({ algorithm, value: Buffer.from(value, "hex").toString("base64"), type: "FULL_OBJECT" });
}

/** Drops what refers to nothing, marks what nobody refers to, and counts anew. */
function tidy(index: IndexDatabase): void {
  index.run("delete from versions where marker = 0 and content not in (select id from contents)");
  index.run("delete from parts where upload not in (select id from uploads) or file not in (select id from files)");
  index.run("delete from contents where id not in (select content from versions where content is not null)");
  index.run("update contents set refs = (select count(*) from versions where content = contents.id)");
  index.run(`update files set garbage = id not in (
    select json_extract(part.value, '$.file') from contents, json_each(contents.parts) part where contents.parts is not null
    union all select file from parts union all select label from versions where label is not null)`);
  index.run(`update files set refs = used.refs from (select file, count(*) as refs from (
    select json_extract(part.value, '$.file') as file from contents, json_each(contents.parts) part where contents.parts is not null
    union all select file from parts union all select label from versions where label is not null) group by file) used
    where used.file = files.id and used.refs <> files.refs`);
  index.run(`update versions set buried = (version = 'null' and exists (
    select 1 from versions newer where newer.bucket = versions.bucket and newer.key = versions.key and newer.seq > versions.seq))`);
  index.run(`update buckets set bytes = (select coalesce(sum(size), 0) from versions where bucket = buckets.id),
    upload_bytes = (select coalesce(sum(parts.size), 0) from parts join uploads on uploads.id = parts.upload where uploads.bucket = buckets.id),
    objects = (select count(*) from versions v where v.bucket = buckets.id and v.marker = 0 and v.seq = (
      select max(seq) from versions w where w.bucket = v.bucket and w.key = v.key))`);
}

async function readLabel(files: ContentFiles, id: string): Promise<Labelled | undefined> {
  const handle = await files.open(id);
  try {
    const trailer = await readTrailer(handle);
    if (trailer?.label?.bucket === undefined) {
      return undefined;
    }
    const { size, label } = trailer;
    const { draft } = label as { draft?: object };
    // Earlier releases wrote of copies with another encryption what was the source's, and what is the copy's one level deeper.
    return {
      id,
      size,
      label: draft === undefined ? label : { ...label, parts: undefined, checksum: undefined, ...draft },
    };
  } finally {
    await handle.close();
  }
}

async function exists(files: ContentFiles, id: string): Promise<boolean> {
  try {
    await (await files.open(id)).close();
    return true;
  } catch {
    return false;
  }
}

async function inBatches<T>(index: IndexDatabase, items: Iterable<T>, add: (item: T) => void): Promise<void> {
  let batch: T[] = [];
  const flush = () => {
    const full = batch;
    batch = [];
    return index.mutate(() => full.forEach(add));
  };
  for (const item of items) {
    batch.push(item);
    if (batch.length === BATCH) {
      await flush();
    }
  }
  await flush();
}
