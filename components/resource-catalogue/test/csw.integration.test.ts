import assert from "node:assert/strict";
import { after, test } from "node:test";

import { parseElements } from "@swath/xml";
import { descendantsOf } from "../xml/element.ts";
import { DC_RECORD, ISO_RECORD, toTransaction } from "./csw-records.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue();
const { request } = catalogue;

after(() => catalogue.close());

await request("POST", "/stac/collections", { body: makeCollection("scenes", { title: "Scenes of spring" }) });
await request("POST", "/stac/collections/scenes/items", {
  body: {
    type: "FeatureCollection",
    features: Array.from({ length: 25 }, (_, index) =>
      makeItem(`scene-${index}`, {
        properties: {
          datetime: `2024-06-${String(index + 1).padStart(2, "0")}T10:00:00Z`,
          "eo:cloud_cover": index * 4,
          platform: "sentinel-2a",
          instruments: ["msi"],
          keywords: index % 2 === 0 ? ["forest", "Lake Como"] : ["city"],
          ...(index === 3 && { title: "A title <&> of its own", description: "Größe und Maß" }),
        },
      }),
    ),
  },
});

const send = (body: string, headers: Record<string, string> = {}) =>
  request("POST", "/csw", { body, headers: { "content-type": "application/xml", ...headers } });
const get = (query: string) => request("GET", `/csw?${query}`);
const idsOf = (text: string): string[] =>
  descendantsOf(parseElements(text), "identifier").map((element) => element.text.trim());
const matchedOf = (text: string): number =>
  Number(descendantsOf(parseElements(text), "SearchResults")[0]?.attributes.get("numberOfRecordsMatched"));

const filter2 = (filter: string, more = "") =>
  `<csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ogc="http://www.opengis.net/ogc" xmlns:gml="http://www.opengis.net/gml" service="CSW" version="2.0.2" resultType="results" maxRecords="100"><csw:Query typeNames="csw:Record"><csw:ElementSetName>full</csw:ElementSetName><csw:Constraint version="1.1.0"><ogc:Filter>${filter}</ogc:Filter></csw:Constraint>${more}</csw:Query></csw:GetRecords>`;
const filter3 = (filter: string) =>
  `<csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/3.0" xmlns:fes="http://www.opengis.net/fes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" service="CSW" version="3.0.0" maxRecords="100"><csw:Query typeNames="csw:Record"><csw:ElementSetName>full</csw:ElementSetName><csw:Constraint version="1.1.0"><fes:Filter>${filter}</fes:Filter></csw:Constraint></csw:Query></csw:GetRecords>`;

const toConstraint = (id: string) =>
  `<csw:Constraint version="1.1.0"><ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:PropertyIsEqualTo><ogc:PropertyName>dc:identifier</ogc:PropertyName><ogc:Literal>${id}</ogc:Literal></ogc:PropertyIsEqualTo></ogc:Filter></csw:Constraint>`;

test("capabilities are of the version that a client asks for, 3.0.0 otherwise", async () => {
  for (const [query, version] of [
    ["", "3.0.0"],
    ["service=CSW&request=GetCapabilities", "3.0.0"],
    ["service=CSW&request=GetCapabilities&version=2.0.2", "2.0.2"],
    ["SERVICE=CSW&REQUEST=GetCapabilities&AcceptVersions=2.0.2,3.0.0", "2.0.2"],
    ["service=CSW&request=GetCapabilities&acceptversions=3.0.0,2.0.2", "3.0.0"],
  ] as const) {
    const { status, text } = await get(query);
    assert.equal(status, 200, text);
    const root = parseElements(text);
    assert.equal(root.name, "Capabilities", query);
    assert.equal(root.attributes.get("version"), version, query);
  }
  const only = await get("service=CSW&request=GetCapabilities&version=2.0.2&sections=ServiceProvider");
  assert.deepEqual(
    parseElements(only.text).children.map(({ name }) => name),
    ["ServiceProvider", "Filter_Capabilities"],
  );
  const none = await get("service=CSW&request=GetCapabilities&version=2.0.2&sections=");
  assert.deepEqual(
    parseElements(none.text).children.map(({ name }) => name),
    ["Filter_Capabilities"],
  );
});

