import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BUCKET, makeCollection, makeItem, startFixture } from "./fixture.ts";

const fixture = await startFixture();
after(fixture.close);
const { send, callCatalogue, put, settle } = fixture;

const RESULT = "resource-and-data-catalogue-link";
const CATALOGUE = "http://resource-catalogue.localhost/stac";
const target = { rel: "https://api.stacspec.org/v1.0.0/core", href: "https://resource-catalogue.localhost/stac" };
const source = (path: string) => ({ rel: "collection", href: `s3://${BUCKET}/${path}` });
const execute = (process: string, inputs: object) => send("POST", `/processes/${process}/execution`, { inputs });

test("what can be executed is described", async () => {
  const landing = await send("GET", "/");
  assert.deepEqual(
    landing.body.links.map(({ rel }: { rel: string }) => rel.split("/").at(-1)),
    ["self", "service-desc", "service-doc", "conformance", "processes", "job-list"],
  );
  const { body } = await send("GET", "/conformance");
  assert.ok(body.conformsTo.includes("http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core"));
  const { processes } = (await send("GET", "/processes")).body;
  assert.deepEqual(
    processes.map(({ id, version }: { id: string; version: string }) => [id, version]),
    [
      ["register", "1.0.0"],
      ["deregister", "1.0.0"],
    ],
  );
  const description = (await send("GET", "/processes/register")).body;
  assert.deepEqual(Object.keys(description.inputs), ["type", "source", "target"]);
  const missing = await send("GET", "/processes/nothing");
  assert.equal(missing.status, 404);
  assert.match(missing.body.type, /no-such-process$/);
});

test("a collection is registered and taken out, and both are jobs that can be followed", async () => {
  const links = [{ rel: "item", href: "./a.json" }];
  await put("two/collection.json", JSON.stringify(makeCollection("two", { links })));
  await put("two/a.json", JSON.stringify(makeItem("a", { collection: "two" })));
  const registered = await execute("register", { type: "collection", source: source("two/collection.json"), target });
  assert.equal(registered.status, 200, JSON.stringify(registered.body));
  assert.equal(registered.body[RESULT].href, `${CATALOGUE}/collections/two`);
  assert.equal((await callCatalogue("/stac/collections/two/items/a")).status, 200);

  const location = registered.headers.get("location") ?? "";
  const path = new URL(location).pathname;
  const job = (await send("GET", path)).body;
  assert.deepEqual([job.processID, job.type, job.status, job.progress], ["register", "process", "successful", 100]);
  assert.deepEqual((await send("GET", `${path}/results`)).body, registered.body);

  const item = await execute("register", { type: "item", source: source("two/a.json") });
  assert.equal(item.body[RESULT].href, `${CATALOGUE}/collections/two/items/a`);

  const open = { ...target, href: target.href.replace("resource-catalogue.", "resource-catalogue-open.") };
  const removed = await execute("deregister", { id: "two", target: open, rel: "collection" });
  assert.equal(removed.status, 200, JSON.stringify(removed.body));
  assert.equal(removed.body[RESULT].href, CATALOGUE);
  assert.equal((await callCatalogue("/stac/collections/two")).status, 404);
  const removal = (await send("GET", new URL(removed.headers.get("location") ?? "").pathname)).body;
  assert.deepEqual([removal.processID, removal.status], ["deregister", "successful"]);

  const { jobs } = (await send("GET", "/jobs?limit=2")).body;
  assert.deepEqual(
    jobs.map(({ processID }: { processID: string }) => processID),
    ["deregister", "register"],
  );
});

test("an asynchronous execution is answered at once, and a job that failed says why", async () => {
  const response = await fetch(`${fixture.apiUrl}/processes/register/execution`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ inputs: { type: "collection", source: source("none/collection.json") } }),
  });
  const { status } = (await response.json()) as { status: string };
  assert.equal(response.status, 201, status);
  assert.match(status, /^(accepted|running|failed)$/);
  const id = new URL(response.headers.get("location") ?? "").pathname.split("/").at(-1);
  await settle(`${fixture.apiUrl}/tasks/${id}`);
  const job = (await send("GET", `/jobs/${id}`)).body;
  assert.equal(job.status, "failed");
  assert.match(job.message, /none\/collection\.json/);
  const results = await send("GET", `/jobs/${id}/results`);
  assert.equal(results.status, 422);
  assert.equal(results.body.detail, job.message);
  const late = await send("DELETE", `/jobs/${id}`);
  assert.equal(late.status, 409);
});

for (const [process, inputs, reason] of [
  ["register", { type: "nothing", source: source("a.json") }, /allowed: item, collection, catalog/],
  ["register", { type: "item" }, /"source" are required/],
  ["deregister", {}, /the input "id" or "source"/],
  [
    "register",
    { type: "item", source: source("a.json"), target: { href: "https://other.example.org/stac" } },
    /names another/,
  ],
] as const) {
  test(`inputs that say nothing that can be done are refused: ${JSON.stringify(inputs)}`, async () => {
    const { status, body } = await execute(process, inputs);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(body.detail, reason);
  });
}
