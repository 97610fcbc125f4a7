import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { crc32 } from "node:zlib";

import { presign } from "../components/objstore/admin/presign.ts";
import { PROCESS_ENVIRONMENT } from "../components/objstore/process-environment.ts";
import { openStore } from "../components/objstore/store/store.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const CREDENTIAL = { id: "root", secret: "root-password-of-the-tests", token: null };
const OBJECT_BYTES = 128;
const NOISE_VERSIONS = 200_000;
const UPLOAD_BYTES = 2 ** 30;
const MEBIBYTE = 2 ** 20;
/** Rows of one change while the store is filled. */
const LOADED = 50_000;
/** How long freed space may take to come back. */
const GIVE_BACK_MS = 20 * 60_000;

/** Many small objects in one bucket: ten millions with `--full`, else a fiftieth. And what one tenant's load does to another's reads. */
export async function bench(): Promise<BenchRow[]> {
  const count = process.argv.includes("--full") ? 10_000_000 : 200_000;
  const folder = await mkdtemp(join(tmpdir(), "objstore-scale-"));
  const data = join(folder, "data");
  let child: ChildProcess | undefined;
  try {
    const loading = performance.now();
    await fill(data, count);
    const loaded = (performance.now() - loading) / 1000;
    const port = 18_900 + Math.floor(Math.random() * 90);
    const url = `http://127.0.0.1:${port}`;
    const starting = performance.now();
    child = spawn(process.execPath, [join(import.meta.dirname, "../components/objstore/main.ts")], {
      env: {
        // As the platform starts it.
        ...PROCESS_ENVIRONMENT,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        DATA_DIR: data,
        PUBLIC_URL: url,
        LISTEN: `127.0.0.1:${port}`,
        LISTEN_CONSOLE: "127.0.0.1:0",
        LOG_LEVEL: "error",
        OBJSTORE_ROOT_USER: CREDENTIAL.id,
        OBJSTORE_ROOT_PASSWORD: CREDENTIAL.secret,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (!(await fetch(url).catch(() => undefined))) {
      await sleep(20);
    }
    const started = (performance.now() - starting) / 1000;
    const pages = await measurePages(url, count);
    const under = await measureUnderLoad(url);
    const memory = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
    const space = await measureSpace(url, count, join(data, "index.db"));
    const of = `of ${count.toLocaleString("en-US")} objects`;
    return [
      {
        name: `objstore start with a bucket ${of}`,
        value: round(started),
        unit: "s",
        aim: "≤ 5 s",
        note: `loaded in ${Math.round(loaded)} s`,
      },
      { name: `objstore page of 1,000 ${of}`, value: round(pages), unit: "ms", aim: "≤ 15 ms" },
      { name: `objstore peak memory with a bucket ${of}`, value: Math.round(memory), unit: "MB", aim: "≤ 400 MB" },
      ...space,
      ...under,
    ];
  } finally {
    child?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

const round = (value: number) => Number(value.toFixed(1));

const nameOf = (n: number) => `scenes/${String(Math.floor(n / 1000)).padStart(6, "0")}/item-${n % 1000}.json`;

/** A bucket with many objects, and one of another tenant with many versions of a few keys. */
async function fill(directory: string, count: number): Promise<void> {
  const fail = (error: unknown) => {
    throw error;
  };
  const store = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  const many = await store.buckets.create("many", "root", Date.now());
  const noise = await store.buckets.create("noise", "root", Date.now());
  await store.buckets.set("noise", "versioning", "Enabled");
  const data = randomBytes(OBJECT_BYTES);
  const md5 = createHash("md5").update(data).digest("hex");
  // By SQL rather than row by row: ten millions take minutes in place of an hour. Each row is as the store writes it.
  const insert = async (bucket: number, total: number, key: string, identity: string) => {
    for (let at = 0; at < total; at += LOADED) {
      const rows = Math.min(LOADED, total - at);
      const numbers =
        "with recursive numbers (n) as (select ?1 union all select n + 1 from numbers where n < ?1 + ?2 - 1)";
      await store.index.mutate(() => {
        const { content } = store.index.get<{ content: number }>(
          "select coalesce(max(id), 0) + 1 as content from contents",
        ) ?? { content: 1 };
        store.index.run(
          `${numbers} insert into contents (id, refs, md5, data, crc) select ?3 + n - ?1, 1, ?4, ?5, ?6 from numbers`,
          at,
          rows,
          content,
          md5,
          data,
          crc32(data),
        );
        store.index.run(
          `${numbers} insert into versions (bucket, key, seq, version, size, etag, modified, owner, content, headers)
           select ?5, ${key}, ${identity}, ?6, ?4, ?7, 'root', ?3 + n - ?1, '{}' from numbers`,
          at,
          rows,
          content,
          md5,
          bucket,
          data.length,
          Date.now(),
        );
        store.buckets.count(bucket, { objects: rows, bytes: rows * data.length });
      });
    }
  };
  const seq = Date.now() * 1000;
  await insert(many.id, count, "printf('scenes/%06d/item-%d.json', n / 1000, n % 1000)", `${seq} + n, 'null'`);
  await insert(noise.id, NOISE_VERSIONS, "'versions/' || (n % 100)", `${seq} + n, printf('%030x', n)`);
  const body = randomBytes(4096);
  const content = { kind: "inline", data: body, md5 } as const;
  await store.versions.put(many, { key: "read", size: body.length, etag: md5, owner: "root", headers: {}, content });
  await store.close();
}

function sign(url: string, bucket: string, key: string, method: "GET" | "PUT" | "POST", query: Record<string, string>) {
  const common = { publicUrl: url, region: "us-east-1", credential: CREDENTIAL, seconds: 36_000, now: Date.now() };
  return presign({ ...common, bucket, key, method: method as "GET", query });
}

/** Median of pages at places all over the bucket, in milliseconds. */
async function measurePages(url: string, count: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 200; n += 1) {
    const after = nameOf(Math.floor((count / 200) * n));
    const target = await sign(url, "many", "", "GET", { "list-type": "2", "start-after": after });
    const started = performance.now();
    const text = await (await fetch(target)).text();
    times.push(performance.now() - started);
    if (!text.includes("<Key>")) {
      throw new Error(`a page is empty: ${text.slice(0, 300)}`);
    }
  }
  return median(times);
}

/** Deletes keys of a bucket, a thousand a request. */
async function deleteKeys(url: string, bucket: string, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += 1000) {
    const objects = keys.slice(at, at + 1000).map((key) => `<Object><Key>${key}</Key></Object>`);
    const target = await sign(url, bucket, "", "POST", { delete: "" });
    const body = `<Delete><Quiet>true</Quiet>${objects.join("")}</Delete>`;
    const text = await (await fetch(target, { method: "POST", body })).text();
    if (!text.includes("DeleteResult") || text.includes("<Error>")) {
      throw new Error(`deleting failed: ${text.slice(0, 300)}`);
    }
  }
}

/** Deletes every second object and waits until the index is smaller. */
async function measureSpace(url: string, count: number, file: string): Promise<BenchRow[]> {
  const before = (await stat(file)).size;
  const keys = Array.from({ length: Math.floor(count / 2) }, (_, n) => nameOf(n));
  const started = performance.now();
  await deleteKeys(url, "many", keys);
  const deleted = performance.now();
  let size = (await stat(file)).size;
  for (let same = 0; same < 60 && performance.now() - deleted < GIVE_BACK_MS;) {
    await sleep(1000);
    const now = (await stat(file)).size;
    same = now < before * 0.95 && now === size ? same + 1 : 0;
    size = now;
  }
  return [
    {
      name: "objstore index after half of its objects were deleted",
      value: round((size / before) * 100),
      unit: "% of before",
      aim: "deletes give the space back",
      note: `${Math.round(before / MEBIBYTE)} MiB before`,
    },
    {
      name: "objstore deletes, 1,000 a request",
      value: Math.round(keys.length / ((deleted - started) / 1000)),
      unit: "keys/s",
    },
  ];
}

/** 4 KiB reads of one tenant, alone and while another lists all versions, deletes a thousand keys a request and uploads 1 GiB. */
async function measureUnderLoad(url: string): Promise<BenchRow[]> {
  const alone = await measureReads(url, () => sleep(3000));
  const loaded = await measureReads(url, async () => {
    await Promise.all([listVersions(url), deleteNoise(url), upload(url)]);
  });
  return [
    {
      name: "objstore p99 of a 4 KiB GET while another tenant lists, deletes and uploads",
      value: round(loaded),
      unit: "ms",
      aim: "≤ 15 ms",
      peer: { name: "alone", value: round(alone) },
      ratio: loaded / alone,
    },
  ];
}

async function measureReads(url: string, load: () => Promise<void>): Promise<number> {
  const worker = new Worker(new URL("./get-latency.ts", import.meta.url), {
    workerData: await sign(url, "many", "read", "GET", {}),
  });
  const finished = once(worker, "message") as Promise<[number[]]>;
  await sleep(500);
  await load();
  worker.postMessage("stop");
  const [times] = await finished;
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

async function listVersions(url: string): Promise<void> {
  let markers: Record<string, string> | undefined = {};
  while (markers !== undefined) {
    const text: string = await (
      await fetch(await sign(url, "noise", "", "GET", { versions: "", "max-keys": "1000", ...markers }))
    ).text();
    const key = /<NextKeyMarker>([^<]*)</.exec(text)?.[1];
    const version = /<NextVersionIdMarker>([^<]*)</.exec(text)?.[1];
    markers = key === undefined ? undefined : { "key-marker": key, ...(version && { "version-id-marker": version }) };
  }
}

/** Each delete makes a marker: the bucket has versions. */
async function deleteNoise(url: string): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    await deleteKeys(
      url,
      "noise",
      Array.from({ length: 1000 }, (_, k) => `gone/${n}/${k}`),
    );
  }
}

async function upload(url: string): Promise<void> {
  const chunk = randomBytes(MEBIBYTE);
  const target = new URL(await sign(url, "noise", "large", "PUT", {}));
  const sending = request(target, { method: "PUT", headers: { "content-length": UPLOAD_BYTES } });
  const answered = once(sending, "response") as Promise<[{ statusCode?: number; resume: () => void }]>;
  for (let sent = 0; sent < UPLOAD_BYTES; sent += chunk.length) {
    if (!sending.write(chunk)) {
      await once(sending, "drain");
    }
  }
  sending.end();
  const [response] = await answered;
  response.resume();
  if (response.statusCode !== 200) {
    throw new Error(`the upload is answered ${response.statusCode}`);
  }
}