test("DescribeRecord declares csw:Record, and refuses names without a namespace", async () => {
  const described = await get("service=CSW&version=2.0.2&request=DescribeRecord&typeName=csw:Record");
  const declared = descendantsOf(parseElements(described.text), "schema")[0]?.children ?? [];
  assert.ok(declared.some(({ name, attributes }) => name === "element" && attributes.get("name") === "Record"));
  const describe = (typeName: string) =>
    send(
      `<csw:DescribeRecord xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:TypeName>${typeName}</csw:TypeName></csw:DescribeRecord>`,
    );
  assert.match((await describe("csw:Record")).text, /<csw:SchemaComponent/);
  for (const wrong of ["Record", "csw:Foo"]) {
    assert.match((await describe(wrong)).text, /exceptionCode="InvalidParameterValue" locator="TypeName"/);
  }
});

test("a record of Dublin Core keeps schemes, repeated elements and the name of its reference system", async () => {
  const record = `<csw:Record xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/" xmlns:ows="http://www.opengis.net/ows"><dc:identifier>dc-kept</dc:identifier><dc:title>Kept</dc:title><dc:title>Kept twice</dc:title><dc:subject scheme="http://www.digest.org/2.1">Vegetation</dc:subject><dct:spatial>Lake Como</dct:spatial><ows:BoundingBox crs="urn:x-ogc:def:crs:EPSG:6.11:4326"><ows:LowerCorner>47.595 -4.097</ows:LowerCorner><ows:UpperCorner>51.217 0.889</ows:UpperCorner></ows:BoundingBox></csw:Record>`;
  await send(toTransaction("Insert", record));
  const read = async (set: string): Promise<string> =>
    (await get(`service=CSW&version=2.0.2&request=GetRecordById&id=dc-kept&elementSetName=${set}`)).text;
  const bbox =
    '<ows:BoundingBox crs="urn:x-ogc:def:crs:EPSG:6.11:4326"><ows:LowerCorner>47.595 -4.097</ows:LowerCorner><ows:UpperCorner>51.217 0.889</ows:UpperCorner></ows:BoundingBox>';
  const full = await read("full");
  assert.ok(full.includes(bbox), full);
  assert.ok(full.includes('<dc:subject scheme="http://www.digest.org/2.1">Vegetation</dc:subject>'), full);
  assert.ok(full.includes("<dct:spatial>Lake Como</dct:spatial>"), full);
  assert.match(
    await read("brief"),
    /<csw:BriefRecord [^>]*><dc:identifier>dc-kept<\/dc:identifier><dc:title>Kept<\/dc:title><dc:title>Kept twice<\/dc:title><dc:type>dataset<\/dc:type><ows:BoundingBox/,
  );
  await send(toTransaction("Delete", toConstraint("dc-kept")));
});

