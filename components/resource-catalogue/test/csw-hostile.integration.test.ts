import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";

import { descendantsOf } from "../xml/element.ts";
import { parseElements } from "@swath/xml";
import { breakDocument } from "@swath/xml/malformed";
import { DC_RECORD, ISO_RECORD, toTransaction } from "./csw-records.ts";
import { makeCollection, makeItem, startCatalogue } from "./fixture.ts";

const catalogue = await startCatalogue({ HARVEST_ALLOW_PRIVATE: "127.0.0.1" });
const strict = await startCatalogue();
const { request } = catalogue;

after(async () => {
  await catalogue.close();
  await strict.close();
});

await request("POST", "/stac/collections", { body: makeCollection("scenes") });
await request("POST", "/stac/collections/scenes/items", { body: makeItem("scene-1") });

const send = (body: string | Uint8Array, type = "application/xml") =>
  request("POST", "/csw", { body, headers: { "content-type": type } });
const codeOf = (text: string): string | undefined =>
  descendantsOf(parseElements(text), "Exception")[0]?.attributes.get("exceptionCode");

test("hostile documents are refused as exceptions, and the service goes on", async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, index) => `<!ENTITY ${"bcdefghij"[index]} "${`&${"abcdefghi"[index]};`.repeat(10)}">`).join("")}]><x>&j;</x>`;
  const outside = `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><a>&f;</a></csw:GetRecords>`;
  const nested = `<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc">${"<ogc:Not>".repeat(80)}<ogc:FeatureId fid="x"/>${"</ogc:Not>".repeat(80)}</ogc:Filter>`;
  const inFilter = (filter: string) =>
    `<csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:Query typeNames="csw:Record"><csw:Constraint version="1.1.0">${filter}</csw:Constraint></csw:Query></csw:GetRecords>`;
  for (const [what, body] of [
    ["an entity bomb", bomb],
    ["an outside entity", outside],
    ["a document type in capitals of both kinds", bomb.replace("DOCTYPE", "doctype")],
    ["depth", `${"<a>".repeat(100_000)}${"</a>".repeat(100_000)}`],
    ["depth of a filter", inFilter(nested)],
    ["width", `<a>${"<b/>".repeat(250_000)}</a>`],
    ["no end", "<csw:GetRecords"],
    ["no XML", "\u0000\u0001\u0002"],
    ["two roots", "<a/><b/>"],
    ["no prefix", "<csw:GetRecords service='CSW'/>"],
    ["an unknown entity", "<a>&nbsp;</a>"],
    ["a character that is none", "<a>&#0;</a>"],
    ["reserved names", "<__proto__><constructor/></__proto__>"],
    ["an encoding that is none", '<?xml version="1.0" encoding="utf-foo"?><a/>'],
    ["an unknown operation", '<csw:Foo xmlns:csw="http://www.opengis.net/cat/csw/3.0" service="CSW"/>'],
    [
      "an operator that is none",
      inFilter('<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:Evil/></ogc:Filter>'),
    ],
    ["two operators", inFilter('<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:And/><ogc:Or/></ogc:Filter>')],
    [
      "a box of words",
      inFilter(
        '<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:BBOX><gml:Envelope xmlns:gml="http://www.opengis.net/gml"><gml:lowerCorner>a b</gml:lowerCorner><gml:upperCorner>c d</gml:upperCorner></gml:Envelope></ogc:BBOX></ogc:Filter>',
      ),
    ],
    [
      "a reference system of elsewhere",
      inFilter(
        '<ogc:Filter xmlns:ogc="http://www.opengis.net/ogc"><ogc:BBOX><gml:Envelope xmlns:gml="http://www.opengis.net/gml" srsName="EPSG:3857"><gml:lowerCorner>0 0</gml:lowerCorner><gml:upperCorner>1 1</gml:upperCorner></gml:Envelope></ogc:BBOX></ogc:Filter>',
      ),
    ],
    ["latin-1 that says it is UTF-8", Buffer.from("<a>\xe9</a>", "latin1")],
    ["an empty envelope", '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body/></s:Envelope>'],
  ] as const) {
    const { status, text } = await send(body);
    assert.ok(status === 200 || (status >= 400 && status < 500), `${what}: ${status} ${text.slice(0, 300)}`);
    assert.ok(codeOf(text) !== undefined, `${what}: ${text.slice(0, 300)}`);
    assert.doesNotMatch(text, /root:x:/);
  }
  assert.match((await send("")).text, /ExceptionReport/);
  const large = await send(Buffer.alloc(50 * 2 ** 20, "<"));
  assert.equal(large.status, 413);
  assert.equal(codeOf(large.text), "NoApplicableCode");
  assert.equal((await request("GET", "/csw")).status, 200);
});

