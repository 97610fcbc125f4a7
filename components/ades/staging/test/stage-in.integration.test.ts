import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { StacItem } from "@swath/stac";

import { StagingError } from "../errors.ts";
import { stageIn } from "../stage-in.ts";
import type { SourceAccess, StageInSource, StagedInput } from "../types.ts";
import {
  SCENES,
  makeFolder,
  openAccess,
  startNginx,
  startObjstore,
  startServer,
  findNginxSkipReason,
} from "./servers.ts";

let folder: string;
let nginx: Awaited<ReturnType<typeof startNginx>>;
let objstore: Awaited<ReturnType<typeof startObjstore>>;
let count = 0;

before(async () => {
  folder = await makeFolder();
  objstore = await startObjstore();
  if (findNginxSkipReason === undefined) {
    nginx = await startNginx(SCENES);
  }
});

after(async () => {
  await nginx?.stop();
  await objstore?.stop();
  await rm(folder, { recursive: true, force: true });
});

const needsNginx = { ...(findNginxSkipReason !== undefined && { skip: findNginxSkipReason }) };

function stage(
  source: string | StageInSource,
  others: { readonly assets?: readonly string[]; readonly access?: SourceAccess; readonly target?: string } = {},
): Promise<StagedInput> {
  return stageIn({
    source: typeof source === "string" ? { href: source, as: "directory" } : source,
    target: others.target ?? join(folder, String((count += 1))),
    access: others.access ?? openAccess(),
    signal: AbortSignal.timeout(60_000),
    ...(others.assets !== undefined && { assets: others.assets }),
  });
}