test("records are found by filters of both encodings and by CQL text alike", async () => {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [
      filter2(
        "<ogc:PropertyIsEqualTo><ogc:PropertyName>dc:identifier</ogc:PropertyName><ogc:Literal>scene-3</ogc:Literal></ogc:PropertyIsEqualTo>",
      ),
      ["scene-3"],
    ],
    [
      filter2(
        `<ogc:PropertyIsLike wildCard="*" singleChar="." escapeChar="!"><ogc:PropertyName>dc:title</ogc:PropertyName><ogc:Literal>scene-1.</ogc:Literal></ogc:PropertyIsLike>`,
        "<ogc:SortBy><ogc:SortProperty><ogc:PropertyName>dc:identifier</ogc:PropertyName><ogc:SortOrder>DESC</ogc:SortOrder></ogc:SortProperty></ogc:SortBy>",
      ),
      Array.from({ length: 10 }, (_, index) => `scene-${19 - index}`),
    ],
    [
      filter2(
        `<ogc:PropertyIsLike wildCard="%" singleChar="_" escapeChar="\\"><ogc:PropertyName>csw:AnyText</ogc:PropertyName><ogc:Literal>%grosse%</ogc:Literal></ogc:PropertyIsLike>`,
      ),
      ["scene-3"],
    ],
    [
      filter2(
        `<ogc:And><ogc:BBOX><ogc:PropertyName>ows:BoundingBox</ogc:PropertyName><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>45 10</gml:lowerCorner><gml:upperCorner>45.5 10.5</gml:upperCorner></gml:Envelope></ogc:BBOX><ogc:PropertyIsLessThan><ogc:PropertyName>eo:cloud_cover</ogc:PropertyName><ogc:Literal>4</ogc:Literal></ogc:PropertyIsLessThan><ogc:Not><ogc:PropertyIsNull><ogc:PropertyName>dc:subject</ogc:PropertyName></ogc:PropertyIsNull></ogc:Not></ogc:And>`,
      ),
      ["scene-0"],
    ],
    [
      filter2(
        `<ogc:And><ogc:PropertyIsEqualTo><ogc:PropertyName>dc:subject</ogc:PropertyName><ogc:Literal>city</ogc:Literal></ogc:PropertyIsEqualTo><ogc:PropertyIsBetween><ogc:PropertyName>apiso:CloudCover</ogc:PropertyName><ogc:LowerBoundary><ogc:Literal>4</ogc:Literal></ogc:LowerBoundary><ogc:UpperBoundary><ogc:Literal>7</ogc:Literal></ogc:UpperBoundary></ogc:PropertyIsBetween></ogc:And>`,
      ),
      ["scene-1"],
    ],
    [
      filter3(
        `<fes:And><fes:During><fes:ValueReference>dc:date</fes:ValueReference><gml:TimePeriod gml:id="t"><gml:beginPosition>2024-06-03</gml:beginPosition><gml:endPosition>2024-06-05</gml:endPosition></gml:TimePeriod></fes:During><fes:PropertyIsEqualTo matchCase="false"><fes:ValueReference>dc:subject</fes:ValueReference><fes:Literal>lake como</fes:Literal></fes:PropertyIsEqualTo></fes:And>`,
      ),
      ["scene-4", "scene-2"],
    ],
    [filter3(`<fes:ResourceId rid="scene-7"/><fes:ResourceId rid="scene-8"/>`), ["scene-8", "scene-7"]],
    [
      filter3(
        `<fes:And><fes:DWithin><fes:ValueReference>ows:BoundingBox</fes:ValueReference><gml:Point srsName="EPSG:4326"><gml:pos>9.9 45.5</gml:pos></gml:Point><fes:Distance uom="km">20</fes:Distance></fes:DWithin><fes:PropertyIsGreaterThan><fes:ValueReference>eo:cloud_cover</fes:ValueReference><fes:Literal>95</fes:Literal></fes:PropertyIsGreaterThan></fes:And>`,
      ),
      ["scene-24"],
    ],
  ];
  for (const [body, ids] of lists) {
    const { status, text } = await send(body);
    assert.equal(status, 200);
    assert.deepEqual(idsOf(text), ids, `${body}\n${text.slice(0, 2000)}`);
    assert.equal(matchedOf(text), ids.length);
  }
  for (const [constraint, ids] of [
    ["dc:title like 'A title%'", ["scene-3"]],
    ["csw:AnyText like '%Maß%' and dc:type = 'dataset'", ["scene-3"]],
    ["BBOX(ows:BoundingBox, 10, 45, 11, 46) AND apiso:CloudCover <= 4", ["scene-1", "scene-0"]],
    ["dc:title ilike 'a TITLE%'", ["scene-3"]],
    ["dc:relation = 'scenes' and apiso:CloudCover <= 4", ["scene-1", "scene-0"]],
    ["dc:relation like 'sce%' and apiso:CloudCover <= 4", ["scene-1", "scene-0"]],
    ["dc:relation <> 'scenes' and apiso:CloudCover <= 4", []],
    ["Identifier in ('scene-5', 'scene-6')", ["scene-6", "scene-5"]],
    ["apiso:TempExtent_begin >= '2024-06-24' and dc:type <> 'collection'", ["scene-24", "scene-23"]],
    ["apiso:TempExtent_end < '2024-06-02T00:00:00Z' and apiso:ParentIdentifier = 'scenes'", ["scene-0"]],
  ] as const) {
    const query = `service=CSW&version=2.0.2&request=GetRecords&typeNames=csw:Record&resultType=results&elementSetName=full&constraintLanguage=CQL_TEXT&constraint=${encodeURIComponent(constraint)}`;
    const { text } = await get(query);
    assert.deepEqual(idsOf(text), ids, `${constraint}\n${text.slice(0, 1500)}`);
  }
});

