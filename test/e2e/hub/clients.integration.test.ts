// The clients for programs, against the catalogue and data access: an item is found and one of its bands read as values.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";

import {
  type Platform,
  collection,
  readSceneFile,
  scene,
  startPlatform,
} from "../../../components/data-access/test/platform.ts";

const CLIENTS = join(import.meta.dirname, "../../../components/application-hub/clients");
const PYTHON = "/usr/bin/python3";

test("search and open give the same values in Python and in JavaScript", async (t) => {
  const platform = await startPlatform(t);
  for (const file of ["B04.tif", "B08.tif"]) {
    await platform.putObject("ws-eric", `scenes/${file}`, readSceneFile(file));
  }
  const create = async (path: string, body: unknown) => {
    const { status, bytes } = await platform.catalogue("eric", path, { method: "POST", body });
    assert.equal(status, 201, bytes.toString());
  };
  await create("/stac/collections?workspace=ws-eric", collection("fields"));
  const item = scene("summer", (href) => `s3://ws-eric/scenes/${href.split("/").at(-1) ?? ""}`);
  await create("/stac/collections/fields/items", item);
  await waitUntil("the layer", async () => (await platform.dataAccess("eric", "/collections/fields")).status === 200);
  const services = await startFront(platform, (close) => t.after(close));
  const assets = item["assets"] as Record<string, { href: string }>;
  const [red = ""] = Object.entries(assets).find(([, { href }]) => href.endsWith("B04.tif")) ?? [];
  const [nir = ""] = Object.entries(assets).find(([, { href }]) => href.endsWith("B08.tif")) ?? [];

  const swath = (await import(join(CLIENTS, "javascript/swath.js"))) as Client;
  swath.connect({ services, token: "eric", user: "eric" });
  const [found] = await swath.search({ collections: ["fields"], bbox: [15, 46, 16, 47] });
  assert.equal(found?.id, "summer");
  const bands = [await swath.open(found, red, { maxSize: 64 }), await swath.open(found, nir, { maxSize: 64 })] as const;
  const index = swath.ndvi(...bands);
  const mean = (values: ArrayLike<number>) => Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
  assert.deepEqual([index.shape[0], Math.max(...index.shape.slice(1))], [1, 64]);
  assert.ok(mean(index.bands[0] ?? []) > 0.3, "it is green in summer");
  await assert.rejects(swath.open(found, "nonsense"), /no asset nonsense; there are/);
  // Nobody's token: a private scene is not found.
  swath.connect({ services, token: "nobody", user: "bob" });
  assert.deepEqual(await swath.search({ collections: ["fields"] }), []);

  await t.test("Python", { skip: existsSync(PYTHON) ? false : "needs python3 (apt-get install python3)" }, async () => {
    const program = `
import swath
swath.connect(${JSON.stringify(services)}, token="eric", user="eric")
item, = swath.search(collections=["fields"], bbox=[15, 46, 16, 47])
red, nir = swath.open(item, ${JSON.stringify(red)}, max_size=64), swath.open(item, ${JSON.stringify(nir)}, max_size=64)
index = swath.ndvi(red, nir)
print(*index.shape, round(sum(index.bands[0]) / len(index.bands[0]), 6))`;
    const { status, stdout, stderr } = await runCommand(PYTHON, ["-c", program], {
      env: { PATH: "/usr/bin:/bin", PYTHONPATH: join(CLIENTS, "python"), PYTHONDONTWRITEBYTECODE: "1" },
    });
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), `${index.shape.join(" ")} ${Number(mean(index.bands[0] ?? []).toFixed(6))}`);
  });
});

interface Raster {
  readonly shape: readonly number[];
  readonly bands: readonly ArrayLike<number>[];
}
interface Client {
  readonly connect: (options: object) => void;
  readonly search: (options: object) => Promise<readonly { readonly id: string }[]>;
  readonly open: (item: object, asset: string, options?: object) => Promise<Raster>;
  readonly ndvi: (red: Raster, nearInfrared: Raster) => Raster;
}

/** Both services at addresses of this machine; the token is the user's name. */
async function startFront(
  platform: Platform,
  onEnd: (close: () => void) => void,
): Promise<Readonly<Record<string, string>>> {
  const respondWith = async (request: IncomingMessage, response: ServerResponse) => {
    const [, service = "", rest = ""] = /^\/(catalogue|data)(\/.*)$/.exec(request.url ?? "") ?? [];
    const parts: Buffer[] = [];
    for await (const part of request) {
      parts.push(part as Buffer);
    }
    const user = request.headers.authorization === "Bearer eric" ? "eric" : undefined;
    const reply = await platform[service === "data" ? "dataAccess" : "catalogue"](user, rest, {
      method: request.method ?? "GET",
      ...(parts.length > 0 && { body: JSON.parse(Buffer.concat(parts).toString()) as unknown }),
    });
    response.writeHead(reply.status, { "content-type": String(reply.headers["content-type"]) }).end(reply.bytes);
  };
  const server = createServer((request, response) => {
    respondWith(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { "resource-catalogue": `${base}/catalogue`, "data-access": `${base}/data` };
}
