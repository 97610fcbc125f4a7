import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { request as send } from "node:http";
import { join } from "node:path";
import { type TestContext, after, before, test } from "node:test";

import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import type { StacItem } from "@swath/stac";

import { runCommand } from "@swath/testing";

import { stageIn } from "../stage-in.ts";
import { stageOut } from "../stage-out.ts";
import type { S3Target, StageOutRequest } from "../types.ts";
import { SCENES, makeFolder, openAccess, startObjstore, startServer } from "./servers.ts";

const GDALINFO = "/usr/bin/gdalinfo";

let folder: string;
let objstore: Awaited<ReturnType<typeof startObjstore>>;
let target: S3Target;

before(async () => {
  folder = await makeFolder();
  objstore = await startObjstore();
  target = { ...objstore.endpoint, bucket: "results" };
});

after(async () => {
  await objstore.stop();
  await rm(folder, { recursive: true, force: true });
});

const publish = (directory: string, jobId: string, others: Partial<StageOutRequest> = {}) =>
  stageOut({
    directory,
    target,
    prefix: `processing-results/${jobId}`,
    jobId,
    signal: AbortSignal.timeout(60_000),
    ...others,
  });

async function get(uri: string): Promise<Buffer> {
  const [bucket = "", ...key] = uri.slice("s3://".length).split("/");
  const response = await objstore.client.send(new GetObjectCommand({ Bucket: bucket, Key: key.join("/") }));
  return Buffer.from((await response.Body?.transformToByteArray()) ?? []);
}

async function keysOf(jobId: string): Promise<readonly string[]> {
  const { Contents = [] } = await objstore.client.send(
    new ListObjectsV2Command({ Bucket: "results", Prefix: `processing-results/${jobId}/` }),
  );
  return Contents.map(({ Key = "" }) => Key.slice(`processing-results/${jobId}/`.length));
}

test("a catalogue is published with types, sizes, checksums and addresses, and can be staged in again", async () => {
  const progress: (readonly [number, number | undefined])[] = [];
  const result = await publish(join(SCENES, "canberra"), "job-1", {
    onProgress: (bytes, total) => progress.push([bytes, total]),
  });
  assert.equal(result.catalogUri, "s3://results/processing-results/job-1/catalog.json");
  assert.equal(result.collection.id, "job-1");
  assert.equal(result.collection.links.find(({ rel }) => rel === "root")?.href, result.catalogUri);
  const id = "LS5_TM_NBAR_P54_GANBAR01-002_090_084_19920323";
  assert.deepEqual((await keysOf("job-1")).toSorted(), [
    "catalog.json",
    ...[`${id}/B2.tif`, `${id}/B3.tif`, `${id}/B4.tif`, `${id}/${id}.json`, "collection.json"].map(
      (key) => `job-1/${key}`,
    ),
  ]);
  const itemUri = result.collection.links.find(({ rel }) => rel === "item")?.href ?? "";
  const item = JSON.parse((await get(itemUri)).toString()) as StacItem;
  const red = item.assets["red"];
  const bytes = await readFile(join(SCENES, "canberra/B3.tif"));
  assert.equal(red?.href, `s3://results/processing-results/job-1/job-1/${id}/B3.tif`);
  assert.equal(red["file:size"], bytes.length);
  assert.equal(red["file:checksum"], `1220${createHash("sha256").update(bytes).digest("hex")}`);
  assert.equal(item.collection, "job-1");
  assert.deepEqual(result.collection.extent.spatial.bbox, [item.bbox]);
  assert.deepEqual(result.collection.extent.temporal.interval, [
    ["1992-03-23T23:14:25.500Z", "1992-03-23T23:14:25.500Z"],
  ]);
  const head = await objstore.client.send(
    new HeadObjectCommand({ Bucket: "results", Key: red.href.slice("s3://results/".length) }),
  );
  assert.equal(head.ContentType, "image/tiff; application=geotiff; profile=cloud-optimized");
  assert.deepEqual(progress.at(-1), [557_276, 557_276]);
  assert.equal(result.files.length, 6);

  const again = await stageIn({
    source: { href: result.catalogUri, as: "directory" },
    target: join(folder, "again"),
    access: openAccess({ s3: [objstore.endpoint] }),
    signal: AbortSignal.timeout(60_000),
  });
  assert.deepEqual(await readFile(join(again.path, id, "B3.tif")), bytes);
});