test("pages by startPosition meet every record once", async () => {
  const seen: string[] = [];
  for (let start = 1; start > 0;) {
    const { text } = await get(
      `service=CSW&version=3.0.0&request=GetRecords&typeNames=csw:Record&elementSetName=brief&maxRecords=7&startPosition=${start}`,
    );
    seen.push(...idsOf(text));
    assert.equal(matchedOf(text), 26);
    start = Number(descendantsOf(parseElements(text), "SearchResults")[0]?.attributes.get("nextRecord"));
  }
  assert.equal(seen.length, 26);
  assert.equal(new Set(seen).size, 26);
});

test("a record that came as XML is kept byte for byte, and shown in every schema", async () => {
  const inserted = await send(toTransaction("Insert", ISO_RECORD + DC_RECORD));
  assert.equal(descendantsOf(parseElements(inserted.text), "totalInserted")[0]?.text, "2", inserted.text);
  assert.equal((await get("service=CSW&version=2.0.2&request=GetRepositoryItem&id=iso-1")).text, ISO_RECORD);
  for (const schema of [
    "http://www.opengis.net/cat/csw/2.0.2",
    "http://www.isotc211.org/2005/gmd",
    "http://www.w3.org/2005/Atom",
  ]) {
    for (const id of ["iso-1", "dc-1", "scene-3", "scenes"]) {
      const { status, text } = await get(
        `service=CSW&version=2.0.2&request=GetRecordById&id=${id}&elementSetName=full&outputSchema=${encodeURIComponent(schema)}`,
      );
      assert.equal(status, 200);
      const [record] = parseElements(text).children;
      assert.ok(record, `${schema} ${id}: ${text}`);
    }
  }
  const iso = await get("service=CSW&version=2.0.2&request=GetRecordById&id=iso-1&elementSetName=full");
  assert.match(iso.text, /<dc:title>Soil moisture &amp; more<\/dc:title>/);
  assert.match(iso.text, /<ows:LowerCorner>-10 170<\/ows:LowerCorner><ows:UpperCorner>10 -170<\/ows:UpperCorner>/);
  const found = await send(
    filter2(
      `<ogc:And><ogc:PropertyIsEqualTo><ogc:PropertyName>apiso:Type</ogc:PropertyName><ogc:Literal>dataset</ogc:Literal></ogc:PropertyIsEqualTo><ogc:BBOX><ogc:PropertyName>apiso:BoundingBox</ogc:PropertyName><gml:Envelope><gml:lowerCorner>0 175</gml:lowerCorner><gml:upperCorner>1 176</gml:upperCorner></gml:Envelope></ogc:BBOX></ogc:And>`,
    ),
  );
  assert.deepEqual(idsOf(found.text), ["iso-1"]);
});

test("an ISO record of a scene invents no date", async () => {
  const iso = async (id: string): Promise<string> =>
    (
      await get(
        `service=CSW&version=2.0.2&request=GetRecordById&id=${id}&elementSetName=full&outputSchema=http://www.isotc211.org/2005/gmd`,
      )
    ).text;
  assert.match(await iso("scene-3"), /<gmd:title>.*<\/gmd:title><gmd:date gco:nilReason="unknown"\/>/s);
  const properties = {
    datetime: "2024-06-01T10:00:00Z",
    created: "2024-06-02T00:00:00Z",
    updated: "2024-06-03T00:00:00Z",
  };
  await request("POST", "/stac/collections", { body: makeCollection("dated") });
  await request("POST", "/stac/collections/dated/items", { body: makeItem("dated-1", { properties }) });
  const kinds = [...(await iso("dated-1")).matchAll(/CI_DateTypeCode[^>]*codeListValue="(\w+)"/g)].map(
    ([, kind]) => kind,
  );
  assert.deepEqual(kinds.slice(0, 2), ["creation", "revision"]);
  await request("DELETE", "/stac/collections/dated");
});

