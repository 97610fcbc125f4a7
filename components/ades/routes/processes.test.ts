import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";

import { createProcessingService } from "../service.ts";

test("a user deploys at most 300 packages in a minute, with both interfaces together, and is told when to come back", async () => {
  const app = await createProcessingService({
    logger: createLogger("test", "silent"),
    settings: { PUBLIC_URL: "https://ades.example.org" },
    guard: async () => {},
    limits: new CallerLimits(),
  } as never);
  const deploy = (user: string, face: string) =>
    app.inject({
      method: "POST",
      url: `/${user}/${face}/processes`,
      headers: { "content-type": "application/json" },
      payload: "{}",
    });
  for (let sent = 0; sent < 300; sent += 1) {
    assert.equal((await deploy("eric", sent % 2 === 0 ? "wps3" : "ogc-api")).statusCode, 400);
  }
  const refused = await deploy("eric", "ogc-api");
  assert.equal(refused.statusCode, 429, refused.body);
  assert.match(refused.body, /300 deployments in 60 s/);
  assert.ok(Number(refused.headers["retry-after"]) >= 1);
  assert.equal((await deploy("alice", "ogc-api")).statusCode, 400);
  await app.close();
});
