import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";

import { waitUntil } from "@swath/testing";

import { makeItem, startDocuments, startFixture } from "./fixture.ts";

// Sources that are broken in part: what is good of them is registered, and what is not is named.
const fixture = await startFixture();
after(fixture.close);
const { send, register, settle, callCatalogue, query } = fixture;

const catalog = (id: string, ...links: readonly (readonly [string, string])[]) => ({
  type: "Catalog",
  stac_version: "1.1.0",
  id,
  description: id,
  links: links.map(([rel, href]) => ({ rel, href })),
});
const plain = (id: string, collection: string) => makeItem(id, { collection, assets: {} });
const idsOf = async (collection: string): Promise<readonly string[]> => {
  const { body } = await callCatalogue(`/stac/collections/${collection}/items?limit=1000`);
  return (body.features ?? []).map(({ id }: { id: string }) => id).toSorted();
};
const problemsOf = async (id: string): Promise<ReadonlyMap<string, string>> => {
  const { body } = await send("GET", `/tasks/${id}/problems`);
  return new Map(body.problems.map(({ record, reason }: Record<string, string>) => [record, reason]));
};

/** A server that answers with a status, or a document; requests of an address that is not named are 404. */
async function startSource(documents: Map<string, unknown>) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    asked.push(path);
    const found = documents.get(path) ?? 404;
    if (typeof found === "number") {
      response.writeHead(found).end();
    } else {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a request that comes again does not wait for the next attempt of the one that failed", async (t) => {
  const documents = new Map<string, unknown>([["/item", 503]]);
  const source = await startSource(documents);
  t.after(source.close);
  const expected = { type: "stac-item", url: `${source.url}/item` };
  const { headers } = await send("POST", "/register", expected);
  const first = headers.get("location") ?? "";
  await waitUntil("its failure", async () => {
    const { body } = await send("GET", new URL(first).pathname);
    return body.state === "queued" && body.attempts > 0;
  });
  await query("update registration.task set due_at = now() + interval '1 hour' where state = 'queued'");
  documents.set("/item", plain("came-back", "again"));
  const { body } = await register("/register", expected);
  assert.deepEqual([body.state, body.result.registered], ["done", 1], JSON.stringify(body));
  assert.equal((await settle(first)).body.state, "superseded");
});

/** Waits of a task between its attempts end now. */
const requeueNow = () => query("update registration.task set due_at = now() where state = 'queued' and due_at > now()");
/** The next attempt of what waits for one is its last. */
const skipAttempts = () =>
  query(
    "update registration.task set attempts = 9, due_at = now() where state = 'queued' and attempts between 1 and 8",
  );

test("a file that is no JSON at all is refused once, whatever bytes it has", async (t) => {
  const bytes = Buffer.from([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 0, 0xff, 0xd8]);
  const source = await startDocuments(() => bytes);
  t.after(source.close);
  const { body } = await register("/register", { type: "stac-item", url: `${source.url}/scene.json` });
  assert.deepEqual([body.state, body.attempts], ["failed", 1], JSON.stringify(body));
  assert.match(body.reason, /scene\.json is TIFF, which is not converted/);
});

test("a document that comes compressed, asked for or not", async (t) => {
  const item = gzipSync(JSON.stringify(plain("compressed", "coded")));
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20, 32));
  const server = createServer(({ url }, response) => {
    const coding = url === "/other" ? "zebra" : "gzip";
    response
      .writeHead(200, { "content-encoding": coding })
      .end(url === "/bomb" ? bomb : url === "/cut" ? item.subarray(0, 80) : item);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const results = await Promise.all(
    ["item", "bomb", "other"].map(
      async (path) => (await register("/register", { type: "stac-item", url: `${url}/${path}` })).body,
    ),
  );
  assert.deepEqual(
    results.map(({ state }) => state),
    ["done", "failed", "failed"],
  );
  assert.match(results[1].reason, /has more than/);
  assert.match(results[2].reason, /encoding "zebra"; allowed: gzip/);
  assert.deepEqual(await idsOf("coded"), ["compressed"]);
});

test("items with ids and collections that cannot be kept hold no others of their page up", async (t) => {
  const noise = Array.from({ length: 3000 }, (_, index) =>
    String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
  ).join("");
  const features = [
    plain("good-1", "mixed"),
    plain("nul\0id", "mixed"),
    plain(noise, "mixed"),
    plain("half-\ud800", "mixed"),
    plain("other-1", "odd\u0001collection"),
    makeItem("nul-inside", {
      collection: "mixed",
      assets: {},
      properties: { datetime: "2024-06-01T10:00:00Z", note: "a\0b" },
    }),
    plain("good-2", "mixed"),
  ];
  const source = await startDocuments(() => ({ type: "FeatureCollection", features, links: [] }));
  t.after(source.close);
  const { body } = await register("/register", { type: "stac-item", url: `${source.url}/page` });
  assert.equal(body.state, "done", JSON.stringify(body));
  assert.deepEqual(await idsOf("mixed"), ["good-1", "good-2"]);
  assert.equal(body.result.failed, 5);
  const problems = await problemsOf(body.id);
  assert.match(problems.get("other-1") ?? "", /[Cc]ollection/);
  await send("PUT", "/harvesters/mixed", { resource: { url: `${source.url}/search`, type: "STACAPI" } });
  const { headers } = await send("POST", "/harvesters/mixed/run");
  const harvested = await settle(headers.get("location") ?? "");
  assert.deepEqual([harvested.body.state, harvested.body.result.failed], ["done", 5], JSON.stringify(harvested.body));
});