test("several catalogues become one collection; remote assets and links stay, broken ones are errors", async () => {
  const output = join(folder, "several");
  for (const scene of ["maribor-0818", "maribor-0820"]) {
    await cp(join(SCENES, scene), join(output, scene), { recursive: true });
  }
  const { collection } = await publish(output, "job-2");
  assert.equal(collection.links.filter(({ rel }) => rel === "item").length, 2);
  const item = JSON.parse(await readFile(join(output, "maribor-0818/item.json"), "utf8")) as {
    assets: Record<string, object>;
  };
  const write = (href: string) =>
    writeFile(join(output, "maribor-0818/item.json"), JSON.stringify({ ...item, assets: { far: { href } } }));
  await write("https://example.com/far.tif");
  const far = (await publish(output, "job-2")).collection.links.find(({ rel }) => rel === "item")?.href ?? "";
  assert.equal(
    (JSON.parse((await get(far)).toString()) as StacItem).assets["far"]?.href,
    "https://example.com/far.tif",
  );
  assert.ok(
    !(await keysOf("job-2")).some((key) => key.includes("0818") && key.endsWith(".tif")),
    "stale files are removed",
  );
  await write("./nowhere.tif");
  await assert.rejects(publish(output, "job-2"), {
    code: "output",
    message: /nowhere\.tif: is linked from the output, but there is no such file/,
  });
  await write("../../../../../../etc/passwd");
  await assert.rejects(publish(output, "job-2"), { code: "output", message: /leads out of the output directory/ });
  await symlink("/etc/passwd", join(output, "passwd.tif"));
  await write("../passwd.tif");
  await assert.rejects(publish(output, "job-2"), { code: "output", message: /leads out of the output directory/ });
  assert.ok((await keysOf("job-2")).includes("catalog.json"), "what is refused changes nothing that was published");
});

test("plain files are assets of the collection; large ones go in parts and are not sent twice", async (t) => {
  const output = join(folder, "plain");
  await mkdir(join(output, "deep"), { recursive: true });
  await writeFile(join(output, "report.txt"), "done");
  const large = randomBytes(40 * 2 ** 20 + 7);
  await writeFile(join(output, "deep/large.tif"), large);
  const { collection, files } = await publish(output, "job-3");
  assert.deepEqual(Object.keys(collection.assets ?? {}), ["deep/large.tif", "report.txt"]);
  assert.equal(collection.assets?.["report.txt"]?.type, "text/plain");
  const asset = collection.assets?.["deep/large.tif"];
  assert.ok((await get(asset?.href ?? "")).equals(large));
  assert.equal(asset?.["file:checksum"], `1220${createHash("sha256").update(large).digest("hex")}`);
  assert.equal(files.find(({ href }) => href.endsWith("large.tif"))?.bytes, large.length);

  let puts = 0;
  const counting = await startProxy(t, (method) => (puts += method === "PUT" || method === "POST" ? 1 : 0));
  await publish(output, "job-3", { target: { ...target, endpoint: counting.url } });
  // The second time only the catalogue, which was taken away first, is written.
  assert.equal(puts, 1);
  const { Uploads = [] } = await objstore.client.send(new ListMultipartUploadsCommand({ Bucket: "results" }));
  assert.deepEqual(Uploads, []);

  large.writeUInt8(large.readUInt8(0) ^ 1, 0);
  await writeFile(join(output, "deep/large.tif"), large);
  const changed = (await publish(output, "job-3")).collection.assets?.["deep/large.tif"];
  assert.ok((await get(changed?.href ?? "")).equals(large), "other bytes of the same length are sent");
  assert.equal(changed?.["file:checksum"], `1220${createHash("sha256").update(large).digest("hex")}`);
});

