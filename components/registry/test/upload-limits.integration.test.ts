import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { holdRequests, sendHeld, waitUntil } from "@swath/testing";

import { type RegistryClient, basic, createClient, createProject } from "./client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "./start-registry.ts";

/** What one caller may send at the same time. */
const PLACES = 100;

let registry: TestRegistry;
let admin: RegistryClient;
before(async () => {
  registry = await startTestRegistry();
  admin = createClient(registry.url);
  await createProject(admin, "lab");
});
after(() => registry.close());

test("a caller with all its uploads under way gets 429 with Retry-After, and goes on when one has ended", async () => {
  const start = async () => {
    const { status, headers } = await admin.call("POST", "/v2/lab/tool/blobs/uploads/");
    assert.equal(status, 202);
    return new URL(headers.get("location") ?? "", registry.url).href;
  };
  const options = {
    method: "PATCH",
    headers: { authorization: basic("admin", ADMIN_PASSWORD), "content-type": "application/octet-stream" },
    begin: "begin",
  };
  const releases: (() => void)[] = [];
  for (let upload = 0; upload < PLACES; upload += 1) {
    releases.push(await holdRequests(1, await start(), options));
  }
  const last = await start();
  let refused: Awaited<ReturnType<typeof sendHeld>>;
  await waitUntil("the places are taken", async () => {
    refused = await sendHeld(last, options);
    return refused?.status === 429;
  });
  assert.ok(Number(refused?.retryAfter) >= 1);
  assert.match(refused?.text ?? "", /TOOMANYREQUESTS.*has 100 uploads already/);
  releases.forEach((release) => release());
  await waitUntil("a place is free", async () => {
    const { headers } = options;
    const { pathname, search } = new URL(await start());
    return (await admin.call("PATCH", `${pathname}${search}`, { headers, body: "whole" })).status === 202;
  });
});