test("refuses a form of more fields than any request has before it makes them", async () => {
  const { status, text } = await send("a&".repeat(500_000), "application/x-www-form-urlencoded");
  assert.equal(status, 413);
  assert.match(text, /more than 1000 fields/);
});

test("refuses documents of more parameters, sort keys or versions than any request has before it looks at them", async () => {
  const request = (name: string, content: string) =>
    `<csw:${name} xmlns:csw="http://www.opengis.net/cat/csw/3.0" service="CSW" version="3.0.0">${content}</csw:${name}>`;
  const many = (element: string) => element.repeat(190_000);
  for (const [what, document, why] of [
    ["parameters", request("GetRecords", many("<csw:b c='d'>e</csw:b>")), /more than 5000 elements of text/],
    ["ids", request("GetRecordById", many("<csw:Id>e</csw:Id>")), /more than 5000 elements of text/],
    [
      "names of elements",
      request("GetRecords", `<csw:Query>${many("<csw:ElementName>e</csw:ElementName>")}</csw:Query>`),
      /more than 5000 elements of text/,
    ],
    [
      "sort keys",
      request("GetRecords", `<csw:Query><csw:SortBy>${many("<csw:SortProperty/>")}</csw:SortBy></csw:Query>`),
      /more than 300 elements in the element SortBy/,
    ],
    [
      "versions",
      request("GetCapabilities", `<csw:AcceptVersions>${many("<csw:Version/>")}</csw:AcceptVersions>`),
      /more than 100 elements in the element AcceptVersions/,
    ],
  ] as const) {
    const { text } = await send(document);
    assert.match(text, why, what);
  }
  const ids = "<csw:Id>none</csw:Id>".repeat(4000);
  assert.doesNotMatch((await send(request("GetRecordById", ids))).text, /elements of text/);
});

test("refuses every kind of document that is not well formed, of each operation", async () => {
  const documents = [
    toTransaction("Insert", DC_RECORD.replace("dc-1", "malformed-1")),
    '<csw:GetCapabilities xmlns:csw="http://www.opengis.net/cat/csw/3.0" service="CSW"><x/></csw:GetCapabilities>',
  ];
  for (const document of documents) {
    for (const { rule, text } of breakDocument(document)) {
      // Version 2.0.2 has exceptions with 200.
      const { text: response } = await send(text);
      assert.equal(codeOf(response), "NoApplicableCode", `${rule}: ${response}`);
      assert.match(response, /is not well formed/, rule);
    }
  }
  const { text } = await request("GET", "/csw?service=CSW&version=3.0.0&request=GetRecordById&id=malformed-1");
  assert.ok(codeOf(text) !== undefined, `nothing of a refused transaction is stored: ${text}`);
});

test("large documents do not hold up other requests", async () => {
  const body = toTransaction(
    "Insert",
    Array.from({ length: 2000 }, (_, index) => DC_RECORD.replace("dc-1", `many-${index}`)).join(""),
  );
  assert.ok(body.length > 1_000_000);
  const done = send(body);
  const quick = await request("GET", "/csw?service=CSW&request=GetCapabilities");
  assert.equal(quick.status, 200);
  const { text } = await done;
  assert.equal(descendantsOf(parseElements(text), "totalInserted")[0]?.text, "2000", text.slice(0, 500));
});

test("a transaction of many records is all of it or nothing, and others have their turn meanwhile", async () => {
  const records = (count: number, first = 0) =>
    Array.from({ length: count }, (_, index) => DC_RECORD.replaceAll("dc-1", `batch-${first + index}`)).join("");
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const written = await send(toTransaction("Insert", records(450)));
  clearInterval(timer);
  assert.match(written.text, /totalInserted>450</);
  // Three batches at least, each with its own turns.
  assert.ok(turns >= 3, `${turns} turns`);
  // The last one exists: those of the batches before it are not kept.
  const more = (count: number) => records(count, -450).replaceAll("batch--", "another-");
  const refused = await send(toTransaction("Insert", more(451)));
  assert.equal(codeOf(refused.text), "TransactionFailed", refused.text);
  assert.match((await send(toTransaction("Insert", more(450)))).text, /totalInserted>450</);
  assert.match((await send(toTransaction("Insert", records(10_001)))).text, /at most 10000 records/);
});

