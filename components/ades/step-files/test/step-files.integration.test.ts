// Files of steps between the service, the object storage, a node's blob agent and the containers beside a tool: each the real one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { JobSpec } from "@swath/cwl";
import type { ClusterApi } from "@swath/kubernetes/api";
import { createLogger } from "@swath/service";

import { createAgentServer } from "../../blob-agent/agent-server.ts";
import { BlobCache } from "../../blob-agent/blob-cache.ts";
import { startObjstore } from "../../staging/test/servers.ts";
import { type BlobStore, createBlobStore } from "../blob-store.ts";
import { parseStepDocument } from "../documents.ts";
import { createJobToken } from "../job-token.ts";
import { createStepFiles } from "../step-files.ts";

const KEY = "key-of-the-tests";
const JOB = "job-1";
const { signal } = new AbortController();
const never = undefined as unknown as ClusterApi;
const tomorrow = Math.floor(Date.now() / 1000) + 86_400;

let objstore: Awaited<ReturnType<typeof startObjstore>>;
let store: BlobStore;
let cache: BlobCache;
let url: string;
const folder = mkdtempSync(join(tmpdir(), "swath-steps-"));
const counts = { fetched: 0, hits: 0, stored: 0 };
let server: ReturnType<typeof createAgentServer>;

