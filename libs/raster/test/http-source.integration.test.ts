import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { RasterEngine } from "../src/engine/engine.ts";
import { RasterError } from "../src/errors.ts";
import { openHttpSource } from "../src/sources/http-source.ts";
import { openS3Source } from "../src/sources/s3-source.ts";
import { parseCrs } from "../src/warp/crs.ts";
import { SCENES } from "./gdal.ts";

const FILE = readFileSync(join(SCENES, "lommel/B04.tif"));

interface Served {
  readonly url: string;
  readonly requests: { range: string; bytes: number; headers: IncomingMessage["headers"] }[];
}

/** Serves a file by ranges, unless `answer` does something else. */
async function serve(
  t: TestContext,
  reply: (request: IncomingMessage, response: ServerResponse, count: number) => boolean = () => false,
): Promise<Served> {
  const requests: Served["requests"] = [];
  const server = createServer((request, response) => {
    const range = request.headers.range ?? "";
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(range)?.map(Number) ?? [];
    const body = FILE.subarray(from, to + 1);
    requests.push({ range, bytes: body.length, headers: request.headers });
    if (!reply(request, response, requests.length)) {
      response
        .writeHead(206, {
          "content-range": `bytes ${from}-${from + body.length - 1}/${FILE.length}`,
          etag: '"1"',
          "content-length": body.length,
        })
        .end(body);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.tif`, requests };
}

test("the first tile of a remote file takes two requests", async (t) => {
  const { url, requests } = await serve(t);
  const engine = new RasterEngine({ cacheBytes: 1e7 });
  t.after(() => engine.close());
  const request = {
    scenes: [{ assets: { data: { location: { kind: "http" as const, url, allowPrivate: true } } } }],
    grid: {
      crs: parseCrs("EPSG:32631"),
      bbox: [656_000, 5_685_000, 657_280, 5_686_280] as const,
      width: 128,
      height: 128,
    },
    format: "png" as const,
  };
  await engine.image({ ...request, rescale: [[0, 3000]] });
  assert.equal(requests.length, 2, JSON.stringify(requests.map(({ range }) => range)));
  await engine.image({ ...request, rescale: [[0, 3000]] });
  assert.equal(requests.length, 2);
});

test("private addresses are refused unless the operator names them", async (t) => {
  const { url } = await serve(t);
  for (const target of [
    url,
    "http://[::1]:1/x",
    "http://localhost:1/x",
    "http://169.254.169.254/latest",
    "http://[::7f00:1]:1/x",
    "file:///etc/passwd",
  ]) {
    await assert.rejects(openHttpSource({ kind: "http", url: target }).read(0, 10), { code: "forbidden" }, target);
  }
});

test("a redirect to a private address is refused", async (t) => {
  const inner = await serve(t);
  const { url } = await serve(t, (_request, response) => {
    response.writeHead(302, { location: "http://169.254.169.254/x" }).end();
    return true;
  });
  // The first host is allowed by name, the one that it leads to is not a host of the operator's.
  await assert.rejects(openHttpSource({ kind: "http", url }).read(0, 10), { code: "forbidden" });
  assert.equal(inner.requests.length, 0);
});

test("what a server does wrong is said, and what may pass is tried again", async (t) => {
  const cases: readonly (readonly [string, (response: ServerResponse, count: number) => boolean])[] = [
    ["not-found", (response) => !!response.writeHead(404).end()],
    ["forbidden", (response) => !!response.writeHead(403).end()],
    ["unavailable", (response) => !!response.writeHead(500).end()],
    ["unavailable", (response) => !!response.writeHead(206, { "content-range": "bytes 5-14/100" }).end("0123456789")],
    ["unavailable", (response) => !!response.writeHead(206, { "content-range": "bytes 0-9/100" }).end("0123")],
    ["unavailable", (response) => !!response.destroy()],
    [
      "unavailable",
      (response) => !!response.writeHead(206, { "content-range": "bytes 0-9/100" }).end("0".repeat(1000)),
    ],
  ];
  for (const [code, reply] of cases) {
    const { url } = await serve(t, (_request, response) => reply(response, 0));
    await assert.rejects(openHttpSource({ kind: "http", url, allowPrivate: true }).read(0, 10), { code });
  }
  const flaky = await serve(t, (_request, response, count) => count < 3 && !!response.writeHead(503).end());
  assert.equal((await openHttpSource({ kind: "http", url: flaky.url, allowPrivate: true }).read(0, 10)).length, 10);
});

test("a file that changes meanwhile is noticed", async (t) => {
  const { url } = await serve(t, ({ headers: { range = "" } }, response, count) => {
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(range)?.map(Number) ?? [];
    response
      .writeHead(206, { "content-range": `bytes ${from}-${to}/${FILE.length}`, etag: `"${count}"` })
      .end(FILE.subarray(from, to + 1));
    return true;
  });
  const source = openHttpSource({ kind: "http", url, allowPrivate: true });
  await source.read(0, 10);
  await assert.rejects(source.read(100, 10), { code: "changed" });
  assert.equal(await source.isCurrent(), false);
});

test("a server without ranges is read whole, within bounds", async (t) => {
  const { url, requests } = await serve(
    t,
    (_request, response) => !!response.writeHead(200, { etag: '"w"' }).end(FILE),
  );
  const source = openHttpSource({ kind: "http", url, allowPrivate: true });
  assert.deepEqual(Buffer.from(await source.read(100, 50)), FILE.subarray(100, 150));
  assert.deepEqual(Buffer.from(await source.read(500, 50)), FILE.subarray(500, 550));
  assert.equal(requests.length, 1);
});

test("a cancelled read ends at once", async (t) => {
  const { url } = await serve(t, () => true);
  const controller = new AbortController();
  const read = openHttpSource({ kind: "http", url, allowPrivate: true }).read(0, 10, controller.signal);
  setImmediate(() => controller.abort());
  await assert.rejects(read, (error: unknown) => error instanceof RasterError && error.code === "cancelled");
});

test("requests to S3 are signed", async (t) => {
  const { url, requests } = await serve(t);
  const source = openS3Source({
    kind: "s3",
    endpoint: new URL(url).origin,
    region: "eu",
    bucket: "b",
    key: "a folder/ü.tif",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
  });
  assert.equal((await source.read(0, 10)).length, 10);
  assert.match(
    requests[0]?.headers.authorization ?? "",
    /^AWS4-HMAC-SHA256 Credential=k\/\d+\/eu\/s3\/aws4_request, SignedHeaders=/,
  );
});
