import assert from "node:assert/strict";
import { after, test } from "node:test";

import { childrenOf, descendantsOf } from "../xml/element.ts";
import { parseElements } from "@swath/xml";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;

after(() => catalogue.close());

await request("POST", "/stac/collections", { body: makeCollection("scenes", { title: "Scenes" }) });
await request("POST", "/stac/collections/scenes/items", {
  body: {
    type: "FeatureCollection",
    features: Array.from({ length: 12 }, (_, index) =>
      makeItem(`scene-${index}`, {
        properties: {
          datetime: `2024-06-${String(index + 1).padStart(2, "0")}T10:00:00Z`,
          "eo:cloud_cover": index * 10,
          "sat:relative_orbit": index,
          "sat:orbit_state": index % 2 === 0 ? "ascending" : "descending",
          platform: "sentinel-2a",
          instruments: ["msi"],
          title: `Scene number ${index}`,
        },
      }),
    ),
  },
});

const search = async (query: string, path = "/opensearch/search"): Promise<string[]> => {
  const { status, text, body } = await request("GET", `${path}?f=json&count=100&${query}`);
  assert.equal(status, 200, `${query}: ${text}`);
  return (body.features as { properties: { identifier: string } }[]).map(({ properties }) => properties.identifier);
};

test("a description's template, filled, gives results; in Atom and GeoJSON the same", async () => {
  for (const path of ["/opensearch", "/opensearch/collections/scenes"]) {
    const { text, headers } = await request("GET", path);
    assert.match(headers.get("content-type") ?? "", /^application\/opensearchdescription\+xml/);
    const root = parseElements(text);
    assert.ok((childrenOf(root, "ShortName")[0]?.text ?? "").length <= 16);
    const templates = childrenOf(root, "Url").filter(({ attributes }) => attributes.get("rel") === "results");
    assert.equal(templates.length, 2);
    const totals = await Promise.all(
      templates.map(async ({ attributes }) => {
        const filled = (attributes.get("template") ?? "")
          .replace("{searchTerms?}", "scene")
          .replace("{count?}", "5")
          .replace("{geo:box?}", "10,45,10.5,45.5")
          .replace("{time:start?}", "2024-06-03")
          .replace("{eo:cloudCover?}", encodeURIComponent("[0,80]"))
          .replaceAll(/\{[^}]*\}/g, "");
        const response = await fetch(filled);
        assert.equal(response.status, 200, filled);
        const body = await response.text();
        if (attributes.get("type") === "application/geo+json") {
          const { features, properties } = JSON.parse(body) as {
            features: unknown[];
            properties: { totalResults: number };
          };
          return [properties.totalResults, features.length];
        }
        const feed = parseElements(body);
        return [Number(childrenOf(feed, "totalResults")[0]?.text), childrenOf(feed, "entry").length];
      }),
    );
    assert.deepEqual(totals, [
      [7, 5],
      [7, 5],
    ]);
  }
});

test("parameters of Geo, Time and EO find what they say", async () => {
  for (const [query, ids] of [
    ["eo:cloudCover=30", ["scene-3"]],
    ["cloudCover=[30,40]", ["scene-4", "scene-3"]],
    ["cloudCover=]30,50[", ["scene-4"]],
    ["cloudCover=10[&parentIdentifier=scenes", ["scene-0"]],
    ["cloudCover=]100", ["scene-11"]],
    ["track={2,5}", ["scene-5", "scene-2"]],
    ["orbitDirection=DESCENDING&cloudCover=30]", ["scene-3", "scene-1"]],
    ["platform=SENTINEL-2A&instrument=MSI&count2=&end=2024-06-01", ["scene-0"]],
    ["start=2024-06-12T00:00:00Z", ["scene-11", "scenes"]],
    ["time=2024-06-02/2024-06-03&parentIdentifier=scenes", ["scene-2", "scene-1"]],
    ["start=2024-06-02&end=2024-06-03&timeRelation=during", ["scene-2", "scene-1"]],
    ["uid=scene-8", ["scene-8"]],
    ["q=number+7", ["scene-7"]],
    [
      `geometry=${encodeURIComponent("POLYGON((9 44, 12 44, 12 47, 9 47, 9 44))")}&relation=contains&cloudCover=0`,
      ["scene-0"],
    ],
    ["lat=45.5&lon=9.9&radius=20000&cloudCover=0", ["scene-0"]],
    ["bbox=20,20,21,21&parentIdentifier=scenes", []],
  ] as const) {
    assert.deepEqual(await search(query.replace("count2=&", "")), ids, query);
  }
});

test("pages follow their links", async () => {
  const seen: string[] = [];
  let url: string | undefined = `${catalogue.url}/opensearch/collections/scenes/search?count=5`;
  while (url !== undefined) {
    const feed = parseElements(await (await fetch(url)).text());
    seen.push(...childrenOf(feed, "entry").flatMap((entry) => childrenOf(entry, "identifier").map(({ text }) => text)));
    url = childrenOf(feed, "link")
      .find(({ attributes }) => attributes.get("rel") === "next")
      ?.attributes.get("href");
  }
  assert.equal(seen.length, 12);
  assert.equal(new Set(seen).size, 12);
  const entry = descendantsOf(parseElements((await request("GET", "/opensearch?uid=scene-1")).text), "entry")[0];
  assert.ok(childrenOf(entry, "where").length === 1 && childrenOf(entry, "updated").length === 1);
  const [id] = childrenOf(entry, "id");
  assert.equal((await fetch(id?.text ?? "")).status, 200);
});

