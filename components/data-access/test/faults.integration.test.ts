import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";

import { start } from "./fixture.ts";

const SCENES = join(import.meta.dirname, "../../../examples/scenes");
const TILE = "/collections/scenes/tiles/WebMercatorQuad/9/277/181.png?style=ndvi";

/** A server of one file on a port, that may be silent. */
async function serve(port: number, silent: boolean): Promise<{ server: Server; open: () => number }> {
  const file = readFileSync(join(SCENES, "lommel/B04.tif"));
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
    const body = file.subarray(from, to + 1);
    if (!silent) {
      response
        .writeHead(206, { "content-range": `bytes ${from}-${from + body.length - 1}/${file.length}`, etag: '"1"' })
        .end(body);
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { server, open: () => open };
}

function closeLater(t: TestContext, server: Server): void {
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
}

test("a client that goes away takes its work with it", async (t) => {
  const [port = 0] = await findFreePorts(1);
  const { server, open } = await serve(port, true);
  closeLater(t, server);
  const { url } = await start(t, { ALLOWED_HOSTS: `127.0.0.1:${port}` });
  const leaving = new AbortController();
  const request = fetch(`${url}/cog/preview.png?url=http://127.0.0.1:${port}/x.tif`, { signal: leaving.signal });
  await waitUntil("the source to be asked", () => open() === 1);
  leaving.abort();
  await assert.rejects(request, { name: "AbortError" });
  await waitUntil("the source to be let go of", () => open() === 0);
  assert.equal((await fetch(`${url}${TILE}`)).status, 200);
});

test("a storage that is away is said to be, and is read again as soon as it is back", async (t) => {
  const [port = 0] = await findFreePorts(1);
  const { url } = await start(t, { ALLOWED_HOSTS: `127.0.0.1:${port}` });
  const preview = () => fetch(`${url}/cog/preview.png?url=http://127.0.0.1:${port}/x.tif&rescale=0,3000`);
  const first = await serve(port, false);
  assert.equal((await preview()).status, 200);
  first.server.closeAllConnections();
  first.server.close();
  const other = () => fetch(`${url}/cog/preview.png?url=http://127.0.0.1:${port}/y.tif&rescale=0,3000`);
  const away = await other();
  assert.ok(away.status >= 500, String(away.status));
  assert.match(await away.text(), /The source does not answer/);
  closeLater(t, (await serve(port, false)).server);
  for (const send of [preview, other]) {
    assert.equal((await send()).status, 200);
  }
});

test("a service that is killed over its work answers the same when it is started again", async (t) => {
  const [port = 0] = await findFreePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const run = async () => {
    const child = spawn(process.execPath, [programFile("data-access/main.ts")], {
      env: {
        ...compiledCode,
        LOG_LEVEL: "error",
        LAYERS_FOLDER: SCENES,
        LISTEN: `127.0.0.1:${port}`,
        MANAGEMENT_LISTEN: "127.0.0.1:0",
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    await waitUntil("data access", async () => (await fetch(`${url}/conformance`)).ok);
    return child;
  };
  const tile = async () => Buffer.from(await (await fetch(`${url}${TILE}`)).arrayBuffer());
  const child = await run();
  const before = await tile();
  const many = Array.from({ length: 20 }, (_, at) =>
    fetch(`${url}${TILE}&rescale=0,0.${at + 1}`).catch(() => undefined),
  );
  child.kill("SIGKILL");
  await Promise.all([once(child, "exit"), ...many]);
  await run();
  assert.deepEqual(await tile(), before);
});