test("nothing that a parameter holds reaches SQL or XML as it is", async () => {
  const attacks = [
    "'",
    '"',
    "';drop table record;--",
    "\\",
    "%",
    "<x>&",
    "]]>",
    "${1}",
    "\u0000",
    "\ud83d\ude00",
    "$1",
    "a".repeat(5000),
  ];
  const parameters = [
    "service",
    "version",
    "request",
    "acceptversions",
    "sections",
    "typeNames",
    "outputSchema",
    "outputFormat",
    "resultType",
    "elementSetName",
    "elementName",
    "constraint",
    "constraintLanguage",
    "sortBy",
    "startPosition",
    "maxRecords",
    "id",
    "q",
    "bbox",
    "time",
    "recordIds",
    "parameterName",
    "propertyName",
    "requestId",
    "namespace",
    "updatesequence",
  ];
  for (const operation of ["GetCapabilities", "GetRecords", "GetRecordById", "GetDomain", "GetRepositoryItem"]) {
    for (const name of parameters) {
      await Promise.all(
        attacks.map(async (attack) => {
          const query = new URLSearchParams({
            service: "CSW",
            version: "3.0.0",
            request: operation,
            typeNames: "csw:Record",
            id: "scene-1",
            propertyName: "dc:type",
            ...(name === "elementName" ? {} : { elementSetName: "full" }),
            [name]: attack,
          });
          const { status, text } = await request("GET", `/csw?${query.toString()}`);
          assert.ok(
            status < 500 || status === 501,
            `${operation} ${name}=${attack.slice(0, 30)}: ${status} ${text.slice(0, 300)}`,
          );
          assert.ok(text.startsWith("{") || parseElements(text).name !== "", `${operation} ${name}`);
        }),
      );
    }
  }
  for (const name of [
    "q",
    "uid",
    "bbox",
    "geometry",
    "start",
    "end",
    "time",
    "platform",
    "cloudCover",
    "parentIdentifier",
    "productType",
    "relation",
    "count",
  ]) {
    for (const attack of attacks) {
      const { status, text } = await request(
        "GET",
        `/opensearch/search?${new URLSearchParams({ [name]: attack }).toString()}`,
      );
      assert.ok(status < 500, `${name}=${attack.slice(0, 30)}: ${status} ${text.slice(0, 300)}`);
      assert.ok(text.startsWith("{") || parseElements(text).name === "feed");
    }
  }
});

test("Harvest reads records and other catalogues, and nothing of a private network that is not allowed", async () => {
  const documents: Readonly<Record<string, string>> = {
    "/iso.xml": ISO_RECORD,
    "/dc.xml": DC_RECORD,
    "/no.xml": "<html/>",
  };
  const server = createServer((incoming, outgoing) => {
    const body = documents[incoming.url ?? ""];
    outgoing
      .writeHead(incoming.url === "/away" ? 302 : body === undefined ? 404 : 200, {
        location: "http://169.254.169.254/latest",
      })
      .end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const harvest = (source: string, type = "http://www.isotc211.org/2005/gmd", more = "") =>
    `<csw:Harvest xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:Source>${source}</csw:Source><csw:ResourceType>${type}</csw:ResourceType>${more}</csw:Harvest>`;
  try {
    const one = await send(harvest(`${base}/iso.xml`));
    assert.equal(descendantsOf(parseElements(one.text), "totalInserted")[0]?.text, "1", one.text);
    const again = await send(harvest(`${base}/iso.xml`));
    assert.equal(descendantsOf(parseElements(again.text), "totalUpdated")[0]?.text, "1", again.text);
    assert.equal(
      (await request("GET", "/csw?service=CSW&request=GetRepositoryItem&version=2.0.2&id=iso-1")).text,
      ISO_RECORD,
    );
    for (const source of [
      `${base}/no.xml`,
      `${base}/none.xml`,
      `${base}/away`,
      "file:///etc/passwd",
      "ftp://x/y",
      "http://[::1]/",
      "http://10.0.0.1/",
      "x",
    ]) {
      assert.ok(codeOf((await send(harvest(source))).text) !== undefined, source);
    }
    assert.equal(
      codeOf(
        (await send(harvest(`${base}/iso.xml`, undefined, "<csw:HarvestInterval>P1D</csw:HarvestInterval>"))).text,
      ),
      "OptionNotSupported",
    );
    const refused = await strict.request("POST", "/csw", {
      body: harvest(`${base}/iso.xml`),
      headers: { "content-type": "application/xml" },
    });
    assert.match(refused.text, /private address/);
    const local = await strict.request("POST", "/csw", {
      body: harvest(`http://localhost:${(server.address() as AddressInfo).port}/iso.xml`),
      headers: { "content-type": "application/xml" },
    });
    assert.match(local.text, /private address/);
  } finally {
    server.close();
  }
  const all = await send(
    harvest(`${catalogue.url}/csw?service=CSW&amp;request=GetCapabilities`, "http://www.opengis.net/cat/csw/2.0.2"),
  );
  assert.ok(Number(descendantsOf(parseElements(all.text), "totalUpdated")[0]?.text) > 2000, all.text.slice(0, 600));
});