async function readItems(directory: string): Promise<readonly { readonly item: StacItem; readonly folder: string }[]> {
  const catalog = JSON.parse(await readFile(join(directory, "catalog.json"), "utf8")) as {
    links: { rel: string; href: string }[];
  };
  return Promise.all(
    catalog.links
      .filter(({ rel }) => rel === "item")
      .map(async ({ href }) => ({
        item: JSON.parse(await readFile(join(directory, href), "utf8")) as StacItem,
        folder: join(directory, href, ".."),
      })),
  );
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const hashOf = async (path: string): Promise<string> => sha256(await readFile(path));

test("an item becomes a catalogue of its own with the assets that are wanted", needsNginx, async () => {
  const staged = await stage(`${nginx.url}/canberra/item.json`, { assets: ["red", "nir"] });
  assert.equal(staged.kind, "directory");
  const [found, ...others] = await readItems(staged.path);
  assert.ok(found !== undefined && others.length === 0);
  assert.deepEqual(Object.keys(found.item.assets).toSorted(), ["nir", "red"]);
  assert.equal(
    await hashOf(join(found.folder, found.item.assets["red"]?.href ?? "")),
    await hashOf(join(SCENES, "canberra/B3.tif")),
  );
  assert.deepEqual(await readdir(staged.path).then((names) => names.toSorted()), [
    "LS5_TM_NBAR_P54_GANBAR01-002_090_084_19920323",
    "catalog.json",
  ]);
  assert.ok(found.item.links.some(({ rel, href }) => rel === "via" && href === `${nginx.url}/canberra/item.json`));
});

test("a catalogue is followed to its items", needsNginx, async () => {
  const staged = await stage(`${nginx.url}/lommel/catalog.json`);
  const [found] = await readItems(staged.path);
  assert.deepEqual(Object.keys(found?.item.assets ?? {}), ["blue", "green", "red", "nir"]);
  assert.ok(staged.bytes > 2_700_000);
  assert.equal((await readItems((await stage(`${nginx.url}/lommel/`, { assets: [] })).path)).length, 1);
});

test("a search is followed over its pages, circles end, and items found twice are kept apart", async (t) => {
  const page = (name: string, next: string | undefined) => ({
    type: "FeatureCollection",
    features: [
      {
        type: "Feature",
        id: "../../same",
        geometry: null,
        properties: { datetime: null },
        links: [],
        assets: { "../data": { href: `data:text/plain,${name}`, type: "text/plain" } },
      },
    ],
    links: next === undefined ? [] : [{ rel: "next", href: next }],
  });
  const server = await startServer(t, ({ url }, response) => {
    const pages = {
      "/search": page("one", "?page=2"),
      "/search?page=2": page("two", undefined),
      "/circle": page("one", "/circle#again"),
    };
    response.setHeader("content-type", "application/geo+json").end(JSON.stringify(pages[url as keyof typeof pages]));
  });
  const staged = await stage(`${server.url}/search`);
  const items = await readItems(staged.path);
  assert.equal(items.length, 2);
  const texts = await Promise.all(
    items.map(({ item, folder: at }) => readFile(join(at, item.assets["../data"]?.href ?? ""), "utf8")),
  );
  assert.deepEqual(texts.toSorted(), ["one", "two"]);
  await assert.rejects(stage(`${server.url}/circle`), {
    code: "source",
    message: /read before: the search never ends/,
  });
});

test("objects, folders and catalogues of an object store", async () => {
  const { put } = objstore;
  const b3 = await readFile(join(SCENES, "canberra/B3.tif"));
  await put(
    "scene/catalog.json",
    JSON.stringify({ type: "Catalog", id: "c", links: [{ rel: "item", href: "./deep/item.json" }] }),
  );
  const item = {
    type: "Feature",
    id: "i",
    geometry: null,
    properties: {},
    assets: { red: { href: "../B 3#.tif", "file:checksum": `1220${sha256(b3)}` } },
  };
  await put("scene/deep/item.json", JSON.stringify(item));
  await put("scene/B 3#.tif", b3);
  await put("plain/a", "file and folder");
  await put("plain/a/b.txt", "below");
  const access = openAccess({ s3: [{ ...objstore.endpoint, buckets: ["results"] }] });
  const [found] = await readItems((await stage("s3://results/scene/", { access })).path);
  assert.equal(await hashOf(join(found?.folder ?? "", "B 3#.tif")), sha256(b3));
  assert.equal(found?.item.assets["red"]?.href, "./B 3%23.tif");
  const plain = await stage("s3://results/plain/", { access });
  assert.equal(await readFile(join(plain.path, "a-2/b.txt"), "utf8"), "below");
  assert.deepEqual(Object.keys((await readItems(plain.path))[0]?.item.assets ?? {}), ["a", "a-2/b.txt"]);
  const file = await stage({ href: "s3://results/plain/a", as: "file", size: 15 }, { access });
  assert.equal(await readFile(file.path, "utf8"), "file and folder");
  await assert.rejects(stage("s3://results/none.tif", { access }), {
    code: "source",
    message: "s3://results/none.tif: there is no such object",
  });
  await assert.rejects(stage("s3://other/none.tif", { access }), {
    code: "access",
    message: /the bucket "other" is not one that you can read here \(/,
  });
});

test("data addresses and plain files", needsNginx, async () => {
  const file = await stage({ href: "data:application/geo+json;base64,e30=", as: "file" });
  assert.match(file.path, /input\.geojson$/);
  assert.equal(await readFile(file.path, "utf8"), "{}");
  const item = {
    type: "Feature",
    id: "inline",
    geometry: null,
    properties: {},
    assets: { red: { href: `${nginx.url}/canberra/B3.tif` } },
  };
  const inline = await stage(`data:application/json,${encodeURIComponent(JSON.stringify(item))}`);
  assert.ok(existsSync(join(inline.path, "inline/B3.tif")));
  const plain = await stage(`${nginx.url}/canberra/B3.tif`);
  assert.equal((await readItems(plain.path))[0]?.item.assets["B3.tif"]?.type, "image/tiff");
  await assert.rejects(stage("file:///etc/passwd"), {
    code: "access",
    message: /use an http, https, s3 or data address/,
  });
});

test("what a broken attempt left is continued with If-Range, also by another process", async (t) => {
  const bytes = Buffer.alloc(3_000_000, "0123456789");
  const asked: (string | undefined)[] = [];
  let etag = '"one"';
  const server = await startServer(t, ({ headers }, response) => {
    asked.push(headers.range);
    const start = headers["if-range"] === etag ? Number(/\d+/.exec(headers.range ?? "")?.[0]) : 0;
    response.writeHead(start > 0 ? 206 : 200, {
      etag,
      "content-length": bytes.length - start,
      ...(start > 0 && { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (asked.length % 2 === 1) {
      response.write(bytes.subarray(start, start + 2_000_000), () => response.destroy());
    } else {
      response.end(bytes.subarray(start));
    }
  });
  const access = openAccess({ limits: { stallSeconds: 20, retries: 0 } });
  const target = join(folder, "resumed");
  const source = { href: `${server.url}/x.bin`, as: "file" } as const;
  await assert.rejects(stage(source, { access, target }), { code: "source", temporary: true });
  assert.ok(!existsSync(join(target, "x.bin")));
  const staged = await stage(source, { access, target });
  assert.equal(await hashOf(staged.path), sha256(bytes));
  assert.match(asked[1] ?? "", /^bytes=[1-9]\d+-$/);

  const changed = join(folder, "changed");
  await assert.rejects(stage(source, { access, target: changed }));
  etag = '"two"';
  assert.equal(await hashOf((await stage(source, { access, target: changed })).path), sha256(bytes));
});

test("the platform's own services are reached by their peers, with the caller's headers and nobody else's", async (t) => {
  const seen: string[] = [];
  const server = await startServer(t, ({ url, headers }, response) => {
    seen.push(`${url} ${headers.host} ${headers.authorization}`);
    if (url?.endsWith("/away") === true) {
      response.writeHead(302, { location: `${server.url}/outside` }).end();
    } else {
      response.end("ok");
    }
  });
  const access = openAccess({
    internal: [
      {
        publicUrl: "https://catalogue.swath.localhost",
        peerUrl: `${server.url}/anonymous`,
        workspacesOf: "swath.localhost",
        asCaller: { peerUrl: `${server.url}/caller`, headers: { authorization: "Bearer t" } },
      },
    ],
  });
  await stage({ href: "https://catalogue.swath.localhost/a", as: "file" }, { access });
  await stage({ href: "https://catalogue.swath.localhost/away", as: "file" }, { access });
  await stage({ href: "https://catalogue.ws-eric.swath.localhost/b", as: "file" }, { access });
  assert.deepEqual(seen.splice(0), [
    "/caller/a catalogue.swath.localhost Bearer t",
    "/caller/away catalogue.swath.localhost Bearer t",
    `/outside ${new URL(server.url).host} undefined`,
    "/caller/b catalogue.ws-eric.swath.localhost Bearer t",
  ]);
  // Neither is a host of a workspace.
  for (const host of ["catalogue.a.b.swath.localhost", "catalogue.ws-eric.swath.localhost:81"]) {
    await assert.rejects(stage({ href: `https://${host}/c`, as: "file" }, { access }), StagingError);
  }
  assert.deepEqual(seen, []);
});

test("strangers' documents do not get at what is the caller's own", async (t) => {
  await objstore.put("private/secret.txt", "secret");
  const seen: string[] = [];
  const peer = await startServer(t, ({ url, headers }, response) => {
    seen.push(`${url} ${headers.authorization}`);
    response.end(url === "/own.json" ? item("s3://results/private/secret.txt") : "text");
  });
  const item = (href: string) =>
    JSON.stringify({ type: "Feature", id: "i", geometry: null, properties: {}, assets: { a: { href } } });
  const stranger = await startServer(t, ({ url }, response) => {
    if (url === "/away") {
      response.writeHead(302, { location: "https://own.swath.localhost/redirected" }).end();
    } else {
      response.setHeader("content-type", "application/json");
      response.end(item(url === "/s3" ? "s3://results/private/secret.txt" : "https://own.swath.localhost/named"));
    }
  });
  const access = openAccess({
    s3: [{ ...objstore.endpoint, isPrivate: true }],
    internal: [
      {
        publicUrl: "https://own.swath.localhost",
        peerUrl: peer.url,
        asCaller: { peerUrl: peer.url, headers: { authorization: "Bearer t" } },
      },
    ],
  });
  await assert.rejects(stage(`${stranger.url}/s3`, { access }), {
    code: "access",
    message: /is private, and .* may not send a job there/,
  });
  await stage(`${stranger.url}/http`, { access });
  await stage({ href: `${stranger.url}/away`, as: "file" }, { access });
  assert.deepEqual(seen.splice(0), ["/named undefined", "/redirected undefined"]);
  // What the caller names, what its own documents name, and what it writes itself:
  await stage({ href: "s3://results/private/secret.txt", as: "file" }, { access });
  await stage("https://own.swath.localhost/own.json", { access });
  await stage(`data:application/json,${encodeURIComponent(item("s3://results/private/secret.txt"))}`, { access });
  assert.deepEqual(seen, ["/own.json Bearer t"]);
});

test("a file that was all here when its process ended is not refused (416)", async (t) => {
  const server = await startServer(t, ({ headers }, response) => {
    const isAll = headers.range === "bytes=2000000-";
    response.writeHead(isAll ? 416 : 200, { etag: '"one"', "content-length": isAll ? 0 : 2_000_000 });
    if (isAll) {
      response.end();
    } else {
      // Everything comes, but the connection stays open: cut by the clock of the first attempt.
      response.end(Buffer.alloc(2_000_000, "x"));
    }
  });
  const target = join(folder, "all-here");
  const source = { href: `${server.url}/x`, as: "file" } as const;
  await assert.rejects(
    stage({ ...source, checksum: `sha1$${"0".repeat(40)}` }, { target }),
    /arrived with the sha1 checksum/,
  );
  const [part = ""] = (await readdir(join(target, ".staging"))).filter((name) => name.endsWith(".part"));
  await writeFile(join(target, ".staging", part), Buffer.alloc(2_000_000, "x"));
  await writeFile(join(target, ".staging", part.replace(".part", ".json")), '{"validator":"\\"one\\""}');
  assert.equal((await stage(source, { target })).bytes, 2_000_000);
});

test("a cancelled job ends with the reason; a target that is no directory is an error", async (t) => {
  const server = await startServer(t, (_, response) => void response.write("x"));
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error("dismissed")), 200);
  await assert.rejects(
    stageIn({
      source: { href: server.url, as: "file" },
      target: join(folder, "cancelled"),
      access: openAccess(),
      signal: stop.signal,
    }),
    /dismissed/,
  );
  await writeFile(join(folder, "in-the-way"), "");
  await assert.rejects(stage("data:,x", { target: join(folder, "in-the-way") }), { code: "ENOTDIR" });
});
