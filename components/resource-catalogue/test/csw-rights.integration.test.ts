import assert from "node:assert/strict";
import { after, test } from "node:test";

import { DC_RECORD, toTransaction } from "./csw-records.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const OPEN_HOST = "resource-catalogue-open.localhost";
// Requests without a token are anonymous; those to the open host act for the operator.
const catalogue = await startCatalogue({ AUTHENTICATION: "required", OPEN_HOST });
const { request } = catalogue;

after(() => catalogue.close());

const asOperator = { "x-forwarded-host": OPEN_HOST };
const create = (path: string, body: unknown) => request("POST", path, { body, headers: asOperator });

await create("/stac/collections", makeCollection("open", { title: "Open scenes" }));
await create(
  "/stac/collections?workspace=alice&visibility=workspace",
  makeCollection("secret", { title: "Secret scenes" }),
);
await create("/stac/collections/open/items", makeItem("open-1"));
for (const index of [1, 2, 3]) {
  await create(
    "/stac/collections/secret/items",
    makeItem(`secret-${index}`, {
      properties: { datetime: "2031-01-01T00:00:00Z", title: "Concealed", keywords: ["concealed"], platform: "spy" },
    }),
  );
}

test("capabilities offer writing operations to callers who may write alone", async () => {
  for (const version of ["2.0.2", "3.0.0"]) {
    const namesFor = async (headers: Record<string, string>) => {
      const { text } = await request("GET", `/csw?service=CSW&request=GetCapabilities&version=${version}`, { headers });
      const names = [...text.matchAll(/<ows:Operation name="(\w+)"/g)].map(([, name]) => name);
      return { writing: names.filter((name) => name === "Transaction" || name === "Harvest"), text };
    };
    assert.deepEqual((await namesFor(asOperator)).writing.length, 2, version);
    const { writing, text } = await namesFor({});
    assert.deepEqual(writing, [], version);
    assert.match(text, /updateSequence="1-reader"/);
    assert.match(text, /name="AdditionalQueryables">.*apiso:CloudCover/);
  }
});

test("an anonymous caller never learns of private records, in any operation", async () => {
  const csw = "service=CSW&typeNames=csw:Record&resultType=results&elementSetName=full";
  const paths = [2, 3].flatMap((major) => {
    const version = major === 2 ? "2.0.2" : "3.0.0";
    return [
      `/csw?${csw}&version=${version}&request=GetRecords&maxRecords=100`,
      `/csw?${csw}&version=${version}&request=GetRecords&constraint=${encodeURIComponent("csw:AnyText like '%concealed%'")}`,
      `/csw?${csw}&version=${version}&request=GetRecords&constraint=${encodeURIComponent("apiso:ParentIdentifier = 'secret'")}`,
      `/csw?${csw}&version=${version}&request=GetRecords&outputSchema=${encodeURIComponent("http://www.isotc211.org/2005/gmd")}`,
      `/csw?service=CSW&version=${version}&request=GetRecordById&id=open-1`,
      `/csw?service=CSW&version=${version}&request=GetDomain&propertyName=dc:subject`,
      `/csw?service=CSW&version=${version}&request=GetDomain&propertyName=apiso:ParentIdentifier`,
      `/csw?service=CSW&version=${version}&request=GetDomain&propertyName=dc:date`,
      `/csw?service=CSW&version=${version}&request=GetDomain&propertyName=apiso:Platform`,
    ];
  });
  paths.push(
    "/opensearch?f=json",
    "/opensearch?f=atom&count=100",
    "/opensearch/search?q=concealed",
    "/collections?f=html",
    "/collections/metadata:main/items?f=html",
    "/stac?f=html",
    "/stac/search?f=html",
  );
  for (const path of paths) {
    const { status, text } = await request("GET", path);
    assert.equal(status, 200, `${path}: ${text}`);
    assert.doesNotMatch(
      text
        .replaceAll(/q=concealed|<a rel="self"[^>]*>|%concealed%|value="concealed"/g, "")
        .replaceAll(/searchTerms="concealed"/g, ""),
      /secret|concealed|spy|2031-01/i,
      path,
    );
    const seen = await request("GET", path, { headers: asOperator });
    assert.ok(
      /GetRecordById/.test(path) || /secret|concealed|spy|2031-01/i.test(seen.text),
      `${path} shows it to operators: ${seen.text.slice(0, 500)}`,
    );
  }
  const matched = (await request("GET", `/csw?${csw}&version=2.0.2&request=GetRecords`)).text;
  assert.match(matched, /numberOfRecordsMatched="2"/);
});

test("what a caller may not see is answered as what is not there", async () => {
  for (const [known, unknown] of [
    [
      "/csw?service=CSW&version=3.0.0&request=GetRecordById&id=secret-1",
      "/csw?service=CSW&version=3.0.0&request=GetRecordById&id=nothing1",
    ],
    [
      "/csw?service=CSW&version=3.0.0&request=GetRepositoryItem&id=secret-1",
      "/csw?service=CSW&version=3.0.0&request=GetRepositoryItem&id=nothing1",
    ],
    ["/opensearch/search?uid=secret-1", "/opensearch/search?uid=nothing1"],
    ["/opensearch/collections/secret", "/opensearch/collections/nothing1"],
    ["/collections/secret?f=html", "/collections/nothing1?f=html"],
    ["/stac/collections/secret/items/secret-1?f=html", "/stac/collections/nothing/items/nothing1?f=html"],
  ] as const) {
    const [hidden, absent] = [await request("GET", known), await request("GET", unknown)];
    const normal = (text: string) =>
      text.replaceAll(/secret-1|nothing1|secret|nothing/g, "X").replaceAll(/req-[a-z0-9]+/g, "");
    assert.equal(hidden.status, absent.status, known);
    assert.equal(hidden.status, 404, known);
    assert.equal(normal(hidden.text), normal(absent.text), known);
  }
});

test("only those who may change records do", async () => {
  const constraint = (id: string) =>
    `<csw:Constraint version="1.1.0"><csw:CqlText>dc:identifier = '${id}'</csw:CqlText></csw:Constraint>`;
  for (const body of [
    toTransaction("Insert", DC_RECORD),
    toTransaction("Delete", constraint("open-1")),
    `<csw:Harvest xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:Source>http://example.org/</csw:Source><csw:ResourceType>http://www.isotc211.org/2005/gmd</csw:ResourceType></csw:Harvest>`,
  ]) {
    const { status, text } = await request("POST", "/csw", { body, headers: { "content-type": "application/xml" } });
    assert.equal(status, 401, text);
    assert.match(text, /ExceptionReport/);
  }
  assert.equal((await request("GET", "/stac/collections/open/items/open-1")).status, 200);
  const inserted = await request("POST", "/csw", {
    body: toTransaction("Insert", DC_RECORD),
    headers: { "content-type": "application/xml", ...asOperator },
  });
  assert.match(inserted.text, /<csw:totalInserted>1</);
});