test("Not of a spatial operator finds records without a place", async () => {
  const place = `<ogc:BBOX><ogc:PropertyName>ows:BoundingBox</ogc:PropertyName><gml:Envelope srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>45 10</gml:lowerCorner><gml:upperCorner>46 11</gml:upperCorner></gml:Envelope></ogc:BBOX>`;
  const placeless = DC_RECORD.replace("dc-1", "dc-nowhere").replace(/<ows:BoundingBox.*<\/ows:BoundingBox>/, "");
  await send(toTransaction("Insert", placeless));
  const elsewhere = idsOf((await send(filter2(`<ogc:Not>${place}</ogc:Not>`))).text);
  assert.ok(elsewhere.includes("dc-nowhere") && elsewhere.includes("dc-1"), String(elsewhere));
  assert.ok(!elsewhere.includes("scene-1"));
  assert.ok(
    !idsOf((await send(filter2(`<ogc:Not><ogc:Not>${place}</ogc:Not></ogc:Not>`))).text).includes("dc-nowhere"),
  );
  await send(toTransaction("Delete", toConstraint("dc-nowhere")));
});

test("transactions update and delete what their constraint names, all or nothing", async () => {
  const twice = await send(toTransaction("Insert", DC_RECORD.replace("dc-1", "dc-2") + DC_RECORD));
  assert.match(twice.text, /exceptionCode="TransactionFailed"/);
  assert.deepEqual(idsOf((await get("service=CSW&version=2.0.2&request=GetRecordById&id=dc-2")).text), []);
  const property = (name: string, value: string) =>
    `<csw:RecordProperty><csw:Name>${name}</csw:Name><csw:Value>${value}</csw:Value></csw:RecordProperty>`;
  for (const id of ["dc-1", "scene-9"]) {
    const updated = await send(toTransaction("Update", property("dc:title", `New of ${id}`) + toConstraint(id)));
    assert.equal(descendantsOf(parseElements(updated.text), "totalUpdated")[0]?.text, "1", updated.text);
    const { text } = await get(`service=CSW&version=2.0.2&request=GetRecordById&id=${id}&elementSetName=full`);
    assert.match(text, new RegExp(`<dc:title>New of ${id}</dc:title>`));
  }
  const whole = await send(toTransaction("Update", ISO_RECORD.replace("Soil moisture", "Snow")));
  assert.equal(descendantsOf(parseElements(whole.text), "totalUpdated")[0]?.text, "1", whole.text);
  const gone = await send(toTransaction("Delete", toConstraint("scene-9")));
  assert.equal(descendantsOf(parseElements(gone.text), "totalDeleted")[0]?.text, "1", gone.text);
  assert.equal((await request("GET", "/stac/collections/scenes/items/scene-9")).status, 404);
});

test("GetDomain tells values of parameters and of properties", async () => {
  const values = async (query: string): Promise<string[]> =>
    descendantsOf(parseElements((await get(`service=CSW&version=2.0.2&request=GetDomain&${query}`)).text), "Value").map(
      ({ text }) => text,
    );
  assert.deepEqual(await values("parameterName=GetRecords.ElementSetName"), ["brief", "summary", "full"]);
  assert.deepEqual(await values("propertyName=dc:subject"), ["Lake Como", "city", "forest", "soil"]);
  assert.deepEqual(await values("propertyName=dc:type"), ["collection", "dataset", "text"]);
  const range = await get("service=CSW&version=3.0.0&request=GetDomain&valueReference=apiso:CloudCover");
  assert.match(range.text, /<csw:MinValue>0<\/csw:MinValue><csw:MaxValue>96<\/csw:MaxValue>/);
});

