import assert from "node:assert/strict";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
after(() => catalogue.close());

interface Page {
  readonly type: string;
  readonly id: string;
  readonly links: readonly { readonly rel: string; readonly href: string }[];
}

const ITEMS = 2300;
const COLLECTIONS = 1010;
const lines = Array.from({ length: ITEMS }, (_, index) => JSON.stringify(makeItem(`i/${index}`))).join("\n");
await request("POST", "/stac/collections", { body: makeCollection("many") });
const loaded = await request("POST", "/stac/collections/many/items.ndjson", {
  body: lines,
  headers: { "content-type": "application/x-ndjson" },
});
assert.equal(loaded.status, 201, loaded.text);
for (let index = 0; index < COLLECTIONS; index += 1) {
  assert.equal((await request("POST", "/stac/collections", { body: makeCollection(`x${index}`) })).status, 201);
}

const read = async (address: string): Promise<Page> => {
  const { status, body, text } = await request("GET", address.replace(catalogue.url, ""));
  assert.equal(status, 200, `${address}: ${text}`);
  return body as Page;
};
const hrefsOf = ({ links }: Page, rel: string): string[] =>
  links.filter((link) => link.rel === rel).map(({ href }) => href);

/** The catalogues that follow each other from one on, by the last child of each. */
async function readChain(first: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let next: string | undefined = first; next !== undefined;) {
    const page: Page = await read(next);
    pages.push(page);
    next = hrefsOf(page, "child").find((href) => href.includes("/browse?token="));
  }
  return pages;
}

test("Browseable: every collection is reached from the landing page by child links alone", async () => {
  const pages = await readChain(`${catalogue.url}/stac`);
  assert.deepEqual([...new Set(pages.map(({ type }) => type))], ["Catalog"]);
  const collections = pages.flatMap((page) => hrefsOf(page, "child")).filter((href) => !href.includes("/browse"));
  assert.equal(collections.length, COLLECTIONS + 2);
  assert.equal(new Set(collections).size, COLLECTIONS + 2);
});

test("Browseable: every item is reached from its collection by child and item links alone", async () => {
  const [first = ""] = hrefsOf(await read("/stac/collections/many"), "child");
  const pages = await readChain(first);
  assert.ok(pages.length > 1);
  const items = pages.flatMap((page) => hrefsOf(page, "item"));
  assert.equal(items.length, ITEMS);
  assert.equal(new Set(items).size, ITEMS);
  assert.equal((await read(items.at(-1) ?? "")).type, "Feature");
  const [conformance] = [(await request("GET", "/stac/conformance")).body.conformsTo as string[]];
  assert.ok(conformance?.includes("https://api.stacspec.org/v1.0.0/browseable"));
});

test("Browseable: what is wrong with an address is said", async () => {
  for (const [path, status] of [
    ["/stac/browse?token=made-up", 400],
    ["/stac/collections/many/browse?token=made-up", 400],
    ["/stac/collections/many/browse?token=a&token=b", 400],
    ["/stac/collections/many/browse?limit=1", 400],
    ["/stac/collections/none/browse", 404],
  ] as const) {
    assert.equal((await request("GET", path)).status, status, path);
  }
});
