import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { createApp } from "@swath/service/fastify";

import type { WorkspaceStorage } from "../files/workspace-storage.ts";
import type { SessionGuard } from "./context.ts";
import { addFileRoutes } from "./files.ts";

/** Everything waits for the storage, as with large files. */
const storage = { open: () => new Promise(() => {}), forget: () => {} } as unknown as WorkspaceStorage;
const sessionGuard = {
  enter: async ({ headers }: { headers: Record<string, string> }) => ({
    verified: { token: "", identity: { userId: headers["x-user"] } },
  }),
} as unknown as SessionGuard;

test("a user has four archives and twenty uploads at the same time; those of others go on", async () => {
  for (const [method, path, most] of [
    ["GET", "zip?key=a/", 4],
    ["PUT", "files/a", 20],
  ] as const) {
    const app = createApp(createLogger("test", "silent"));
    addFileRoutes(app, { sessionGuard, storage, limits: new CallerLimits() });
    const send = (user: string) =>
      app.inject({ method, url: `/api/workspaces/ws-eric/${path}`, headers: { "x-user": user } });
    for (let place = 0; place < most; place += 1) {
      void send("eric").catch(() => {});
    }
    const refused = await send("eric");
    assert.equal(refused.statusCode, 429, path);
    assert.ok(Number(refused.headers["retry-after"]) >= 1);
    const other = await Promise.race([send("alice"), new Promise((resolve) => setImmediate(resolve, "it waits"))]);
    assert.equal(other, "it waits");
  }
});