test("one problem alone is the reason of its task", async (t) => {
  const source = await startDocuments(() => makeItem("no-date", { properties: {}, assets: {} }));
  t.after(source.close);
  const { body } = await register("/register", { type: "stac-item", url: `${source.url}/item` });
  assert.equal(body.state, "failed");
  assert.match(
    body.reason,
    /no-date could not be registered: The item is not valid: \/properties\/datetime is required/,
  );
});

test("documents that are away for the moment do not keep the rest of a catalogue waiting", async (t) => {
  const deep = Array.from({ length: 70 }, (_, index): readonly [string, unknown] => [
    `/deep/${index}`,
    catalog(`deep-${index}`, ["child", `/deep/${index + 1}`], ...(index === 3 ? [["item", "/i3"] as const] : [])),
  ]);
  const documents = new Map<string, unknown>([
    ["/catalog.json", catalog("root", ["item", "/i1"], ["item", "/away"], ["child", "/deep/0"], ["item", "/i2"])],
    ["/i1", plain("i1", "partly")],
    ["/away", 503],
    ["/i2", plain("i2", "partly")],
    ["/i3", plain("i3", "partly")],
    ...deep,
  ]);
  const source = await startSource(documents);
  t.after(source.close);
  const { headers } = await send("POST", "/register", { type: "stac-catalog", url: `${source.url}/catalog.json` });
  const location = headers.get("location") ?? "";
  await waitUntil("the others", async () => (await idsOf("partly")).length === 3);
  await waitUntil(
    "the next attempt",
    async () => (await send("GET", new URL(location).pathname)).body.state === "queued",
  );
  const { body: waiting } = await send("GET", new URL(location).pathname);
  assert.match(waiting.reason, /away answered with status 503/);
  documents.set("/away", plain("back", "partly"));
  await requeueNow();
  const { body } = await settle(location);
  assert.deepEqual([body.state, body.result.registered, body.result.unchanged], ["done", 1, 3], JSON.stringify(body));
  const problems = await problemsOf(body.id);
  assert.match(problems.get(`${source.url}/deep/64`) ?? "", /more than 64 catalogues deep/);
  assert.deepEqual(await idsOf("partly"), ["back", "i1", "i2", "i3"]);
});

test("a document that stays away is named in the end; a harvest gives up after its attempts, and takes nothing out below it alone", async (t) => {
  const items = Array.from({ length: 250 }, (_, index): readonly [string, unknown] => [
    `/h${index}`,
    plain(`h${index}`, "followed"),
  ]);
  const all = items.map(([path]): readonly [string, string] => ["item", path]);
  const documents = new Map<string, unknown>([
    ["/catalog.json", catalog("root", ["child", "/below"], ...all)],
    ["/below", catalog("below", ["item", "/b1"], ["child", "/deeper"])],
    ["/deeper", catalog("deeper", ["item", "/b2"])],
    ["/b1", plain("b1", "followed")],
    ["/b2", plain("b2", "followed")],
    ...items,
  ]);
  const source = await startSource(documents);
  t.after(source.close);
  await send("PUT", "/harvesters/followed", {
    resource: { url: `${source.url}/catalog.json`, type: "STACCatalog" },
    deletions: true,
  });
  const run = async () => {
    const { headers } = await send("POST", "/harvesters/followed/run");
    const location = headers.get("location") ?? "";
    let body = (await send("GET", new URL(location).pathname)).body;
    await waitUntil("the harvest", async () => {
      await skipAttempts();
      body = (await send("GET", new URL(location).pathname)).body;
      return body.state === "done" || body.state === "failed";
    });
    return body;
  };
  assert.equal((await run()).result.registered, 252);

  // A catalogue that is away, an item that is broken, one that is away, and one that is gone.
  documents.set("/below", 503);
  documents.set("/h1", { type: "Feature", id: "h1" });
  documents.set("/h2", 500);
  documents.delete("/h3");
  documents.set("/catalog.json", catalog("root", ["child", "/below"], ...all.slice(0, -1)));
  const partial = await run();
  assert.deepEqual([partial.state, partial.result.removed, partial.attempts], ["done", 2, 10], JSON.stringify(partial));
  const problems = await problemsOf(partial.id);
  assert.match(problems.get(`${source.url}/below`) ?? "", /status 503/);
  assert.match(problems.get(`${source.url}/h3`) ?? "", /nothing at this address/);
  assert.match(problems.get(`${source.url}/catalog.json`) ?? "", /nothing that was below them was taken out/);
  const isKept = async () => {
    const kept = await idsOf("followed");
    return ["b1", "b2", "h1", "h2", "h3", "h249"].map((id) => kept.includes(id));
  };
  assert.deepEqual(await isKept(), [true, true, true, true, false, false]);
  // Still away in another run, whose links of the one before are what is known.
  assert.equal((await run()).result.removed, 0);
  assert.deepEqual(await isKept(), [true, true, true, true, false, false]);

  documents.set("/below", catalog("below"));
  const whole = await run();
  assert.deepEqual([whole.state, whole.result.removed], ["done", 2], JSON.stringify(whole));
  assert.deepEqual(await isKept(), [false, false, true, true, false, false]);
});
