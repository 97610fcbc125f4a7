import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { createControlClient } from "./control-client.ts";
import { createControlKey } from "./state/control-key.ts";
import type { ClusterPaths } from "./state/paths.ts";

async function serveControl(answer: (authorization: string | undefined) => 200 | 401, paths: ClusterPaths) {
  const server = createServer((request, response) => {
    const status = answer(request.headers.authorization);
    response.writeHead(status).end(JSON.stringify(status === 200 ? { pid: 1 } : { error: "show the key" }));
  });
  await new Promise<void>((resolve) => server.listen(paths.controlSocket, resolve));
  return server;
}

test("a supervisor that wrote its key while it was asked is asked again with that key, and only then", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-control-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const paths = {
    controlSocket: join(folder, "control.sock"),
    controlKeyFile: join(folder, "control-key.json"),
  } as ClusterPaths;
  const shown: (string | undefined)[] = [];
  let key: string | undefined;
  const server = await serveControl((authorization) => {
    shown.push(authorization);
    // Listens first, for the one who read the file before.
    key ??= createControlKey(paths);
    return authorization === `Bearer ${key}` ? 200 : 401;
  }, paths);
  t.after(() => server.close());
  assert.equal((await createControlClient(paths).status()).pid, 1);
  assert.deepEqual(shown, [undefined, `Bearer ${key}`]);

  // A key that is wrong and stays so is shown once.
  key = "another";
  shown.length = 0;
  await assert.rejects(createControlClient(paths).status(), /show the key/);
  assert.equal(shown.length, 1);
});
