import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { waitUntil } from "@swath/testing";

import { createAddressedStore } from "../tiles/purge-pictures.ts";
import { run } from "./fixture.ts";
import { collection, readSceneFile, scene, startPlatform } from "./platform.ts";

const AREA = "bbox=15.2,46.3,15.4,46.4&width=64";

test("scenes of workspaces show without a setting, for who may read them and for nobody else", async (t) => {
  const { catalogue, catalogueUrl, dataAccess, putObject, s3Url } = await startPlatform(t);
  const create = async (user: string, path: string, body: unknown) => {
    const { status, bytes } = await catalogue(user, path, { method: "POST", body });
    assert.equal(status, 201, bytes.toString());
  };
  for (const file of ["B04.tif", "B08.tif", "SCL.tif"]) {
    await putObject("ws-eric", `scenes/${file}`, readSceneFile(file));
  }
  const nameOf = (href: string) => href.split("/").at(-1) ?? "";
  await create("eric", "/stac/collections?workspace=ws-eric", collection("fields"));
  await create(
    "eric",
    "/stac/collections/fields/items",
    scene("summer", (href) => `s3://ws-eric/scenes/${nameOf(href)}`),
  );
  const map = (path: string) => `/collections/${path}/styles/ndvi/map?f=png&${AREA}`;

  // Within 2 s, by the name of the collection and as a layer of its own.
  await waitUntil("the layer", async () => (await dataAccess("eric", "/collections/fields")).status === 200);
  const shown = await dataAccess("eric", map("fields"));
  assert.equal(shown.status, 200, shown.bytes.toString("utf8", 0, 300));
  const blank = await dataAccess("eric", `${map("fields")}&datetime=1990`);
  assert.notDeepEqual(shown.bytes, blank.bytes);
  for (const id of ["fields__summer", "summer"]) {
    assert.deepEqual((await dataAccess("eric", map(id))).bytes, shown.bytes, id);
  }

  await t.test("nobody else sees it, whatever they ask for and whoever asked before", async () => {
    const etag = String(shown.headers["etag"]);
    for (const user of ["bob", undefined]) {
      for (const path of ["/collections/fields", map("fields"), map("summer"), map("fields__summer")]) {
        const { status } = await dataAccess(user, path, { headers: { "if-none-match": etag } });
        assert.equal(status, 404, `${path} for ${user}`);
      }
      const { bytes } = await dataAccess(user, "/ows?service=WMS&request=GetCapabilities");
      assert.doesNotMatch(bytes.toString(), /fields|summer/);
    }
    assert.equal((await dataAccess("eric", map("fields"), { headers: { "if-none-match": etag } })).status, 304);
  });

  await t.test("a record that names the files of others leads nowhere, by any form of address", async () => {
    await create("bob", "/stac/collections?workspace=ws-bob&visibility=public", collection("stolen"));
    for (const [at, prefix] of [
      "s3://ws-eric/scenes",
      "s3://ws-bob/../ws-eric/scenes",
      `${s3Url}/ws-eric/scenes`,
      `${s3Url}/ws-bob/%2e%2e/ws-eric/scenes`,
    ].entries()) {
      await create(
        "bob",
        "/stac/collections/stolen/items",
        scene(`item-${at}`, (href) => `${prefix}/${nameOf(href)}`),
      );
      const { status, bytes } = await dataAccess("bob", map(`stolen__item-${at}`));
      const empty = await dataAccess("bob", `${map(`stolen__item-${at}`)}&datetime=1990`);
      assert.equal(status, 200);
      assert.deepEqual(bytes, empty.bytes, prefix);
    }
  });

  await t.test("an item by its address in the catalogue, for who may read it", async () => {
    const item = "http://resource-catalogue.swath.localhost/stac/collections/fields/items/summer";
    const at = (path: string) => `/stac/${path}?url=${encodeURIComponent(item)}`;
    const info = await dataAccess("eric", at("info"));
    assert.equal(info.status, 200, info.bytes.toString());
    const assets = await dataAccess("eric", at("assets"));
    assert.ok((assets.json as string[]).includes("red"), assets.bytes.toString());
    const picture = await dataAccess(
      "eric",
      `${at("preview.png")}&expression=(nir-red)/(nir%2Bred)&rescale=0,1&max_size=64`,
    );
    assert.equal(picture.headers["content-type"], "image/png", picture.bytes.toString("utf8", 0, 300));
    const tile = await dataAccess("eric", `${at("tiles/WebMercatorQuad/9/277/181.png")}&assets=red&rescale=0,3000`);
    assert.equal(tile.status, 200, tile.bytes.toString("utf8", 0, 300));
    const path = "collections/fields/items/summer";
    for (const base of [
      "https://resource-catalogue.swath.localhost/stac",
      "http://resource-catalogue-open.swath.localhost/stac",
      "http://resource-catalogue.ws-eric.swath.localhost/stac",
      "http://resource-catalogue.swath.localhost",
      `${catalogueUrl}/stac`,
    ]) {
      const address = `/stac/assets?url=${encodeURIComponent(`${base}/${path}`)}`;
      assert.equal((await dataAccess("eric", address)).status, 200, base);
      for (const user of ["bob", undefined]) {
        assert.equal((await dataAccess(user, address)).status, 404, `${base} for ${user}`);
      }
    }
    for (const path of [at("info"), at("preview.png"), "/stac/info?url=https%3A%2F%2Fexample.org%2Fitem.json"]) {
      assert.equal((await dataAccess("bob", path)).status, 404, path);
    }
    assert.equal((await dataAccess("eric", "/stac/info")).status, 400);
  });

  await t.test("the host of a workspace shows that workspace alone", async () => {
    const names = async (user: string, workspace?: string) =>
      (
        (await dataAccess(user, "/collections", { ...(workspace !== undefined && { workspace }) })).json as {
          collections: { id: string }[];
        }
      ).collections.map(({ id }) => id);
    assert.deepEqual(await names("eric", "ws-eric"), ["fields"]);
    assert.deepEqual(await names("eric", "ws-bob"), ["stolen"]);
    assert.deepEqual(await names("bob", "ws-eric"), []);
    assert.deepEqual((await names("eric")).toSorted(), ["fields", "stolen"]);
    assert.equal((await dataAccess("eric", map("fields"), { workspace: "ws-eric" })).status, 200);
    assert.equal((await dataAccess("eric", map("fields"), { workspace: "ws-bob" })).status, 404);
  });

  await t.test("pictures are kept in the object storage by their layer, until they are purged", async () => {
    const pictures = createAddressedStore({
      url: s3Url,
      region: "us-east-1",
      accessKeyId: "root",
      secretAccessKey: "root-password",
      bucket: "data-access-tiles",
    });
    t.after(() => pictures.close());
    await waitUntil("a kept picture", async () => (await pictures.list("fields")).length > 0);
    assert.deepEqual(await pictures.list("nothing"), []);
    const kept = await pictures.list("fields");
    const { status, stderr } = await run(process.execPath, [join(import.meta.dirname, "../purge.ts")], {
      PURGE_URL: s3Url,
      PURGE_ACCESS_KEY: "root",
      PURGE_SECRET_KEY: "root-password",
      PURGE_LAYER: "fields",
    });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /(\d+) of \1 pictures removed, 100 %/);
    // One that was on its way meanwhile may have come since.
    const left = await pictures.list("fields");
    assert.deepEqual(
      kept.filter((name) => left.includes(name)),
      [],
    );
  });

  await t.test("styles are kept with the collection, by who may write it", async () => {
    const path = "/collections/fields/styles/dry";
    const style = { title: "Dry", expression: "(nir-red)/(nir+red)", rescale: [[0, 1]], colormap_name: "viridis" };
    assert.equal((await dataAccess("bob", path, { method: "PUT", body: style })).status, 404);
    const kept = await dataAccess("eric", path, { method: "PUT", body: style });
    assert.equal(kept.status, 200, kept.bytes.toString());
    assert.equal((await dataAccess("eric", path)).json.title, "Dry");
    const stored = (await catalogue("eric", "/stac/collections/fields")).json as { renders: Record<string, unknown> };
    assert.deepEqual(stored.renders["dry"], style);
    assert.equal((await dataAccess("eric", map("fields").replace("ndvi", "dry"))).status, 200);
    assert.equal(
      (await dataAccess("eric", path, { method: "PUT", body: { expression: "process.exit()" } })).status,
      400,
    );
    assert.equal((await dataAccess("eric", path, { method: "DELETE" })).status, 204);
    assert.equal((await dataAccess("eric", path)).status, 404);
  });

  await t.test("the old address of searches leads to the catalogue", async () => {
    const { status, headers } = await dataAccess("eric", "/opensearch?q=x", { workspace: "ws-eric" });
    assert.equal(status, 307);
    assert.equal(headers["location"], "http://resource-catalogue.ws-eric.swath.localhost/opensearch?q=x");
  });

  await t.test(
    "the addresses of eoAPI: STAC and features lead to the catalogue, TiTiler's are below /raster",
    async () => {
      const open = "http://resource-catalogue.ws-eric.swath.localhost";
      for (const [path, method, location] of [
        ["/stac", "GET", "/stac"],
        ["/stac/collections/fields/items?limit=2", "GET", "/stac/collections/fields/items?limit=2"],
        ["/stac/search", "POST", "/stac/search"],
        ["/vector/collections", "GET", "/collections"],
        ["/vector?f=json", "GET", "/?f=json"],
      ] as const) {
        const body = method === "POST" ? { body: { limit: 1 } } : {};
        const { status, headers } = await dataAccess("eric", path, { workspace: "ws-eric", method, ...body });
        assert.deepEqual([status, headers["location"]], [307, `${open}${location}`], path);
      }
      for (const path of ["/raster/healthz", "/vector/healthz", "/raster/collections/fields", "/raster"]) {
        assert.equal((await dataAccess("eric", path)).status, 200, path);
      }
      // TiTiler's own addresses below /stac stay here.
      assert.equal((await dataAccess("eric", "/stac/info")).status, 400);
      assert.equal((await dataAccess("eric", "/rasters")).status, 404);
    },
  );

  await t.test("what is deregistered is gone", async () => {
    assert.equal((await catalogue("eric", "/stac/collections/fields/items/summer", { method: "DELETE" })).status, 204);
    await waitUntil("the layer to go", async () => (await dataAccess("eric", map("summer"))).status === 404);
  });
});
