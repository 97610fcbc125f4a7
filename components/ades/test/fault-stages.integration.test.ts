import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { type GatedStorage, openGatedStorage } from "./gated-storage.ts";
import { filePackage } from "./packages.ts";
import { ROOT, type TestAdes, isRunner, startAdes } from "./start-ades.ts";

// Each part of the service is killed exactly while a job fetches its input or stores its results, or while a package is deployed:
// the object storage is held at that request until it has happened.
const DATA = Buffer.alloc(300_000, "0123456789abcdef-");
const PACKAGE = filePackage("copy", 'cp "$1" copy.bin');
let ades: TestAdes;
let storage: GatedStorage;
let s3: S3Client;

before(async () => {
  storage = await openGatedStorage(() => ades.objstoreUrl);
  ades = await startAdes({
    env: { S3_ENDPOINT: storage.url, ALLOW_PRIVATE: "127.0.0.1/32", CONTAINER_ENGINE: "none", LOG_LEVEL: "fatal" },
  });
  s3 = new S3Client({ endpoint: ades.objstoreUrl, region: "us-east-1", forcePathStyle: true, credentials: ROOT });
  await s3.send(new CreateBucketCommand({ Bucket: "results" }));
  await s3.send(new PutObjectCommand({ Bucket: "results", Key: "in/data.bin", Body: DATA }));
  await s3.send(
    new PutObjectCommand({ Bucket: "results", Key: "in/later.cwl", Body: PACKAGE.replace("copy", "later") }),
  );
  const { status, body } = await ades.send("/eric/ogc-api/processes", { text: PACKAGE, type: "application/cwl" });
  assert.equal(status, 201, JSON.stringify(body));
});
after(async () => {
  s3.destroy();
  storage.close();
  await ades.close();
});

/** Kills the processes that carry jobs out. */
function killRunners(): void {
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const isChild = new RegExp(`^PPid:\\s+${ades.pid()}$`, "m").test(readFileSync(`/proc/${name}/status`, "utf8"));
      if (isChild && isRunner(readFileSync(`/proc/${name}/cmdline`, "utf8"))) {
        process.kill(Number(name), "SIGKILL");
      }
    } catch {
      // It has ended since it was listed.
    }
  }
}

const VICTIMS: Readonly<Record<string, () => Promise<() => Promise<void>>>> = {
  "the service": async () => {
    await ades.kill();
    return ades.start;
  },
  "the engine's worker": () => {
    killRunners();
    return Promise.resolve(() => Promise.resolve());
  },
  PostgreSQL: async () => {
    await ades.postgres.kill();
    return () => ades.postgres.start();
  },
  "the object storage": async () => {
    await ades.objstore.kill();
    return ades.objstore.start;
  },
};

const STAGES = {
  "stage-in": (method: string, path: string) => method === "GET" && path.includes("/in/data.bin"),
  "stage-out": (method: string, path: string) => method === "PUT" && path.includes("/processing-results/"),
};

for (const [stage, isAt] of Object.entries(STAGES)) {
  for (const [name, kill] of Object.entries(VICTIMS)) {
    test(`${name} is killed during ${stage}: the job ends well, once, with the right result`, async () => {
      const reached = storage.hold(({ method = "", url = "" }) => isAt(method, url));
      const { status, body, headers } = await ades.send("/eric/ogc-api/processes/copy/execution", {
        json: { inputs: { file: { href: "s3://results/in/data.bin" } } },
        headers: { prefer: "respond-async" },
      });
      assert.equal(status, 201, JSON.stringify(body));
      await reached;
      const restart = await kill();
      storage.release();
      await restart();
      const job = await waitUntil(
        "the job has ended",
        async () => {
          const response = await ades.send(headers.get("location") ?? "").catch(() => undefined);
          return ["successful", "failed"].includes(response?.body.status) ? response?.body : undefined;
        },
        90,
      );
      assert.equal(job.status, "successful", job.message);
      const { Contents = [] } = await s3.send(
        new ListObjectsV2Command({ Bucket: "results", Prefix: `processing-results/${job.jobID}/` }),
      );
      const copies = Contents.filter(({ Key }) => Key?.endsWith("/copy.bin"));
      assert.equal(copies.length, 1);
      const copy = await s3.send(new GetObjectCommand({ Bucket: "results", Key: copies[0]?.Key ?? "" }));
      assert.ok(DATA.equals(Buffer.from((await copy.Body?.transformToByteArray()) ?? [])), "byte for byte");
      assert.equal(Contents.filter(({ Key }) => Key?.endsWith("catalog.json")).length, 1);
    });
  }
}

test("PostgreSQL is killed while a package is deployed: an error, nothing half, and the next attempt works", async (t) => {
  const asked = Promise.withResolvers<() => void>();
  const source = createServer((_, response) => asked.resolve(() => response.end(PACKAGE.replace("copy", "late"))));
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  t.after(() => source.close());
  const href = `http://127.0.0.1:${(source.address() as AddressInfo).port}/late.cwl`;
  const deploying = ades.send("/eric/ogc-api/processes", {
    json: { executionUnit: { href, type: "application/cwl" } },
  });
  const send = await asked.promise;
  await ades.postgres.kill();
  send();
  const { status, body } = await deploying;
  assert.ok(status >= 500, `${status} ${JSON.stringify(body)}`);
  assert.doesNotMatch(JSON.stringify(body), /password|postgres:\/\//);
  await ades.postgres.start();
  const found = await waitUntil(
    "the service answers again",
    async () => {
      const response = await ades.send("/eric/ogc-api/processes/late");
      return response.status < 500 ? response : undefined;
    },
    30,
  );
  assert.equal(found.status, 404);
  const again = await ades.send("/eric/ogc-api/processes", {
    text: PACKAGE.replace("copy", "late"),
    type: "application/cwl",
  });
  assert.equal(again.status, 201, JSON.stringify(again.body));
});

test("the object storage is away while a package is fetched from it: that is said, and the next attempt works", async () => {
  const json = { executionUnit: { href: "s3://results/in/later.cwl", type: "application/cwl" } };
  await ades.objstore.kill();
  const { status, body } = await ades.send("/eric/ogc-api/processes", { json });
  assert.ok(status >= 400, `${status} ${JSON.stringify(body)}`);
  assert.match(JSON.stringify(body), /s3:\/\/results\/in\/later\.cwl|object stor/);
  await ades.objstore.start();
  assert.equal((await ades.send("/eric/ogc-api/processes/later")).status, 404);
  const again = await ades.send("/eric/ogc-api/processes", { json });
  assert.equal(again.status, 201, JSON.stringify(again.body));
});
