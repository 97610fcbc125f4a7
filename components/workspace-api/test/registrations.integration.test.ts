import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { waitUntil } from "@swath/testing";

import type { WorkspaceRequest } from "../clients/registration.ts";
import { WorkspaceError } from "../errors.ts";
import { handOnKept } from "../routes/hand-on-kept.ts";
import { createWorkspaceApi } from "../service.ts";
import { type Fixture, startFixture } from "./fixture.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
  const { status } = await fixture.send("admin", "POST", "/workspaces", {
    preferred_name: "eric",
    default_owner: "eric",
  });
  assert.equal(status, 201);
});
after(() => fixture.close());

test("refuses registrations at once where nothing takes them", async () => {
  const register = (user: string, body: object, path = "register") =>
    fixture.send(user, "POST", `/workspaces/ws-eric/${path}`, body);
  for (const [body, path] of [
    [{ type: "STAC-Item", url: "s3://ws-eric/results/" }, "register"],
    [{ id: "scenes", type: "Collection" }, "register-collection"],
    [{ identifier: "scenes" }, "deregister"],
  ] as const) {
    const refused = await register("eric", body, path);
    assert.equal(refused.status, 501, path);
    assert.match(refused.body.detail, /REQUIRE_RESOURCE_CATALOGUE=true/);
  }
  assert.equal((await register("eric", { type: "spaceship", url: "x" })).status, 400);
  assert.equal((await register("eric", { type: "ades" })).status, 422);
  assert.equal((await register("carol", { type: "ades", url: "x" })).status, 404);
  assert.equal((await register("eric", {}, "deregister")).status, 422);
});

test("hands on what an earlier version accepted while nothing took it", async () => {
  const { db } = fixture.database;
  const kept = [
    ["harvester", { values: { resource: { root_path: "s3://ws-eric/results/catalog.json" } } }],
    ["ades", { url: "https://ades.example.org", type: "ades", parent_identifier: null }],
    ["collection", { id: "scenes" }],
    ["deregister", { identifier: "scenes" }],
  ] as const;
  for (const [queue, payload] of kept) {
    await db
      .insertInto("registration")
      .values({ workspace: "ws-eric", queue, payload: JSON.stringify(payload), requested_by: "eric", message: null })
      .execute();
  }
  const sent: WorkspaceRequest[] = [];
  const stop = handOnKept(
    db,
    {
      send: (request) => {
        sent.push(request);
        return request.idempotencyKey?.endsWith("-2") === true
          ? Promise.reject(new WorkspaceError(400, "no such service"))
          : Promise.resolve({ message: "accepted" });
      },
      list: () => Promise.resolve([]),
      close: () => Promise.resolve(),
    },
    createLogger("test"),
  );
  const { registrations } = await waitUntil("all are handed on", async () => {
    const { body } = await fixture.send("eric", "GET", "/workspaces/ws-eric/registrations");
    return body.registrations.every(({ state }: { state: string }) => state !== "pending") ? body : undefined;
  });
  stop();
  assert.deepEqual(
    sent.map(({ request }) => request),
    [
      { form: "register", type: "stac-catalog", url: "s3://ws-eric/results/catalog.json" },
      { form: "register", type: "ades", url: "https://ades.example.org" },
      { form: "collection", document: { id: "scenes" } },
      { form: "deregister", identifier: "scenes" },
    ],
  );
  assert.deepEqual(
    registrations.map(({ queue, state }: { queue: string; state: string }) => `${queue} ${state}`),
    ["deregister done", "collection done", "ades failed", "harvester done"],
  );
});

test("a user who registers too often is told when to come back", async () => {
  const limits = new CallerLimits();
  const app = await createWorkspaceApi(createLogger("workspace-api", "fatal"), {
    db: fixture.database.db,
    prefix: "ws",
    limits: { createRate: (options: object) => limits.createRate({ ...options, perUser: 1 } as never) } as CallerLimits,
    creation: { by: "operators", limitPerUser: 1 },
    callerOf: async () => ({ isAdmin: true, user: { id: "1", username: "admin" } }),
  });
  const name = "ws-often";
  await app.inject({
    method: "POST",
    url: "/workspaces",
    payload: { preferred_name: "often", default_owner: "often" },
  });
  const register = () =>
    app.inject({
      method: "POST",
      url: `/workspaces/${name}/register`,
      payload: { type: "ades", url: "https://a.example.org" },
    });
  assert.equal((await register()).statusCode, 501);
  const refused = await register();
  assert.equal(refused.statusCode, 429, refused.body);
  assert.ok(Number(refused.headers["retry-after"]) >= 1);
  await app.close();
});
