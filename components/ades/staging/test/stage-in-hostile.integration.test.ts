import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { stageIn } from "../stage-in.ts";
import type { StageInLimits, StageInSource } from "../types.ts";
import { LIMITS, makeFolder, openAccess, startServer } from "./servers.ts";

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

/** Paths of the hostile server, each a way in which sources go wrong. */
const ROUTES: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  "/missing": (_, response) => response.writeHead(404).end(),
  "/forbidden": (_, response) => response.writeHead(403).end(),
  "/short": (_, response) =>
    void response.writeHead(200, { "content-length": 100 }).write("short", () => response.destroy()),
  "/stalled": (_, response) => void response.writeHead(200, { "content-length": 100 }).write("and then nothing"),
  "/silent": () => undefined,
  "/endless": (_, response) => {
    const more = () => void (response.writable && response.write(Buffer.alloc(65_536), more));
    more();
  },
  "/circle": (_, response) => response.writeHead(302, { location: "/circle-2" }).end(),
  "/circle-2": (_, response) => response.writeHead(302, { location: "/circle" }).end(),
  "/to-file": (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
  "/to-metadata": (_, response) =>
    response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(),
  "/other-md5": (_, response) =>
    response.writeHead(200, { "x-amz-request-id": "1", etag: `"${md5("other")}"` }).end("this"),
  "/other-crc": (_, response) =>
    response
      .writeHead(200, { "x-amz-request-id": "1", "x-amz-checksum-crc32": "AAAAAA==", etag: `"${md5("this")}"` })
      .end("this"),
  "/other-range": (_, response) => response.writeHead(206, { "content-range": "bytes 5-8/9" }).end("wrong"),
  "/bomb": (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip"),
  "/no-json.json": (_, response) => response.end("{ broken"),
  "/no-stac.html/": (_, response) => response.setHeader("content-type", "text/html").end("<html>"),
  "/no-stac.html/catalog.json": (_, response) => response.end('{"type":"Nothing"}'),
  "/item.json": (_, response) =>
    response.end(
      JSON.stringify({
        type: "Feature",
        id: "item",
        properties: {},
        geometry: null,
        assets: {
          sized: { href: "ok", "file:size": 3 },
          summed: { href: "ok", "file:checksum": `1220${"0".repeat(64)}` },
          ok: { href: "ok" },
        },
      }),
    ),
  "/ok": (_, response) => response.end("ok"),
};

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let stop: () => void;
let count = 0;

before(async () => {
  folder = await makeFolder();
  server = await startServer({ after: (fn) => (stop = fn) }, (request, response) => {
    const route = ROUTES[request.url ?? ""] ?? ROUTES["/missing"];
    route?.(request, response);
  });
});

after(async () => {
  stop();
  await rm(folder, { recursive: true, force: true });
});

interface Requested {
  readonly as?: StageInSource["as"];
  readonly assets?: readonly string[];
  readonly limits?: Partial<StageInLimits>;
  readonly allowPrivate?: readonly string[];
}

const stage = (path: string, { as = "file", assets, limits, allowPrivate }: Requested = {}) =>
  stageIn({
    source: { href: path.startsWith("/") ? `${server.url}${path}` : path, as },
    target: join(folder, String((count += 1))),
    access: openAccess({
      limits: { ...LIMITS, retries: 0, ...limits },
      ...(allowPrivate !== undefined && { allowPrivate }),
    }),
    signal: AbortSignal.timeout(30_000),
    ...(assets !== undefined && { assets }),
  });

const cases: readonly [string, Requested, string, RegExp][] = [
  ["/missing", {}, "source", /\/missing: answers 404: there is nothing at this address/],
  ["/forbidden", {}, "source", /answers 403: access is refused/],
  ["/short", {}, "source", /broke off|said that it sends 100 bytes and sent 5/],
  ["/stalled", { limits: { stallSeconds: 1 } }, "source", /sent nothing for 1 seconds/],
  ["/silent", { limits: { stallSeconds: 1 } }, "source", /does not answer/],
  ["/endless", { limits: { maxFileBytes: 1_000_000 } }, "limit", /larger than the 1000000 bytes allowed for one file/],
  ["/endless", { limits: { maxBytes: 1_000_000 } }, "limit", /larger than the 1000000 bytes allowed; name fewer items/],
  ["/stalled", { limits: { maxSeconds: 0.5 } }, "limit", /is not here after the 0.5 seconds allowed/],
  ["/circle", {}, "source", /redirects in a circle/],
  ["/to-file", {}, "access", /redirects to a file: address/],
  ["/to-metadata", {}, "access", /169\.254\.169\.254, which is a private address/],
  ["/other-md5", {}, "source", /arrived with the md5 checksum/],
  ["/other-crc", {}, "source", /arrived with the crc32 checksum [0-9a-f]{8}; its source says 00000000$/],
  ["/other-range", {}, "source", /gave others|broke off/],
  ["/bomb", {}, "source", /incorrect header check/],
  ["/no-json.json", { as: "directory" }, "source", /is not JSON/],
  ["/no-stac.html/", { as: "directory" }, "source", /catalog\.json: is not a STAC catalogue/],
  ["/item.json", { as: "directory", assets: ["sized"] }, "source", /has 2 bytes; its metadata says 3/],
  [
    "/item.json",
    { as: "directory", assets: ["summed"] },
    "source",
    /arrived with the sha256 checksum .*its metadata says 0000/,
  ],
  ["/item.json", { as: "directory", assets: ["nir"] }, "source", /has no asset "nir"; it has sized, summed, ok/],
  [
    "/item.json",
    { as: "directory", assets: ["ok"], limits: { maxFiles: 1 } },
    "limit",
    /more than the 1 files allowed/,
  ],
  ["http://127.0.0.1:1/", {}, "source", /ECONNREFUSED/],
  ["http://127.0.0.1:1/", { allowPrivate: [] }, "access", /private address/],
  ["http://[::1]:1/", { allowPrivate: [] }, "access", /private address/],
  ["http://[::ffff:127.0.0.1]:1/", { allowPrivate: [] }, "access", /private address/],
  ["http://2130706433/", { allowPrivate: [] }, "access", /private address/],
  ["http://localhost:1/", { allowPrivate: [] }, "access", /leads to (?:127\.0\.0\.1|::1), which is a private address/],
  [
    "http://no-such-host.invalid/?token=secret",
    // Where nobody answers for names, this is how long that takes.
    { limits: { stallSeconds: 1 } },
    "source",
    /^(?!.*secret).*(?:its host name is not known|its source)/,
  ],
  ["gopher://127.0.0.1/", {}, "access", /use an http, https, s3 or data address/],
];

for (const [path, expected, code, message] of cases) {
  test(`${path} ${JSON.stringify(expected)} → ${code}`, async () => {
    await assert.rejects(stage(path, expected), { name: "StagingError", code, message });
  });
}

test("nothing incomplete lies under its name", async () => {
  for (const target of await readdir(folder)) {
    const names = await readdir(join(folder, target));
    assert.deepEqual(
      names.filter((name) => name !== ".staging" && name !== "item"),
      [],
      target,
    );
  }
});
