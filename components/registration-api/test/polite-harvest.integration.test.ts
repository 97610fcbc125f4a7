import assert from "node:assert/strict";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, after, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { BUCKET, makeCollection, makeItem, startFixture } from "./fixture.ts";

// What a harvester asks of its source, and when.
const fixture = await startFixture();
after(fixture.close);
const { send, register, callCatalogue, put } = fixture;

interface TestResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is. */
  readonly body?: unknown;
}
interface Asked {
  readonly path: string;
  readonly status: number;
  readonly at: number;
}

/** A server that keeps what it was asked. */
async function startSource(
  t: TestContext,
  reply: (path: string, request: IncomingMessage) => TestResponse,
): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const { status = 200, headers = {}, body } = reply(path, request);
    asked.push({ path, status, at: Date.now() });
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const resultOf = ({ body }: { body: { state: string; result: Record<string, number> } }): readonly unknown[] => [
  body.state,
  body.result["registered"],
  body.result["unchanged"],
  body.result["removed"],
  body.result["failed"],
];

const catalogOf = (collection: string, names: readonly string[]): Record<string, unknown> =>
  makeCollection(collection, { links: names.map((name) => ({ rel: "item", href: `./${name}.json` })) });

for (const [header, condition] of [
  ["etag", "if-none-match"],
  ["last-modified", "if-modified-since"],
] as const) {
  test(`a static catalogue is asked only for what changed, by ${header}`, async (t) => {
    const collection = `static-${header}`;
    const documents = new Map<string, { version: number; body: unknown }>();
    const change = (name: string, body: unknown): void => {
      documents.set(`/${name}.json`, { version: (documents.get(`/${name}.json`)?.version ?? 0) + 1, body });
    };
    const validatorOf = (version: number): string =>
      header === "etag" ? `"v${version}"` : new Date(Date.UTC(2024, 0, version)).toUTCString();
    change("catalog", catalogOf(collection, ["a", "b", "c", "poor"]));
    for (const name of ["a", "b", "c"]) {
      change(name, makeItem(name, { collection }));
    }
    change("poor", makeItem("poor", { collection, bbox: [1, 2, 3] }));
    const source = await startSource(t, (path, request) => {
      const found = documents.get(path);
      if (found === undefined) {
        return { status: 404 };
      }
      const validator = validatorOf(found.version);
      return request.headers[condition] === validator
        ? { status: 304 }
        : { headers: { [header]: validator }, body: found.body };
    });
    const run = async (): Promise<readonly unknown[]> => {
      source.asked.length = 0;
      return resultOf(await register(`/harvesters/${collection}/run`, undefined));
    };
    const readAgain = (): readonly string[] =>
      source.asked
        .filter(({ status }) => status === 200)
        .map(({ path }) => path)
        .toSorted();
    const config = { resource: { url: `${source.url}/catalog.json`, type: "STACCatalog" }, deletions: true };
    assert.equal((await send("PUT", `/harvesters/${collection}`, config)).status, 200);

    assert.deepEqual(await run(), ["done", 3, 0, 0, 1]);
    // What was refused is read and named at every run.
    assert.deepEqual(await run(), ["done", 0, 3, 0, 1]);
    assert.deepEqual(readAgain(), ["/poor.json"]);
    assert.equal(source.asked.filter(({ status }) => status === 304).length, 4);

    change("b", makeItem("b", { collection, properties: { datetime: "2024-07-01T10:00:00Z" } }));
    assert.deepEqual(await run(), ["done", 1, 2, 0, 1]);
    assert.deepEqual(readAgain(), ["/b.json", "/poor.json"]);
    const { body } = await callCatalogue(`/stac/collections/${collection}/items/b`);
    assert.equal(body.properties.datetime, "2024-07-01T10:00:00Z");

    // What somebody took out of the catalogue comes back, as when it is registered again.
    const items = `${fixture.catalogueUrl}/stac/collections/${collection}/items`;
    assert.equal((await fetch(`${items}/a`, { method: "DELETE" })).status, 204);
    assert.deepEqual(await run(), ["done", 1, 2, 0, 1]);
    assert.equal((await fetch(`${items}/a`)).status, 200);

    change("catalog", catalogOf(collection, ["a", "c", "d"]));
    change("d", makeItem("d", { collection }));
    assert.deepEqual(await run(), ["done", 1, 2, 1, 0]);
    assert.equal((await fetch(`${items}/b`)).status, 404);

    // Another configuration means other records of the same documents.
    const moved = { ...config, collection: `${collection}-moved` };
    assert.equal((await send("PUT", `/harvesters/${collection}`, moved)).status, 200);
    assert.deepEqual((await run()).slice(0, 2), ["done", 3]);
    assert.equal((await callCatalogue(`/stac/collections/${collection}-moved/items/c`)).status, 200);
  });
}

