import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { presign } from "../admin/presign.ts";
import type { WrittenFile } from "../store/content/content-files.ts";
import type { CrashPoint } from "../store/crash-points.ts";
import type { ObjectStore } from "../store/store.ts";
import { checkFiles, killStarted, readFileContent, readVersion, reopenStore, startToCrash } from "./crash-support.ts";
import { ROOT } from "./start-objstore.ts";

const Bucket = "crash";
const Key = "large";
const MIB = 2 ** 20;
const OLD = Buffer.alloc(MIB, "what was there before;");
const LARGE = Buffer.alloc(64 * MIB, "what is being written;");
const PARTS = [1, 2, 3].map((number) => Buffer.alloc(6 * MIB, `part ${number};`));

/** Where the service dies: at a point of a write, or while half of the body has come. */
type Death = CrashPoint | "mid-body";
/** Each point with smaller objects: crash.integration.test.ts. */
const PUTTING: readonly Death[] = ["mid-body", "content-synced", "index-committed"];
const ADDING: readonly Death[] = ["mid-body", "content-named", "index-applied", "index-committed", "index-durable"];
/** Where half of a body counts, a large one. */
const bodyAt = (death: Death) => (death === "mid-body" ? LARGE : LARGE.subarray(0, 8 * MIB));
const COMPLETING: readonly Death[] = ["index-applied", "index-committed", "index-durable", "garbage-unlinked"];

let folder: string;
/** A store that was started once: what only the first start writes is no part of the tests. */
let template: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "objstore-crash-"));
  template = join(folder, "template");
  await killStarted(await startToCrash(template, "none", 0));
});
after(() => rm(folder, { recursive: true, force: true }));

test("killed within a PUT, also amid 64 MiB: the old object or the whole new one", async (t) => {
  for (const death of PUTTING) {
    await t.test(death, () =>
      crash(death, {
        prepare: () => Promise.resolve(""),
        act: (url, kill) => put(url, {}, bodyAt(death), kill),
        check: async (store, acknowledged) => {
          const content = await readLatest(store);
          assert.ok(content.equals(bodyAt(death)) || (!acknowledged && content.equals(OLD)));
        },
      }),
    );
  }
});

test("killed within an UploadPart: acknowledged parts stay, the part is whole or absent", async (t) => {
  for (const death of ADDING) {
    await t.test(death, () =>
      crash(death, {
        prepare: (store) => startUpload(store, [1]),
        act: (url, kill, upload) => put(url, { partNumber: "2", uploadId: upload }, bodyAt(death), kill),
        check: async (store, acknowledged, upload) => {
          const parts = store.uploads.listParts(upload, 0, 10);
          assert.deepEqual(
            parts.map(({ number }) => number),
            parts.length === 2 || acknowledged ? [1, 2] : [1],
          );
          for (const part of parts) {
            const { number } = part;
            assert.ok((await readFileContent(store, part)).equals(number === 1 ? (PARTS[0] as Buffer) : bodyAt(death)));
          }
          assert.ok((await readLatest(store)).equals(OLD));
        },
      }),
    );
  }
});

test("killed within CompleteMultipartUpload: an open upload with all parts, or the whole object", async (t) => {
  for (const death of COMPLETING) {
    await t.test(death, () =>
      crash(death, {
        prepare: (store) => startUpload(store, [1, 2, 3]),
        act: async (_url, _kill, UploadId, client) => {
          const Parts = PARTS.map((body, index) => ({ PartNumber: index + 1, ETag: hash("md5", body) }));
          await client.send(
            new s3.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
          );
        },
        check: async (store, acknowledged, upload) => {
          const content = await readLatest(store);
          const parts = store.uploads.listParts(upload, 0, 10);
          if (content.equals(OLD)) {
            assert.equal(acknowledged, false);
            assert.equal(parts.length, 3);
            for (const part of parts) {
              const { number } = part;
              assert.ok((await readFileContent(store, part)).equals(PARTS[number - 1] as Buffer));
            }
          } else {
            assert.ok(content.equals(Buffer.concat(PARTS)));
            assert.equal(parts.length, 0);
          }
        },
      }),
    );
  }
});