before(async () => {
  objstore = await startObjstore();
  store = createBlobStore({ ...objstore.endpoint, bucket: "steps" }, { connections: 8, stallSeconds: 20 });
  await store.open(signal);
  cache = new BlobCache(join(folder, "cache"), 64 * 2 ** 20, store, {
    onFetch: () => (counts.fetched += 1),
    onHit: () => (counts.hits += 1),
  });
  await cache.open();
  server = createAgentServer({
    store,
    cache,
    // The tool of these tests has ended when its container is started.
    tools: { wait: async () => "ended" },
    secrets: [KEY],
    logger: createLogger("test", "silent"),
    onStored: (bytes) => (counts.stored += bytes),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server?.closeAllConnections();
  server?.close();
  await store?.close();
  await objstore?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bearer = (job = JOB, expiresAt = tomorrow, key = KEY) => ({
  authorization: `Bearer ${createJobToken(key, job, expiresAt)}`,
});
const blobUrl = (sha256: string, job = JOB) => `${url}/jobs/${job}/blobs/${sha256}`;
const storeBlob = (bytes: Buffer, sha256 = hash("sha256", bytes)) =>
  fetch(blobUrl(sha256), { method: "PUT", headers: bearer(), body: new Uint8Array(bytes) });

/** A container beside a tool; its volumes are in a folder. */
function run(action: "fetch" | "collect", pod: string, volumes: string, collect = "outdir") {
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, createJobToken(KEY, JOB, tomorrow));
  const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    env: {
      STEP_ACTION: action,
      STEP_FOLDER: volumes,
      STEP_FILES_URL: url,
      STEP_JOB: JOB,
      STEP_POD: pod,
      STEP_TOKEN_FILE: tokenFile,
      STEP_COLLECT: collect,
    },
    stdio: ["ignore", "inherit", "pipe"],
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  return new Promise<{ readonly status: number | null; readonly errors: string }>((resolve) =>
    child.once("close", (status) => resolve({ status, errors })),
  );
}

function createVolumes(name: string): string {
  const volumes = join(folder, name);
  for (const volume of ["outdir", "tmpdir", "inputs"]) {
    mkdirSync(join(volumes, volume), { recursive: true });
  }
  return volumes;
}

const step = { name: "step" } as JobSpec;
const createFiles = (maxBytes = 2 ** 30) => createStepFiles({ store, api: never, job: JOB, key: KEY, maxBytes });

test("directories, files, links and modes reach the tool and come back, large files in parts", async () => {
  const host = join(folder, "host");
  const input = join(folder, "input");
  mkdirSync(join(host, "sub"), { recursive: true });
  mkdirSync(join(input, "deep/empty"), { recursive: true });
  writeFileSync(join(host, "script.sh"), "echo", { mode: 0o755 });
  const large = randomBytes(40 * 2 ** 20);
  writeFileSync(join(input, "deep/large.bin"), large);
  symlinkSync("large.bin", join(input, "deep/link"));
  const scratch = join(folder, "scratch");
  mkdirSync(scratch);
  const folders = [
    { root: "outdir", host, isOutput: true },
    { root: "tmpdir", host: scratch, isOutput: false },
    { root: "inputs/0", host: input, isOutput: false },
    { root: "inputs/1", host: join(input, "deep/large.bin"), isOutput: false },
  ];
  const files = createFiles();
  assert.equal(await files.send("pod-1", folders, signal), 2 * large.length + 4);

  const volumes = createVolumes("pod-1");
  assert.deepEqual(await run("fetch", "pod-1", volumes), { status: 0, errors: "" });
  assert.equal(lstatSync(join(volumes, "outdir/data/script.sh")).mode & 0o777, 0o755);
  assert.ok(readFileSync(join(volumes, "inputs/0/deep/large.bin")).equals(large));
  assert.ok(readFileSync(join(volumes, "inputs/1")).equals(large));
  assert.equal(readlinkSync(join(volumes, "inputs/0/deep/link")), "large.bin");
  assert.ok(existsSync(join(volumes, "inputs/0/deep/empty")));

  const made = join(volumes, "outdir/data");
  mkdirSync(join(made, "results/none"), { recursive: true });
  const output = randomBytes(20 * 2 ** 20);
  writeFileSync(join(made, "results/a.bin"), output);
  writeFileSync(join(made, "results/copy.bin"), output);
  writeFileSync(join(made, "empty.txt"), "");
  symlinkSync("/etc/passwd", join(made, "outside"));
  rmSync(join(made, "sub"), { recursive: true });
  const stored = counts.stored;
  assert.deepEqual(await run("collect", "pod-1", volumes), { status: 0, errors: "" });
  assert.equal(counts.stored - stored, output.length + 4, "each content once");

  await files.receive(step, "pod-1", folders, signal);
  assert.deepEqual(readdirSync(host).sort(), ["empty.txt", "outside", "results", "script.sh"]);
  assert.ok(readFileSync(join(host, "results/copy.bin")).equals(output));
  assert.deepEqual(readdirSync(join(host, "results/none")), []);
  assert.equal(readlinkSync(join(host, "outside")), "/etc/passwd", "a link is a link");
});

test("the bucket is made for a step without files, too", async (t) => {
  const other = createBlobStore(
    { ...objstore.endpoint, bucket: "not-there-yet" },
    { connections: 2, stallSeconds: 20 },
  );
  t.after(() => other.close());
  const files = createStepFiles({ store: other, api: never, job: JOB, key: KEY, maxBytes: 2 ** 30 });
  assert.equal(await files.send("pod-0", [], signal), 0);
  assert.equal(await other.readDocument(JOB, "steps/pod-0/inputs", signal), '{"trees":[]}');
});

test("what an earlier step left is not sent again, nor is an unchanged file", async () => {
  const files = createFiles();
  const host = join(folder, "host");
  const before = (await store.listBlobs(JOB, signal)).length;
  const folders = [{ root: "outdir", host, isOutput: true }];
  await files.send("pod-2", folders, signal);
  assert.equal((await store.listBlobs(JOB, signal)).length, before);
});

test("many who ask for a blob at once make one fetch", async () => {
  const bytes = randomBytes(3 * 2 ** 20);
  const sha256 = hash("sha256", bytes);
  assert.equal((await storeBlob(bytes)).status, 201);
  const { fetched } = counts;
  const responses = await Promise.all(Array.from({ length: 30 }, () => fetch(blobUrl(sha256), { headers: bearer() })));
  for (const response of responses) {
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
  }
  assert.equal(counts.fetched - fetched, 1);
});

test("a token opens its own job's files, until it ends, and nothing is open without one", async () => {
  const bytes = Buffer.from("secret of job 1");
  const sha256 = hash("sha256", bytes);
  assert.equal((await storeBlob(bytes)).status, 201);
  const statusOf = async (headers: Record<string, string>, job = JOB, method = "GET") =>
    (await fetch(blobUrl(sha256, job), { method, headers })).status;
  assert.equal(await statusOf(bearer()), 200);
  assert.equal(await statusOf({}), 401);
  assert.equal(await statusOf({ authorization: "Bearer job-1.99999999999.AAAA" }), 401);
  assert.equal(await statusOf(bearer(JOB, 1)), 401, "ended");
  assert.equal(await statusOf(bearer(JOB, tomorrow, "another key")), 401);
  assert.equal(await statusOf(bearer("job-2"), JOB), 403);
  assert.equal(await statusOf(bearer("job-2"), "job-2"), 404, "what another job has is not there");
  assert.equal(await statusOf(bearer(), JOB, "DELETE"), 405);
  const outside = await fetch(`${url}/jobs/job-1/blobs/..%2f..%2fjob-2`, { headers: bearer() });
  assert.equal(outside.status, 404);
});

test("bytes of another digest are not stored, small or large", async () => {
  for (const size of [10, 9 * 2 ** 20]) {
    const wrong = hash("sha256", `not these ${size}`);
    assert.equal((await storeBlob(randomBytes(size), wrong)).status, 422);
    assert.equal(await store.read(JOB, wrong, signal), undefined);
  }
});

test("the cache holds no more than it may; what is larger goes through", async () => {
  for (let index = 0; index < 5; index += 1) {
    const bytes = randomBytes(20 * 2 ** 20);
    assert.equal((await storeBlob(bytes)).status, 201);
    const response = await fetch(blobUrl(hash("sha256", bytes)), { headers: bearer() });
    assert.equal((await response.arrayBuffer()).byteLength, bytes.length);
    assert.ok(cache.bytes <= 64 * 2 ** 20, String(cache.bytes));
  }
  const bytes = randomBytes(70 * 2 ** 20);
  assert.equal((await storeBlob(bytes)).status, 201);
  const response = await fetch(blobUrl(hash("sha256", bytes)), { headers: bearer() });
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes));
});

test("more than a job's disk is not brought back", async () => {
  const files = createFiles(1000);
  const folders = [{ root: "outdir", host: join(folder, "host"), isOutput: true }];
  await assert.rejects(files.receive(step, "pod-1", folders, signal), /outputs have \d+ MiB, more than/);
});

test("a document cannot lead out of its trees", () => {
  const parse = (...entries: object[]) => parseStepDocument(JSON.stringify({ trees: [{ root: "outdir", entries }] }));
  const root = { type: "directory", path: "", mode: 0o700 };
  const file = { type: "file", mode: 0o600, size: 0, sha256: "0".repeat(64) };
  parse(root, { ...file, path: "a" });
  for (const path of ["../a", "/a", "a/../../b", "a//b", "./a", "..", "missing/a", "a\0"]) {
    assert.throws(() => parse(root, { ...file, path }), /no path/, path);
  }
  const link = { type: "link", path: "l", target: "/etc" };
  assert.throws(() => parse(root, link, { ...file, path: "l/a" }), /no path/, "below a link");
  assert.throws(() => parse(root, { ...file, path: "a", sha256: "x" }), /incomplete/);
  assert.throws(() => parseStepDocument('{"trees":[{"root":"../x","entries":[]}]}'), /no tree/);
});

test("containers wait for an object storage that is away", async () => {
  const files = createFiles();
  const host = join(folder, "host");
  await files.send("pod-3", [{ root: "outdir", host, isOutput: true }], signal);
  await objstore.kill();
  const fetching = run("fetch", "pod-3", createVolumes("pod-3"));
  await objstore.start();
  assert.deepEqual(await fetching, { status: 0, errors: "" });
});

test("what a job had is removed with it, and others keep theirs", async () => {
  await store.writeDocument("job-9", "steps/p/inputs", "{}", signal);
  assert.deepEqual(await store.listJobs(signal), [JOB, "job-9"]);
  await store.removeJob(JOB, signal);
  assert.deepEqual(await store.listJobs(signal), ["job-9"]);
});
