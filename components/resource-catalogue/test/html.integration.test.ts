import assert from "node:assert/strict";
import { after, test } from "node:test";

import { prefersHtml } from "../html/negotiate.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

after(() => catalogue.close());

await request("POST", "/stac/collections", { body: makeCollection("scenes", { title: "Scenes <b>" }) });
for (const index of [1, 2, 3]) {
  await request("POST", "/stac/collections/scenes/items", {
    body: makeItem(`scene-${index}`, {
      properties: { datetime: "2024-06-01T10:00:00Z", title: `<script>alert(${index})</script>` },
      assets: { data: { href: "javascript:alert(1)" }, more: { href: "https://example.org/x.tif" } },
    }),
  });
}

test("every resource is a page, by f=html and for browsers, and JSON for all others", async () => {
  for (const path of [
    "/",
    "/conformance",
    "/collections",
    "/collections/metadata:main",
    "/collections/scenes",
    "/collections/scenes/items",
    "/collections/scenes/items/scene-1",
    "/collections/scenes/queryables",
    "/collections/scenes/facets",
    "/stac",
    "/stac/conformance",
    "/stac/collections",
    "/stac/collections/scenes",
    "/stac/collections/scenes/items?limit=2",
    "/stac/collections/scenes/items/scene-1",
    "/stac/search",
    "/stac/queryables",
  ]) {
    const response = await request("GET", `${path}${path.includes("?") ? "&" : "?"}f=html`);
    const browsed = await request("GET", path, { headers: { accept: BROWSER } });
    const json = await request("GET", path, { headers: { accept: "*/*" } });
    for (const page of [response, browsed]) {
      assert.equal(page.status, 200, `${path}: ${page.text.slice(0, 500)}`);
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/, path);
      assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
      assert.match(page.text, /<h1>/);
      assert.doesNotMatch(page.text, /<script|href="javascript:|<b>/, path);
      assert.match(page.headers.get("vary") ?? "", /accept/i);
    }
    assert.match(json.headers.get("content-type") ?? "", /json/, path);
    const again = await request("GET", `${path}${path.includes("?") ? "&" : "?"}f=json`, {
      headers: { accept: BROWSER },
    });
    assert.match(again.headers.get("content-type") ?? "", /json/, path);
  }
  assert.match((await request("GET", "/style.css")).headers.get("content-type") ?? "", /^text\/css/);
});

test("a page of results leads on, keeps what was asked, and says what is wrong", async () => {
  const first = await request("GET", "/stac/collections/scenes/items?f=html&limit=2&q=alert");
  assert.match(first.text, /name="q" value="alert"/);
  assert.match(first.text, /name="limit" value="2"/);
  const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const second = await fetch(next);
  assert.match(second.headers.get("content-type") ?? "", /^text\/html/);
  assert.match(await second.text(), /3 found, 1 shown/);
  const wrong = await request("GET", "/stac/collections/scenes/items?f=html&bbox=1,2");
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /role="alert">[^<]*bbox/i);
  const absent = await request("GET", "/collections/none", { headers: { accept: BROWSER } });
  assert.equal(absent.status, 404);
  assert.match(absent.headers.get("content-type") ?? "", /^text\/html/);
});

test("Accept is weighed", () => {
  for (const [accept, isHtml] of [
    ["", false],
    ["*/*", false],
    [BROWSER, true],
    ["application/json, text/html;q=0.5", false],
    ["text/html;q=0.5, application/geo+json;q=0.4", true],
    ["text/html;q=0", false],
  ] as const) {
    assert.equal(prefersHtml(accept), isHtml, accept);
  }
});
