import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { makeGeoZarr } from "../../../libs/raster/test/zarr-files.ts";
import { readSceneFile, startPlatform } from "./platform.ts";

const KEY = "scenes/a b+c.tif";

test("shows files of the object storage by their address, with the rights of the caller alone", async (t) => {
  const { dataAccess, putObject, signer, sendSigned, s3Url } = await startPlatform(t);
  const encoded = KEY.split("/").map(encodeURIComponent).join("/");
  await putObject("ws-eric", encoded, readSceneFile("B04.tif"));
  const addresses = [`s3://ws-eric/${KEY}`, `${s3Url}/ws-eric/${encoded}`];
  const at = (path: string, address: string) => `/cog/${path}?url=${encodeURIComponent(address)}`;
  const statusOf = async (user: string | undefined, address: string) =>
    (await dataAccess(user, at("info", address))).status;

  for (const address of addresses) {
    const info = await dataAccess("eric", at("info", address));
    assert.equal(info.status, 200, `${address}: ${info.bytes.toString()}`);
    assert.equal(info.json.count, 1);
    // Also after the owner had it opened.
    for (const user of ["bob", "nora", undefined]) {
      assert.equal(await statusOf(user, address), 403, `${address} for ${user}`);
    }
  }
  for (const path of ["preview.png", "tiles/WebMercatorQuad/9/277/181.png"]) {
    const own = `${at(path, addresses[0]!)}&rescale=0,3000`;
    assert.equal((await dataAccess("eric", own)).headers["content-type"], "image/png", path);
    assert.equal((await dataAccess("bob", own)).status, 403, path);
    assert.equal((await dataAccess(undefined, own)).status, 403, path);
  }
  const statistics = await dataAccess("eric", at("statistics", addresses[1]!));
  assert.ok(statistics.json.b1.max > 0, statistics.bytes.toString());

  await t.test("a signed address carries its own rights", async () => {
    const signed = await signer.presign({ url: `${s3Url}/ws-eric/${encoded}`, seconds: 300 });
    assert.equal(await statusOf(undefined, signed), 200);
    assert.equal(await statusOf(undefined, signed.replace(/Signature=.{4}/, "Signature=0000")), 403);
    assert.equal(await statusOf("bob", signed.replace("a%20b%2Bc", "other")), 403);
  });

  await t.test("public objects are for everybody", async () => {
    const policy = await sendSigned(
      "PUT",
      "/ws-eric?policy",
      JSON.stringify({
        Version: "2012-10-17",
        Statement: [
          { Effect: "Allow", Principal: "*", Action: ["s3:GetObject"], Resource: ["arn:aws:s3:::ws-eric/scenes/*"] },
        ],
      }),
    );
    assert.equal(policy.status, 204, await policy.text());
    for (const user of ["bob", "nora", undefined]) {
      assert.equal(await statusOf(user, addresses[0]!), 200, String(user));
    }
    const removed = await sendSigned("DELETE", "/ws-eric?policy");
    assert.equal(removed.status, 204);
  });

  await t.test("says what is wrong with an address and a login", async () => {
    for (const [address, status] of [
      ["s3://ws-eric/missing.tif", 404],
      [`${s3Url}/ws-eric/missing.tif`, 404],
      ["s3://ws-eric", 400],
      ["s3://ws-eric/../ws-bob/x.tif", 400],
      [`${s3Url}/ws-eric/${encoded}?versionId=1`, 400],
      [`${s3Url}/`, 400],
    ] as const) {
      assert.equal(await statusOf("eric", address), status, address);
    }
    const { status, json } = await dataAccess(undefined, at("info", addresses[0]!), {
      headers: { authorization: "Bearer no.token.here" },
    });
    assert.equal(status, 401, JSON.stringify(json));
  });
});

test("shows Zarr data of the object storage, also where nothing consolidates its metadata", async (t) => {
  const { dataAccess, putObject, s3Url } = await startPlatform(t);
  const folder = mkdtempSync(join(tmpdir(), "swath-zarr-"));
  t.after(() => rmSync(folder, { recursive: true }));
  makeGeoZarr(folder, { consolidated: false });
  for (const name of globSync("**/*", { cwd: folder })) {
    if (statSync(join(folder, name)).isFile()) {
      await putObject("ws-eric", `cubes/geo.zarr/${name}`, readFileSync(join(folder, name)));
    }
  }
  const infoOf = (user: string | undefined, path: string, from = "s3://ws-eric") =>
    dataAccess(user, `/cog/info?url=${encodeURIComponent(`${from}/cubes/geo.zarr${path}`)}`);
  const whole = await infoOf("eric", "");
  assert.equal(whole.status, 200, whole.bytes.toString());
  assert.deepEqual(
    [whole.json.width, whole.json.overviews, whole.json.band_descriptions.map(([, name]: [string, string]) => name)],
    [120, [2, 4], ["0/nir", "0/red"]],
  );
  const level = await infoOf("eric", "/1", `${s3Url}/ws-eric`);
  assert.deepEqual([level.status, level.json.width, level.json.count], [200, 60, 2], level.bytes.toString());
  assert.equal((await infoOf("eric", "/1/red")).json.count, 1);
  for (const user of ["bob", "nora", undefined]) {
    for (const path of ["", "/1", "/1/red"]) {
      assert.equal((await infoOf(user, path)).status, 403, `${path} for ${user}`);
    }
  }
});
