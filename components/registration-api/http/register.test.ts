import assert from "node:assert/strict";
import { test } from "node:test";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { Registry } from "prom-client";

import { createRegistrationApi } from "../service.ts";
import type { ApiContext } from "./context.ts";

test("a user registers at most 3000 times in a minute, is told when to come back, and the operator sees it", async () => {
  const metrics = new Registry();
  const app = await createRegistrationApi(createLogger("test", "silent"), {
    pool: { query: async () => ({ rows: [{ id: "1" }] }) } as unknown as ApiContext["pool"],
    publicUrl: "https://registration-api.example.org",
    catalogueUrl: "https://resource-catalogue.example.org",
    limits: new CallerLimits(metrics),
    callerOf: async ({ headers }) => ({ isAdmin: true, user: { id: String(headers["x-user"]) } }),
  });
  const register = (user: string) =>
    app.inject({
      method: "POST",
      url: "/register",
      headers: { "x-user": user },
      payload: { type: "stac-item", url: "https://example.org/item.json" },
    });
  for (let sent = 0; sent < 3000; sent += 1) {
    assert.equal((await register("eric")).statusCode, 202);
  }
  const refused = await register("eric");
  assert.equal(refused.statusCode, 429);
  assert.ok(Number(refused.headers["retry-after"]) >= 1);
  assert.equal((await register("admin")).statusCode, 202);
  assert.match(await metrics.metrics(), /caller_limit_refusals_total\{limit="registrations",by="user"\} 1/);
  await app.close();
});