test("what is wrong with a request is said", async () => {
  for (const [query, status] of [
    ["bbox=1,2,3", 400],
    ["bbox=10,50,20,40", 400],
    ["bbox=a,b,c,d", 400],
    ["uid=nothing", 404],
    ["start=yesterday", 400],
    ["start=2024-01-02&end=2024-01-01", 400],
    ["cloudCover=much", 400],
    ["count=-1", 400],
    ["startIndex=0", 400],
    ["relation=beside&bbox=1,2,3,4", 400],
    ["lat=95&lon=0&radius=10", 400],
    [`geometry=${encodeURIComponent("POINT(0 0)) OR (1=1")}`, 400],
    ["foo=bar", 400],
    ["f=csv", 400],
  ] as const) {
    assert.equal((await request("GET", `/opensearch/search?${query}`)).status, status, query);
  }
  assert.equal((await request("GET", "/opensearch/collections/none")).status, 404);
});

test("mode=opensearch at the address of CSW is OpenSearch, as pycsw has it", async () => {
  const base = "/csw?mode=opensearch&service=CSW&version=3.0.0";
  for (const query of ["", "&request=GetCapabilities"]) {
    const { text, headers } = await request("GET", `${base}${query}`);
    assert.match(headers.get("content-type") ?? "", /^application\/opensearchdescription\+xml/);
    assert.equal(parseElements(text).name, "OpenSearchDescription");
  }
  const query = `${base}&request=GetRecords&elementsetname=full&typenames=csw:Record&resulttype=results&maxrecords=100`;
  const feed = parseElements((await request("GET", `${query}&eo:cloudCover=${encodeURIComponent("]90")}`)).text);
  assert.equal(feed.name, "feed");
  assert.deepEqual(
    childrenOf(feed, "entry").map((entry) => childrenOf(entry, "identifier")[0]?.text),
    ["scene-11", "scene-10"],
  );
  assert.deepEqual(await search("request=GetRecords&mode=opensearch&stop=2024-06-01T12:00:00Z&q=scene", "/csw"), [
    "scene-0",
    "scenes",
  ]);
  const unknown = await request("GET", `${query}&eo:foo=1`);
  assert.equal(unknown.status, 400);
  assert.equal(parseElements(unknown.text).name, "ExceptionReport");
  assert.equal((await request("GET", "/csw?mode=foo&service=CSW")).status, 400);
});

test("filters of OpenSearch have their effect in key-value pairs of CSW, or are refused", async () => {
  const find = async (query: string, version: string): Promise<string[]> => {
    const { text } = await request(
      "GET",
      `/csw?service=CSW&version=${version}&request=GetRecords&typeNames=csw:Record&resultType=results&elementSetName=brief&maxRecords=100&${query}`,
    );
    return descendantsOf(parseElements(text), "identifier").map((element) => element.text);
  };
  const bounds = "bbox=10.2,45.2,10.4,45.4";
  for (const version of ["2.0.2", "3.0.0"]) {
    for (const [query, ids] of [
      [`eo:cloudCover=${encodeURIComponent("[0,10]")}`, ["scene-1", "scene-0"]],
      [`cloudCover=${encodeURIComponent("[0,10]")}`, ["scene-1", "scene-0"]],
      ["start=2024-06-11&stop=2024-06-12T12:00:00Z", ["scene-11", "scene-10", "scenes"]],
      ["eo:parentIdentifier=scenes&eo:track=3", ["scene-3"]],
      ["eo:parentIdentifier=none", []],
      ["geometry=POINT(10.5%2045.5)&track=4", ["scene-4"]],
      ["geometry=POINT(20%2045.5)&track=4", []],
      [`${bounds}&track=4`, ["scene-4"]],
      [`${bounds}&relation=disjoint&track=4`, []],
      ["time=2024-06-01T00:00:00Z/2024-06-03T00:00:00Z&trelation=disjoint&track=4", ["scene-4"]],
      ["time=2024-06-01T00:00:00Z/2024-06-30T00:00:00Z&trelation=disjoint&track=4", []],
      // Parameters of no standard are ignored.
      ["track=4&_=123", ["scene-4"]],
    ] as const) {
      assert.deepEqual(await find(query, version), ids, `${version} ${query}`);
    }
    for (const query of [
      "eo:foo=1",
      "relation=near",
      "geometry=POINT(1%202)&geometry_crs=urn:ogc:def:crs:EPSG::4326",
    ]) {
      const { text } = await request(
        "GET",
        `/csw?service=CSW&version=${version}&request=GetRecords&typeNames=csw:Record&${query}`,
      );
      assert.match(text, /exceptionCode="InvalidParameterValue"/, query);
    }
  }
});
