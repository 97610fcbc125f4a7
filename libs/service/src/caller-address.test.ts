import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LOCAL_ADDRESS } from "./caller-address.ts";
import { createApp } from "./fastify.ts";
import { createLogger } from "./log.ts";

test("a caller by a unix socket has the address of this machine, or the one that a proxy names", async () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-caller-address-"));
  const socketPath = join(folder, "socket");
  const app = createApp(createLogger("caller-address", "silent"));
  app.get("/", ({ ip }) => ({ ip }));
  await app.listen({ path: socketPath });
  try {
    assert.deepEqual(await get(socketPath, {}), { ip: LOCAL_ADDRESS });
    assert.deepEqual(await get(socketPath, { "x-forwarded-for": "192.0.2.7" }), { ip: "192.0.2.7" });
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
});

function get(socketPath: string, headers: Record<string, string>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: "/", headers, agent: false }, (response) => {
      let text = "";
      response
        .setEncoding("utf8")
        .on("data", (part: string) => (text += part))
        .on("end", () => resolve(JSON.parse(text)));
    })
      .on("error", reject)
      .end();
  });
}
