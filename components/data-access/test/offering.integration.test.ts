import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { getImage, getJson, start } from "./fixture.ts";

const SCENE = join(import.meta.dirname, "../../../examples/scenes/maribor-0820");

test("scenes of a provider's offering are drawn from its storage, with its keys and for its buckets alone", async (t) => {
  const asked: string[] = [];
  // A stand-in for the storage of the provider's data network: path-style addresses, signed requests, ranges.
  const storage = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const { authorization = "", range = "" } = request.headers;
    if (!/^AWS4-HMAC-SHA256 Credential=key-of-the-offering\/\d{8}\/WAW3-1\/s3\/aws4_request/.test(authorization)) {
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return;
    }
    const [, name] = /^\/eodata\/Sentinel-2\/(B0[48]\.tif|SCL\.tif)$/.exec(path) ?? [];
    const [, from = 0, to = Infinity] = /bytes=(\d+)-(\d+)/.exec(range)?.map(Number) ?? [];
    if (name === undefined) {
      response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
      return;
    }
    const whole = readFileSync(join(SCENE, name));
    const body = whole.subarray(from, to + 1);
    response.writeHead(206, { "content-range": `bytes ${from}-${from + body.length - 1}/${whole.length}` }).end(body);
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    storage.closeAllConnections();
    storage.close();
  });
  const { url, folder } = await start(t, {
    CLOUDDATA_S3_ENDPOINT: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
    CLOUDDATA_S3_REGION: "WAW3-1",
    CLOUDDATA_S3_ACCESS_KEY: "key-of-the-offering",
    CLOUDDATA_S3_SECRET_KEY: "secret-of-the-offering",
  });
  // The scene lies nowhere but in the provider's storage.
  for (const name of ["canberra", "lommel", "maribor-0818"]) {
    rmSync(join(folder, name), { recursive: true });
  }
  const item = JSON.parse(readFileSync(join(SCENE, "item.json"), "utf8")) as {
    readonly collection: string;
    readonly assets: Readonly<Record<string, { readonly href: string }>>;
  };
  const assets = Object.fromEntries(
    Object.entries(item.assets).map(([key, asset]) => [
      key,
      { ...asset, href: `s3://eodata/Sentinel-2/${asset.href.replace("./", "")}` },
    ]),
  );
  writeFileSync(join(folder, "maribor-0820/item.json"), JSON.stringify({ ...item, collection: "eodata", assets }));
  for (const name of ["B04.tif", "B08.tif", "SCL.tif"]) {
    rmSync(join(folder, "maribor-0820", name));
  }
  writeFileSync(join(folder, "maribor-0820/catalog.json"), "{}");
  const { mean } = await getImage(`${url}/collections/eodata/map?width=256&height=256&f=png`);
  assert.ok(mean > 5, `the picture is empty: ${mean}`);
  assert.ok(asked.length > 0 && asked.every((path) => path.startsWith("/eodata/Sentinel-2/")), asked.join(" "));

  // Another bucket is none of the offering: nothing is asked for it with the offering's keys.
  const { url: second, folder: other } = await start(t, {
    CLOUDDATA_S3_ENDPOINT: `http://127.0.0.1:${(storage.address() as AddressInfo).port}`,
    CLOUDDATA_S3_ACCESS_KEY: "key-of-the-offering",
    CLOUDDATA_S3_SECRET_KEY: "secret-of-the-offering",
  });
  writeFileSync(
    join(other, "maribor-0820/item.json"),
    JSON.stringify({
      ...item,
      collection: "secrets",
      assets: { B04: { href: "s3://secrets/Sentinel-2/B04.tif", type: "image/tiff; application=geotiff" } },
    }),
  );
  const before = asked.length;
  const { collections } = (await getJson(`${second}/collections`)) as unknown as { collections: { id: string }[] };
  assert.ok(!collections.some(({ id }) => id === "secrets"));
  assert.equal(asked.length, before);
});
