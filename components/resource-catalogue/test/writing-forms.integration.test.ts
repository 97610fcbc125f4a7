import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;
after(() => catalogue.close());
await request("POST", "/stac/collections", { body: makeCollection("forms") });

const iso = (id: string, title: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco">
  <gmd:fileIdentifier><gco:CharacterString>${id}</gco:CharacterString></gmd:fileIdentifier>
  <gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation>
    <gmd:title><gco:CharacterString>${title}</gco:CharacterString></gmd:title>
  </gmd:CI_Citation></gmd:citation></gmd:MD_DataIdentification></gmd:identificationInfo>
</gmd:MD_Metadata>`;
const xml = { "content-type": "application/xml" };

test("XML records are written to metadata:main, kept byte for byte, and replaced", async () => {
  const path = "/collections/metadata:main/items";
  const created = await request("POST", path, { headers: xml, body: iso("iso-1", "A first title") });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.body.properties.title, "A first title");
  assert.equal((await request("GET", `${path}/iso-1?f=source`)).text, iso("iso-1", "A first title"));
  assert.equal((await request("POST", path, { headers: xml, body: iso("iso-1", "Again") })).status, 409);
  const replaced = await request("PUT", `${path}/iso-1`, { headers: xml, body: iso("iso-1", "A second title") });
  assert.equal(replaced.body.properties.title, "A second title", replaced.text);
  assert.equal((await request("PUT", `${path}/iso-1`, { headers: xml, body: iso("other", "x") })).status, 400);
  for (const [body, said] of [
    ["<open>", /not well formed|is not/],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', /document type/],
    ["<html/>", /gmd:MD_Metadata/],
  ] as const) {
    const { status, body: problem } = await request("POST", path, { headers: xml, body });
    assert.equal(status, 400);
    assert.match(problem.description, said);
  }
});

const CROSSING = {
  type: "Polygon",
  coordinates: [
    [
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ],
  ],
};

test("polygons that cross themselves are refused in every form, and say where", async () => {
  const item = makeItem("crossing", { geometry: CROSSING, bbox: [0, 0, 1, 1] });
  const record = { type: "Feature", id: "crossing", geometry: CROSSING, properties: { type: "dataset", title: "a" } };
  const gml = CROSSING.coordinates.flat(2).join(" ");
  const polygon = `<gmd:extent><gmd:EX_Extent><gmd:geographicElement><gmd:EX_BoundingPolygon><gmd:polygon><gml:Polygon xmlns:gml="http://www.opengis.net/gml"><gml:exterior><gml:LinearRing><gml:posList>${gml}</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></gmd:polygon></gmd:EX_BoundingPolygon></gmd:geographicElement></gmd:EX_Extent></gmd:extent>`;
  const document = iso("crossing", "a").replace("</gmd:MD_DataIdentification>", `${polygon}$&`);
  await request("POST", "/stac/collections/forms/items", { body: makeItem("whole") });
  for (const [method, path, body, headers] of [
    ["POST", "/stac/collections/forms/items", item, {}],
    ["POST", "/stac/collections/forms/items", { type: "FeatureCollection", features: [item] }, {}],
    ["PUT", "/stac/collections/forms/items/whole", { ...item, id: "whole" }, {}],
    ["PATCH", "/stac/collections/forms/items/whole", { geometry: CROSSING }, {}],
    ["POST", "/stac/collections/forms/bulk_items", { items: { crossing: item } }, {}],
    ["POST", "/stac/collections/forms/items.ndjson", JSON.stringify(item), { "content-type": "application/x-ndjson" }],
    ["POST", "/collections/forms/items", record, {}],
    ["POST", "/collections/metadata:main/items", document, xml],
  ] as const) {
    const { status, text } = await request(method, path, { body, headers });
    assert.equal(status, 400, `${method} ${path}: ${text}`);
    assert.match(text, /must not cross or touch itself, as it does at 0.5 0.5/, `${method} ${path}`);
  }
  assert.equal((await request("GET", "/stac/collections/forms/items/crossing")).status, 404);
  const { body } = await request("GET", "/stac/collections/forms/items/whole");
  assert.notDeepEqual(body.geometry, CROSSING);
});

test("JSON Patch and JSON Merge Patch change items and collections, all or nothing", async () => {
  await request("POST", "/stac/collections/forms/items", { body: makeItem("patched") });
  const patch = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request("PATCH", path, { body, headers: { "content-type": "application/json-patch+json", ...headers } });
  for (const path of ["/stac/collections/forms/items/patched", "/collections/forms/items/patched"]) {
    const { status, text, body } = await patch(path, [
      { op: "test", path: "/properties/platform", value: "sentinel-2a" },
      { op: "add", path: "/properties/title", value: path },
    ]);
    assert.equal(status, 200, text);
    assert.equal(body.properties.title, path);
    const failed = await patch(path, [
      { op: "remove", path: "/properties/title" },
      { op: "test", path: "/id", value: "other" },
    ]);
    assert.equal(failed.status, 409, failed.text);
    assert.equal((await request("GET", path)).body.properties.title, path);
    assert.equal((await patch(path, [{ op: "remove", path: "/properties/datetime" }])).status, 400);
    assert.equal((await patch(path, { op: "add" })).status, 400);
  }
  const old = (await request("GET", "/stac/collections/forms/items/patched")).headers.get("etag") ?? "";
  await request("PATCH", "/stac/collections/forms/items/patched", { body: { properties: { title: "merged" } } });
  const stale = await patch("/stac/collections/forms/items/patched", [{ op: "add", path: "/properties/x", value: 1 }], {
    "if-match": old,
  });
  assert.equal(stale.status, 412, stale.text);
  const collection = await patch("/stac/collections/forms", [{ op: "add", path: "/keywords", value: ["one"] }]);
  assert.deepEqual(collection.body.keywords, ["one"], collection.text);
});

test("a document that is read and written again keeps its links as they are", async () => {
  for (const path of ["/stac/collections/forms", "/stac/collections/forms/items/patched"]) {
    const before = (await request("GET", path)).body;
    const { status, text } = await request("PUT", path, { body: before });
    assert.equal(status, 200, text);
    assert.deepEqual((await request("GET", path)).body.links, before.links);
  }
});

test("declared classes are served: collection search with its queryables, aggregation", async () => {
  const { body } = await request("GET", "/stac/collections");
  const { href } = body.links.find(({ rel }: { rel: string }) => rel.endsWith("queryables"));
  const queryables = await request("GET", new URL(href).pathname);
  assert.equal(queryables.status, 200);
  assert.ok("title" in queryables.body.properties);
  const found = await request("GET", "/stac/collections?q=forms&filter=license='other'&sortby=-id&fields=id&limit=1");
  assert.deepEqual(
    found.body.collections.map(({ id }: { id: string }) => id),
    ["forms"],
    found.text,
  );
  const { conformsTo } = (await request("GET", "/stac/conformance")).body;
  for (const name of ["collection-search", "collection-search#filter", "aggregation"]) {
    assert.ok(
      conformsTo.some((address: string) => address.endsWith(`/${name}`)),
      name,
    );
  }
});

test("a load that is refused in its middle is told so on the same connection", async () => {
  const line = `${JSON.stringify(makeItem("load", { properties: { datetime: "2024-06-01T10:00:00Z", text: "x".repeat(900) } }))}\n`;
  const { status, text } = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const outgoing = httpRequest(
      `${catalogue.url}/stac/collections/forms/items.ndjson`,
      { method: "POST", headers: { "content-type": "application/x-ndjson" } },
      (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          received += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, text: received }));
      },
    );
    outgoing.on("error", reject);
    outgoing.write("{}\n");
    let left = 8000;
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!outgoing.write(line)) {
          outgoing.once("drain", more);
          return;
        }
      }
      outgoing.end();
    };
    more();
  });
  assert.equal(status, 400, text);
  assert.match(text, /Line 1 /);
});

test("who may change what is told, and who sees a collection can be changed", async () => {
  const { body } = await request("GET", "/permissions?collection=forms");
  assert.deepEqual(body, {
    isOperator: true,
    workspaces: [],
    collection: { id: "forms", workspace: null, visibility: "public", mayWrite: true },
  });
  const document = (await request("GET", "/stac/collections/forms")).body;
  await request("PUT", "/stac/collections/forms?visibility=workspace", { body: document });
  const { collection } = (await request("GET", "/permissions?collection=forms")).body;
  assert.equal(collection.visibility, "workspace");
  assert.equal((await request("GET", "/permissions?collection=none")).status, 404);
  assert.equal((await request("PUT", "/stac/collections/forms?visibility=all", { body: document })).status, 400);
});