interface Scenario {
  /** Before the start that crashes; gives the id of an upload, or nothing. */
  readonly prepare: (store: ObjectStore) => Promise<string>;
  /** What is under way at the crash; `kill` is to be called amid its body when the service is to die there. */
  readonly act: (url: string, kill: (() => void) | undefined, upload: string, client: s3.S3Client) => Promise<void>;
  readonly check: (store: ObjectStore, acknowledged: boolean, upload: string) => Promise<void>;
}

async function crash(death: Death, { prepare, act, check }: Scenario): Promise<void> {
  const directory = join(folder, "store");
  try {
    await cp(template, directory, { recursive: true });
    const prepared = await reopenStore(directory);
    const bucket = await prepared.buckets.create(Bucket, "root", Date.now());
    await writeFile(prepared, OLD, (file) =>
      prepared.versions.put(bucket, {
        key: Key,
        size: file.size,
        etag: "",
        owner: "root",
        headers: {},
        content: { kind: "file", file },
      }),
    );
    const upload = await prepare(prepared);
    await prepared.close();

    const started = await startToCrash(directory, death, 1);
    const died = once(started.child, "exit", { signal: AbortSignal.timeout(60_000) });
    died.catch(() => {});
    const kill = death === "mid-body" ? () => started.child.kill("SIGKILL") : undefined;
    const acknowledged = await act(started.url, kill, upload, started.client).then(
      () => true,
      () => false,
    );
    await died;
    await killStarted(started);

    const store = await reopenStore(directory);
    try {
      await check(store, acknowledged, upload);
      await checkFiles(store, directory);
      const { id, objects, bytes, upload_bytes: uploadBytes } = store.buckets.get(Bucket);
      const parts = store.uploads.listParts(upload, 0, 10).reduce((sum, { size }) => sum + size, 0);
      assert.deepEqual([objects, bytes, uploadBytes], [1, store.versions.findLatest(id, Key)?.size, parts]);
    } finally {
      await store.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readLatest(store: ObjectStore): Promise<Buffer> {
  const version = store.versions.findLatest(store.buckets.get(Bucket).id, Key);
  assert.ok(version, "an acknowledged object is gone");
  return readVersion(store, version);
}

/** An upload that holds these parts. */
async function startUpload(store: ObjectStore, numbers: readonly number[]): Promise<string> {
  const bucket = store.buckets.get(Bucket);
  const id = await store.uploads.create(bucket, { key: Key, owner: "root", headers: {} });
  const upload = store.uploads.get(bucket.id, Key, id);
  for (const number of numbers) {
    const body = PARTS[number - 1] as Buffer;
    await writeFile(store, body, (file) => store.uploads.putPart(upload, number, file, undefined));
  }
  return id;
}

async function writeFile(
  store: ObjectStore,
  body: Buffer,
  commit: (file: WrittenFile) => Promise<unknown>,
): Promise<void> {
  const writer = await store.files.create(["md5"]);
  await writer.write(body);
  await commit(await writer.finish());
  writer.settle();
}

/** Sends a body by a presigned address, and calls `kill` when half of it is out. Rejects unless the answer is 200. */
async function put(
  url: string,
  query: Readonly<Record<string, string>>,
  body: Buffer,
  kill: (() => void) | undefined,
): Promise<void> {
  const credential = { id: ROOT.accessKeyId, secret: ROOT.secretAccessKey, token: null };
  const address = await presign({
    publicUrl: url,
    region: "us-east-1",
    credential,
    method: "PUT",
    bucket: Bucket,
    key: Key,
    seconds: 600,
    query,
    now: Date.now(),
  });
  const outgoing = request(address, { method: "PUT", headers: { "content-length": body.length } });
  const answered = once(outgoing, "response");
  // Awaited below, after the body.
  answered.catch(() => {});
  const half = body.length / 2;
  await new Promise<void>((resolve, reject) => {
    outgoing.once("error", reject);
    outgoing.once("close", () => reject(new Error("the connection ended amid the body")));
    outgoing.write(body.subarray(0, half), () => {
      kill?.();
      outgoing.end(body.subarray(half), () => resolve());
    });
  });
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  assert.equal(response.statusCode, 200);
}
