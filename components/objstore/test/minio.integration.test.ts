import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Client } from "minio";

import { ROOT, startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let folder: string;
let large: string;

before(async () => {
  store = await startObjstore();
  folder = await mkdtemp(join(tmpdir(), "minio-client-"));
  large = join(folder, "large.bin");
  await writeFile(large, randomBytes(20 << 20));
});
after(async () => {
  await store.stop();
  await rm(folder, { recursive: true, force: true });
});

test("minio, the npm client", async () => {
  const { hostname, port } = new URL(store.url);
  const client = new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey: ROOT.accessKeyId,
    secretKey: ROOT.secretAccessKey,
    region: "us-east-1",
  });
  await client.makeBucket("minio-npm");
  await client.fPutObject("minio-npm", "large.bin", large);
  const down = join(folder, "minio.bin");
  await client.fGetObject("minio-npm", "large.bin", down);
  assert.ok((await readFile(large)).equals(await readFile(down)));
  const url = await client.presignedPutObject("minio-npm", "up.txt", 60);
  assert.equal((await fetch(url, { method: "PUT", body: "hello" })).status, 200);
  assert.equal((await client.statObject("minio-npm", "up.txt")).size, 5);
  await client.removeObjects("minio-npm", ["large.bin", "up.txt"]);
  await client.removeBucket("minio-npm");
});