test("a static catalogue in a bucket is asked only for what changed", async () => {
  await put("static/catalog.json", JSON.stringify(catalogOf("static-s3", ["a", "b"])));
  await put("static/a.json", JSON.stringify(makeItem("a")));
  await put("static/b.json", JSON.stringify(makeItem("b")));
  const resource = { url: `s3://${BUCKET}/static/catalog.json`, type: "STACCatalog" };
  await send("PUT", "/harvesters/static-s3", { resource, collection: "static-s3" });
  const run = async (): Promise<readonly unknown[]> => resultOf(await register("/harvesters/static-s3/run", undefined));
  assert.deepEqual(await run(), ["done", 2, 0, 0, 0]);
  assert.deepEqual(await run(), ["done", 0, 2, 0, 0]);
  await put("static/b.json", JSON.stringify(makeItem("b", { properties: { datetime: "2024-07-01T10:00:00Z" } })));
  assert.deepEqual(await run(), ["done", 1, 1, 0, 0]);
});

test("incremental: the next run asks for what changed since the last one began, and a run that fails leaves that as it is", async (t) => {
  let isBroken = false;
  const source = await startSource(t, () => {
    if (isBroken) {
      return { status: 404 };
    }
    return { body: { type: "FeatureCollection", features: [makeItem("a", { collection: "increments" })], links: [] } };
  });
  const resource = { url: `${source.url}/search`, type: "STACAPI" };
  await send("PUT", "/harvesters/increments", { resource, incremental: "updated" });
  const sinceOf = async (): Promise<string> =>
    (await send("GET", "/harvesters")).body.harvesters.find(({ name }: { name: string }) => name === "increments")
      .since;
  const filterOf = (): string | null => new URL(source.asked.at(-1)?.path ?? "", source.url).searchParams.get("filter");

  const first = await register("/harvesters/increments/run", undefined);
  assert.equal(filterOf(), null);
  assert.equal(await sinceOf(), first.body.started_at);
  isBroken = true;
  assert.equal((await register("/harvesters/increments/run", undefined)).body.state, "failed");
  assert.equal(await sinceOf(), first.body.started_at);
  isBroken = false;
  const third = await register("/harvesters/increments/run", undefined);
  assert.equal(filterOf(), `"updated" >= TIMESTAMP('${first.body.started_at}')`);
  assert.deepEqual(resultOf(third), ["done", 0, 1, 0, 0]);
  assert.equal(await sinceOf(), third.body.started_at);
});

test("incremental from an OpenSearch: its parameter for changes is filled in from the second run on", async (t) => {
  const source = await startSource(t, (path) =>
    path.startsWith("/describe")
      ? {
          headers: { "content-type": "application/opensearchdescription+xml" },
          body: `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/" xmlns:eo="http://a9.com/-/opensearch/extensions/eo/1.0/">
            <Url type="application/geo+json" template="/found?changed={eo:modificationDate?}&amp;updated={dc:date?}&amp;n={count?}"/>
            </OpenSearchDescription>`,
        }
      : { body: { type: "FeatureCollection", features: [makeItem("a", { collection: "searched" })], links: [] } },
  );
  const resource = { url: `${source.url}/describe.xml`, type: "OpenSearch" };
  await send("PUT", "/harvesters/searched", { resource, incremental: "updated" });
  const searchOf = (): URLSearchParams => new URL(source.asked.at(-1)?.path ?? "", source.url).searchParams;

  const first = await register("/harvesters/searched/run", undefined);
  assert.deepEqual(resultOf(first), ["done", 1, 0, 0, 0]);
  assert.deepEqual([searchOf().has("changed"), searchOf().has("updated")], [false, false]);
  const second = await register("/harvesters/searched/run", undefined);
  assert.deepEqual(resultOf(second), ["done", 0, 1, 0, 0]);
  const since: unknown = first.body.started_at;
  assert.deepEqual([searchOf().get("changed"), searchOf().get("updated")], [`[${String(since)}`, since]);
});

test("a source that asks to be left in peace is left in peace as long", async (t) => {
  let refusals = 0;
  const source = await startSource(t, () => {
    refusals += 1;
    return refusals === 1
      ? { status: 503, headers: { "retry-after": "3" } }
      : { body: { type: "FeatureCollection", features: [makeItem("a", { collection: "patient" })], links: [] } };
  });
  await send("PUT", "/harvesters/patient", { resource: { url: `${source.url}/search`, type: "STACAPI" } });
  const done = await register("/harvesters/patient/run", undefined);
  assert.deepEqual(resultOf(done), ["done", 1, 0, 0, 0]);
  const [first, second] = source.asked;
  assert.ok(first !== undefined && second !== undefined && second.at - first.at >= 2990);

  // Longer than a worker waits: the task gives its place to others.
  const until = new Date(Date.now() + 1_800_000);
  const busy = await startSource(t, () => ({ status: 429, headers: { "retry-after": until.toUTCString() } }));
  await send("PUT", "/harvesters/busy", { resource: { url: `${busy.url}/search`, type: "STACAPI" } });
  const { headers } = await send("POST", "/harvesters/busy/run");
  const path = new URL(headers.get("location") ?? "").pathname;
  const task = await waitUntil("the first attempt", async () => {
    const { body } = await send("GET", path);
    return body.next_attempt !== undefined && body;
  });
  assert.equal(task.state, "queued");
  assert.match(task.reason, /answered with status 429/);
  assert.ok(Date.parse(task.next_attempt) > until.getTime() - 60_000, task.next_attempt);
  assert.equal(busy.asked.length, 1);
});
