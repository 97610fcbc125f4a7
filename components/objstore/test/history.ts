import { createHash } from "node:crypto";

import { S3Error } from "../errors.ts";
import type { Bucket, Part } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";

const KEYS = ["a", "b", "c/1", "c/2", "d"];
const BUCKETS = ["one", "two", "three"];

/** Numbers in [0, 1) that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes one random change of a store, as operations of S3 and of the administration make them. */
export async function changeAtRandom(store: ObjectStore, random: () => number): Promise<void> {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const name = pick(BUCKETS) ?? "";
  const key = pick(KEYS) ?? "";
  const bucket = store.buckets.find(name);
  if (bucket === undefined) {
    await ignoreRefusal(() => store.buckets.create(name, { owner: "root", locks: random() < 0.3 }, 0));
    return;
  }
  const version = pick(listVersions(store, bucket, key));
  const upload = pick(
    store.uploads.list({ bucket: bucket.id, prefix: "", delimiter: "", after: "", limit: 10 }).entries,
  );
  const text = String(Math.floor(random() * 1e6));
  const changes: readonly (() => Promise<unknown>)[] = [
    () => store.versions.put(bucket, toNew(key, Buffer.from(text))),
    () => putFile(store, bucket, key, text),
    () => putFile(store, bucket, key, text),
    () => store.versions.delete(bucket, key, undefined),
    async () => version && store.versions.delete(bucket, key, version.version),
    async () => {
      // A move: the copy shares the content of what is deleted.
      const source = store.versions.findLatest(bucket.id, key);
      if (source !== undefined && source.content !== null) {
        const added = { ...toNew(`moved/${key}`, Buffer.of()), size: source.size, etag: source.etag };
        await store.versions.put(bucket, { ...added, content: { kind: "shared", id: source.content } });
        await store.versions.delete(bucket, key, undefined);
      }
    },
    () => store.buckets.set(name, "versioning", pick(["Enabled", "Suspended"]) ?? ""),
    () => store.buckets.set(name, "tags", text),
    async () => version?.marker === 0 && store.changes.setTags(bucket, version, { text }),
    async () => version?.marker === 0 && store.changes.setLock(bucket, version, () => ({ hold: random() < 0.5 })),
    async () => version?.marker === 0 && store.changes.setAcl(bucket, version, `{"text":${text}}`),
    () => store.uploads.create(bucket, { key, owner: "root", headers: { "content-type": text } }),
    async () => upload && putPart(store, bucket, upload, text),
    async () => upload && putPart(store, bucket, upload, text),
    async () => upload && complete(store, bucket, upload),
    async () => upload && random() < 0.3 && store.uploads.abort(bucket.id, upload.key, upload.id),
    () => store.accounts.putUser(key.replace("/", ""), `{"policy":${text}}`, { enabled: random() < 0.8 }),
    async () => random() < 0.2 && store.buckets.delete(name),
  ];
  await ignoreRefusal(pick(changes) ?? (() => Promise.resolve()));
}

/** Refused, as of a bucket that is not empty: the change is undone as a whole. */
async function ignoreRefusal(change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof S3Error)) {
      throw error;
    }
  }
}

function listVersions(store: ObjectStore, { id }: Bucket, key: string) {
  return store.index.all<NonNullable<ReturnType<ObjectStore["versions"]["findLatest"]>>>(
    "select * from versions where bucket = ? and key = ? order by seq",
    id,
    key,
  );
}

function toNew(key: string, data: Buffer) {
  const md5 = createHash("md5").update(data).digest("hex");
  const content = { kind: "inline", data, md5 } as const;
  return { key, size: data.length, etag: md5, owner: "root", headers: { "content-type": "text/plain" }, content };
}

async function putFile(store: ObjectStore, bucket: Bucket, key: string, text: string): Promise<void> {
  const draft = store.versions.draft();
  const writer = await store.files.create(["md5"]);
  await writer.write(Buffer.alloc(40_000, text));
  const file = await writer.finish({ kind: "object", bucket: bucket.name, key, ...draft, owner: "root", headers: {} });
  const etag = Buffer.from(file.digests.md5 ?? []).toString("hex");
  const added = { key, size: file.size, etag, owner: "root", headers: {}, draft };
  await store.versions.put(bucket, { ...added, content: { kind: "file", file } });
  writer.settle();
}

interface OpenUpload {
  readonly id: string;
  readonly key: string;
}

async function putPart(store: ObjectStore, bucket: Bucket, { id, key }: OpenUpload, text: string): Promise<void> {
  const upload = store.uploads.get(bucket.id, key, id);
  const writer = await store.files.create(["md5"]);
  await writer.write(Buffer.alloc(1000, text));
  const file = await writer.finish({ kind: "part", bucket: bucket.name, key });
  await store.uploads.putPart(upload, 1 + (Number(text) % 3), file, undefined);
  writer.settle();
}

async function complete(store: ObjectStore, bucket: Bucket, { id, key }: OpenUpload): Promise<void> {
  const last: Part | undefined = store.uploads.listParts(id, 0, 10).at(-1);
  if (last !== undefined) {
    await store.uploads.complete(bucket, key, id, { parts: [{ number: last.number, etag: last.etag }] });
  }
}