test("parts that are damaged on their way are sent again, also to a store that compares no checksum", async (t) => {
  const output = join(folder, "damaged");
  await mkdir(output);
  const large = randomBytes(33 * 2 ** 20);
  await writeFile(join(output, "large.bin"), large);
  for (const [job, comparesChecksums] of [
    ["job-7", true],
    ["job-8", false],
  ] as const) {
    let damaged = 0;
    const upstream = new URL(target.endpoint);
    const proxy = await startServer(t, (request, response) => {
      const isPart = request.url?.includes("partNumber=") === true;
      const headers = { ...request.headers };
      const isDamaged = isPart && (damaged += 1) <= 2;
      const path = request.url;
      const onward = send({ host: upstream.hostname, port: upstream.port, method: request.method, path, headers });
      onward.on("response", (reply) => {
        if (isPart && !comparesChecksums) {
          delete reply.headers["x-amz-checksum-crc32"];
          // As such a store would have said: what it has is something else.
          reply.headers["etag"] = isDamaged ? `"${"0".repeat(32)}"` : (reply.headers["etag"] ?? "");
        }
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      let isFirst = true;
      request.on("data", (chunk: Buffer) => {
        if (isDamaged && isFirst && comparesChecksums) {
          chunk.writeUInt8(chunk.readUInt8(0) ^ 1, 0);
        }
        isFirst = false;
        onward.write(chunk);
      });
      request.on("end", () => onward.end());
    });
    const { collection } = await publish(output, job, { target: { ...target, endpoint: proxy.url } });
    assert.ok(damaged > 2, "parts were sent again");
    assert.ok((await get(collection.assets?.["large.bin"]?.href ?? "")).equals(large));
  }
});

test("no catalogue is listed while anything is missing", async (t) => {
  let allowed = 3;
  const flaky = await startProxy(
    t,
    (method) => (method === "PUT" ? (allowed -= 1) : 1),
    () => allowed < 0,
  );
  await objstore.put("processing-results/job-4/catalog.json", "{}");
  await assert.rejects(publish(join(SCENES, "canberra"), "job-4", { target: { ...target, endpoint: flaky.url } }), {
    name: "StagingError",
    code: "target",
    temporary: true,
  });
  const keys = await keysOf("job-4");
  assert.ok(keys.length > 0 && !keys.includes("catalog.json"), keys.join(" "));
  await publish(join(SCENES, "canberra"), "job-4");
  assert.equal((await keysOf("job-4")).length, 6);
});

test("a cancelled upload leaves no parts behind", async () => {
  const output = join(folder, "cancelled");
  await mkdir(output);
  await writeFile(join(output, "large.bin"), Buffer.alloc(60 * 2 ** 20, "swath"));
  const stop = new AbortController();
  const publishing = publish(output, "job-6", {
    signal: stop.signal,
    onProgress: (bytes) => bytes > 0 && stop.abort(new Error("dismissed")),
  });
  await assert.rejects(publishing, /dismissed/);
  const { Uploads = [] } = await objstore.client.send(new ListMultipartUploadsCommand({ Bucket: "results" }));
  assert.deepEqual(Uploads, []);
  assert.deepEqual(await keysOf("job-6"), []);
});

test("errors say what to do", async () => {
  const empty = join(folder, "empty");
  await mkdir(empty);
  await assert.rejects(publish(empty, "job-5"), {
    code: "output",
    message: /is empty: the application has written no result/,
  });
  await assert.rejects(publish(join(SCENES, "canberra"), "job-5", { target: { ...target, bucket: "none" } }), {
    code: "target",
    message: "s3://none/processing-results/job-5/: there is no such bucket",
  });
  const wrong = { ...target, credentials: { accessKeyId: "root", secretAccessKey: "wrong" } };
  await assert.rejects(publish(join(SCENES, "canberra"), "job-5", { target: wrong }), {
    code: "target",
    message: /refuses the credentials in use/,
  });
  await assert.rejects(publish(join(SCENES, "canberra"), "job-5", { prefix: "../.." }), {
    code: "target",
    message: /is not a prefix for results/,
  });
});

/** Passes requests to the object store, or fails them as a store does that is about to go. */
async function startProxy(t: TestContext, onRequest: (method: string) => unknown, isDown: () => boolean = () => false) {
  const upstream = new URL(target.endpoint);
  return startServer(t, (request, response) => {
    onRequest(request.method ?? "");
    if (isDown()) {
      request.resume();
      response.writeHead(503).end();
      return;
    }
    // The signature covers the Host header of the client's own target.
    const { method, url: path, headers } = request;
    const onward = send({ host: upstream.hostname, port: upstream.port, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    request.pipe(onward);
  });
}

test(
  "rasters say what is in their bands, as gdalinfo computes it; what the package said stays",
  { skip: existsSync(GDALINFO) ? false : `needs ${GDALINFO} (apt-get install gdal-bin)` },
  async () => {
    const directory = join(folder, "bands");
    await cp(join(SCENES, "canberra"), directory, { recursive: true });
    const itemFile = join(directory, "item.json");
    const provided = JSON.parse(await readFile(itemFile, "utf8")) as StacItem;
    const red = { ...provided.assets["red"], "raster:bands": [{ unit: "1", data_type: "int16" }] };
    await writeFile(itemFile, JSON.stringify({ ...provided, assets: { ...provided.assets, red } }));
    await writeFile(join(directory, "B2.tif"), "II*\0 no picture");
    const { collection } = await publish(directory, "bands");
    const uri = collection.links.find(({ rel }) => rel === "item")?.href ?? "";
    const item = JSON.parse((await get(uri)).toString()) as StacItem;
    for (const [name, file] of [
      ["red", "B3.tif"],
      ["nir", "B4.tif"],
    ] as const) {
      const bands = item.assets[name]?.["raster:bands"] as { statistics: Record<string, number>; unit?: string }[];
      assert.equal(bands.length, 1);
      const [band = { statistics: {} }] = bands;
      // Statistics go into a file beside the raster, which is the scene's own.
      const { stdout } = await runCommand(GDALINFO, ["-json", "-stats", join(directory, file)]);
      const [expected] = (JSON.parse(stdout) as { bands: [Record<string, number>] }).bands;
      for (const [own, theirs] of [
        ["minimum", "minimum"],
        ["maximum", "maximum"],
        ["mean", "mean"],
        ["stddev", "stdDev"],
      ] as const) {
        const [value = Number.NaN, other = Number.NaN] = [band.statistics[own], expected[theirs]];
        assert.ok(Math.abs(value - other) <= 1e-3 * Math.max(1, Math.abs(other)), `${name} ${own}: ${value}, ${other}`);
      }
      assert.equal(band.unit, name === "red" ? "1" : undefined);
    }
    assert.ok((item["stac_extensions"] as string[]).some((entry) => entry.includes("/raster/v1")));
    const [broken] = Object.values(item.assets).filter(({ href }) => href.endsWith("/B2.tif"));
    assert.ok(broken !== undefined);
    assert.doesNotMatch(JSON.stringify(broken), /statistics/, "of what cannot be read nothing is said");
  },
);
