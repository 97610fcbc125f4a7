import assert from "node:assert/strict";
import { test } from "node:test";

import { type WalkOptions, walkItems } from "./walk.ts";

const item = (id: string) => ({ type: "Feature", id, geometry: null, properties: {}, assets: {} });
const catalog = (...links: readonly (readonly [string, string])[]) => ({
  type: "Catalog",
  id: "c",
  links: links.map(([rel, href]) => ({ rel, href })),
});

async function walk(
  documents: Readonly<Record<string, unknown>>,
  options: Partial<WalkOptions> = {},
): Promise<readonly string[]> {
  const response: string[] = [];
  const read = (href: string) => {
    response.push(href);
    const path = href.slice("https://h/".length);
    return path in documents
      ? Promise.resolve({ href, value: documents[path] })
      : Promise.reject(new Error(`asked for ${href}`));
  };
  const found: string[] = [];
  for await (const {
    item: { id },
    href,
  } of walkItems(await read("https://h/start"), { read, ...options })) {
    found.push(`${id} ${href.slice("https://h/".length)}`);
  }
  assert.equal(new Set(response).size, response.length, "no document is read twice");
  return found;
}

test("items of catalogues below catalogues, each once, circles or not", async () => {
  const documents = {
    start: catalog(["item", "a.json"], ["child", "sub/catalog.json"], ["child", "start"], ["item", "./a.json#again"]),
    "a.json": item("a"),
    "sub/catalog.json": catalog(["item", "b.json"], ["child", "../start"], ["parent", "nowhere"]),
    "sub/b.json": item("b"),
  };
  assert.deepEqual(await walk(documents), ["a a.json", "b sub/b.json"]);
});

test("a collection of an API leads to its items, page by page", async () => {
  const page = (ids: readonly string[], next?: string) => ({
    type: "FeatureCollection",
    features: ids.map(item),
    links: next === undefined ? [] : [{ rel: "next", href: next, method: "GET" }],
  });
  const documents = {
    start: { ...catalog(["items", "items"]), type: "Collection" },
    items: page(["a", "b"], "?token=2"),
    "?token=2": page(["c"]),
  };
  assert.deepEqual(
    await walk({ ...documents, items: page(["a", "b"], "more"), more: page(["c"], "empty"), empty: page([], "more") }),
    ["a items", "b items", "c more"],
  );
  const post = { ...page(["a"]), links: [{ rel: "next", href: "x", method: "POST" }] };
  await assert.rejects(walk({ start: post }), /continues by POST only/);
  await assert.rejects(walk({ start: page(["a"], "start") }), /read before: the search never ends/);
  await assert.rejects(walk({ start: page(["a"], "x"), x: item("b") }), /is the next page of .* but a Feature/);
});

test("catalogues without end are given up", async () => {
  let count = 0;
  const read = (href: string) => Promise.resolve({ href, value: catalog(["child", `https://h/${(count += 1)}`]) });
  const all = async (options: Partial<WalkOptions>) => {
    for await (const found of walkItems(await read("https://h/start"), { read, ...options })) {
      assert.fail(found.href);
    }
  };
  await assert.rejects(all({}), /lies more than 32 catalogues deep/);
  await assert.rejects(all({ maxDocuments: 5, maxDepth: 1000 }), /leads to more than 5 documents/);
  const tooDeep: string[] = [];
  await all({ maxDepth: 3, onTooDeep: ({ message }) => tooDeep.push(message) });
  assert.match(tooDeep.join("\n"), /^https:\/\/h\/\d+: lies more than 3 catalogues deep in https:\/\/h\/start$/);
  assert.ok(count < 100);
});

test("what is not STAC is an error with its address", async () => {
  await assert.rejects(walk({ start: { hello: 1 } }), {
    message: "https://h/start: is not a STAC item, collection, catalogue or item collection",
  });
  await assert.rejects(walk({ start: catalog(["item", "a"]), a: { type: "x" } }), {
    message: /^https:\/\/h\/a: has type "x"/,
  });
});