test("SOAP wraps what is asked and what is answered, faults too", async () => {
  const wrap = (body: string, namespace: string) =>
    `<s:Envelope xmlns:s="${namespace}"><s:Body>${body}</s:Body></s:Envelope>`;
  for (const [namespace, type] of [
    ["http://www.w3.org/2003/05/soap-envelope", "application/soap+xml"],
    ["http://schemas.xmlsoap.org/soap/envelope/", "text/xml"],
  ] as const) {
    const good = await send(wrap(filter2("<ogc:FeatureId fid='scene-1'/>"), namespace), {
      "content-type": "application/soap+xml",
    });
    assert.match(good.headers.get("content-type") ?? "", new RegExp(`^${type.replace("+", "\\+")}`));
    assert.deepEqual(idsOf(good.text), ["scene-1"]);
    const bad = await send(wrap(filter2("<ogc:Foo/>"), namespace));
    assert.match(bad.text, /<soap:Fault>.*exceptionCode="InvalidParameterValue"/);
  }
});

test("what is wrong with a request is said as OWS exceptions of its version", async () => {
  for (const [query, code, locator] of [
    ["request=GetCapabilities", "MissingParameterValue", "service"],
    ["service=FOO&request=GetCapabilities", "InvalidParameterValue", "service"],
    ["service=CSW", "MissingParameterValue", "request"],
    ["service=CSW&request=getCapabilities", "InvalidParameterValue", "request"],
    ["service=CSW&request=GetCapabilities&acceptversions=9.9.9", "VersionNegotiationFailed", "acceptversions"],
    ["service=CSW&version=9&request=GetRecords", "InvalidParameterValue", "version"],
    ["service=CSW&version=VERSION&request=GetRecordById", "MissingParameterValue", "id"],
    ["service=CSW&version=VERSION&request=GetRecords&typeNames=foo", "InvalidParameterValue", "typeNames"],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&outputSchema=foo",
      "InvalidParameterValue",
      "outputSchema",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&maxRecords=-1",
      "InvalidParameterValue",
      "maxRecords",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&startPosition=0",
      "InvalidParameterValue",
      "startPosition",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&elementSetName=foo",
      "InvalidParameterValue",
      "ElementSetName",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&constraint=foo%20%3D%201",
      "InvalidParameterValue",
      "constraint",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&constraint=%3Cogc:Filter",
      "NoApplicableCode",
      "body",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&sortBy=foo:A",
      "InvalidParameterValue",
      "sortBy",
    ],
    ["service=CSW&version=VERSION&request=GetRecords&typeNames=csw:BriefRecord", "InvalidParameterValue", "typeNames"],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:SummaryRecord",
      "InvalidParameterValue",
      "typeNames",
    ],
    [
      `service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&constraint=${encodeURIComponent('<f:Filter xmlns:f="http://example.org/f"><f:FeatureId fid="x"/></f:Filter>')}`,
      "InvalidParameterValue",
      "constraint",
    ],
    [
      "service=CSW&version=VERSION&request=GetRecords&typeNames=csw:Record&constraint=BBOX(dct:spatial,1,2,3,4)",
      "InvalidParameterValue",
      "constraint",
    ],
    ["service=CSW&version=VERSION&request=GetDomain", "MissingParameterValue", "parameterName"],
    ["service=CSW&version=VERSION&request=Transaction", "MissingParameterValue", "Transaction"],
  ] as const) {
    for (const version of ["2.0.2", "3.0.0"]) {
      const { status, text } = await get(query.replace("VERSION", version));
      const [exception] = descendantsOf(parseElements(text), "Exception");
      assert.equal(exception?.attributes.get("exceptionCode"), code, `${query}: ${text}`);
      assert.equal(exception?.attributes.get("locator"), locator, query);
      assert.equal(status, query.includes("VERSION") && version === "2.0.2" ? 200 : status);
      assert.ok(status < 500, text);
      // OWS Common 1.0 has `language`, 2.0 `xml:lang`: either is invalid in the other.
      const isFirst = text.includes('"http://www.opengis.net/ows"');
      assert.match(text, isFirst ? / language="en"/ : / xml:lang="en"/);
    }
  }
  const absent = await get("service=CSW&version=3.0.0&request=GetRecordById&id=none");
  assert.equal(absent.status, 404);
  assert.match(absent.text, /exceptionCode="NotFound" locator="id"/);
});
