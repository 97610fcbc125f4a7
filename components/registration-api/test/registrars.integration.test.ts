import assert from "node:assert/strict";
import { after, test } from "node:test";

import { BUCKET, startDocuments, startFixture } from "./fixture.ts";

const fixture = await startFixture();
after(fixture.close);
const { register, callCatalogue, put, send } = fixture;

const ISO = `<?xml version="1.0"?>
<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco">
  <gmd:fileIdentifier><gco:CharacterString>iso-1</gco:CharacterString></gmd:fileIdentifier>
  <gmd:dateStamp><gco:Date>2024-01-01</gco:Date></gmd:dateStamp>
  <gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation>
    <gmd:title><gco:CharacterString>TITLE</gco:CharacterString></gmd:title>
  </gmd:CI_Citation></gmd:citation></gmd:MD_DataIdentification></gmd:identificationInfo>
</gmd:MD_Metadata>`;

test("ISO XML is registered as it is, and replaced when it changes", async () => {
  for (const title of ["First", "Second"]) {
    await put("records/iso.xml", ISO.replace("TITLE", title), "application/xml");
    const done = await register("/register", { type: "xml", url: `s3://${BUCKET}/records/iso.xml` });
    assert.equal(done.body.state, "done", JSON.stringify(done.body));
    assert.equal(done.body.result.registered, 1);
    assert.equal((await callCatalogue("/collections/metadata:main/items/iso-1")).body.properties.title, title);
  }
  const source = await fetch(`${fixture.catalogueUrl}/collections/metadata:main/items/iso-1?f=source`);
  assert.match(await source.text(), /MD_Metadata[^>]*>\s*<gmd:fileIdentifier>/);
});

test("an application package: title, abstract, version, keywords and links", async () => {
  const cwl = `cwlVersion: v1.0
s:softwareVersion: 1.2.3
s:keywords: [water, ndwi]
$namespaces: {s: https://schema.org/}
$graph:
  - class: CommandLineTool
    id: tool
  - class: Workflow
    id: water_bodies
    label: Water bodies
    doc: Finds water.
`;
  await put("apps/water.cwl", cwl);
  const done = await register("/register", { type: "application", url: `s3://${BUCKET}/apps/water.cwl` });
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  const { body } = await callCatalogue("/collections/metadata:main/items/water_bodies");
  const { title, description, type, keywords } = body.properties;
  assert.deepEqual([title, description, type], ["Water bodies", "Finds water.", "application"]);
  assert.deepEqual(keywords, ["water", "ndwi", "application", "CWL", "softwareVersion:1.2.3"]);
  const broken = await register("/register", { type: "application", url: `s3://${BUCKET}/apps/none.cwl` });
  assert.match(broken.body.reason, /404/);
});

test("a processing service with all its processes, and catalogues of every kind", async (t) => {
  const documents = await startDocuments((path) => {
    switch (path) {
      case "/ogc":
        return { title: "Processing", description: "Runs things", links: [] };
      case "/ogc/processes":
        return {
          processes: [{ id: "a", title: "A", version: "1" }],
          links: [{ rel: "next", href: "/ogc/processes?page=2" }],
        };
      case "/ogc/processes?page=2":
        return { processes: [{ id: "b" }], links: [] };
      case "/stac":
        return {
          type: "Catalog",
          stac_version: "1.0.0",
          id: "s",
          title: "A STAC API",
          conformsTo: ["https://api.stacspec.org/v1.0.0/core"],
          links: [],
        };
      case "/csw?service=CSW&request=GetCapabilities":
        return '<csw:Capabilities xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"><ows:Title>A CSW</ows:Title></csw:Capabilities>';
      case "/records":
        return { title: "Records", links: [{ rel: "conformance", href: "/records/conformance" }] };
      case "/records/conformance":
        return { conformsTo: ["http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/core"] };
      case "/osdd.xml":
        return "<OpenSearchDescription><ShortName>Search</ShortName></OpenSearchDescription>";
      default:
        return undefined;
    }
  });
  t.after(documents.close);
  const done = await register("/register", { type: "oaproc", url: `${documents.url}/ogc` });
  assert.equal(done.body.state, "done", JSON.stringify(done.body));
  assert.equal(done.body.result.registered, 3);
  const id = `${documents.url}/ogc`.replace(/[^a-z0-9]/gi, "-");
  assert.equal((await callCatalogue(`/collections/metadata:main/items/${id}`)).body.properties.type, "service");
  assert.equal((await callCatalogue(`/collections/metadata:main/items/${id}-b`)).body.properties.type, "service");
  for (const [path, kind] of [
    ["/records", "OGC API Records"],
    ["/stac", "STAC API"],
    // Without parameters it answers with status 404.
    ["/csw", "CSW"],
    ["/osdd.xml", "OpenSearch"],
  ] as const) {
    const { body } = await register("/register", { type: "catalogue", url: `${documents.url}${path}` });
    assert.equal(body.state, "done", JSON.stringify(body));
    const record = await callCatalogue(
      `/collections/metadata:main/items/${`${documents.url}${path}`.replace(/[^a-z0-9]/gi, "-")}`,
    );
    assert.ok(record.body.properties.keywords.includes(kind), JSON.stringify(record.body.properties));
  }
  const neither = await register("/register", { type: "catalogue", url: `${documents.url}/ogc` });
  assert.equal(neither.body.state, "failed");
  assert.match(neither.body.reason, /no catalogue that is known/);
});

test("hostile addresses: private ones, redirects to them, loops and endless documents", async (t) => {
  const server = await startDocuments((path) => (path === "/large" ? Buffer.alloc(33 * 2 ** 20, " ") : undefined), {
    "/inside": "http://169.254.169.254/latest",
    "/loop": "/loop",
  });
  t.after(server.close);
  const refused: readonly [string, RegExp][] = [
    ["http://10.0.0.1/x.json", /10\.0\.0\.1, which is a private address/],
    ["http://[::1]/x.json", /::1, which is a private address/],
    [`${server.url}/inside`, /169\.254\.169\.254, which is a private address/],
    [`${server.url}/loop`, /redirects more than 5 times/],
    [`${server.url}/large`, /has more than the \d+ bytes/],
    ["http://user:secret@example.org/x.json", /must have no password in it/],
    ["file:///etc/passwd", /is not a complete http, https or s3 address/],
    ["s3://other", /./],
  ];
  for (const [url, reason] of refused) {
    const { body } = await register("/register", { type: "stac-item", url });
    assert.equal(body.state, "failed", `${url}: ${JSON.stringify(body)}`);
    assert.match(body.reason, reason, url);
    assert.doesNotMatch(body.reason, /secret/);
  }
});

test("order: what was accepted last wins, also when an earlier change comes late", async () => {
  const item = (title: string) => ({
    type: "Feature",
    stac_version: "1.1.0",
    id: "ordered",
    geometry: null,
    collection: "order",
    properties: { datetime: "2024-01-01T00:00:00Z", title },
    links: [],
    assets: {},
  });
  const first = await register("/register-json", item("first"));
  await register("/register-json", item("second"));
  const late = await send("POST", `/tasks/${first.body.id}/repeat`);
  assert.equal(late.status, 409, "only what failed is repeated");
  await fixture.query(`update registration.task set state = 'failed' where id = ${first.body.id}`);
  assert.equal((await send("POST", `/tasks/${first.body.id}/repeat`)).status, 200);
  await fixture.settle(`${fixture.apiUrl}/tasks/${first.body.id}`);
  assert.equal((await callCatalogue("/stac/collections/order/items/ordered")).body.properties.title, "second");
  // A removal holds against a change that was accepted before it, too.
  assert.equal((await send("POST", "/deregister", { identifier: "ordered" })).status, 200);
  await fixture.query(`update registration.task set state = 'failed' where id = ${first.body.id}`);
  await send("POST", `/tasks/${first.body.id}/repeat`);
  await fixture.settle(`${fixture.apiUrl}/tasks/${first.body.id}`);
  assert.equal((await callCatalogue("/stac/collections/order/items/ordered")).status, 404);
});

for (const victim of ["api", "worker", "catalogue", "postgres", "objstore"] as const) {
  test(`kill -9 of ${victim} amid registrations: nothing accepted is lost or doubled`, async () => {
    const collection = `killed-${victim}`;
    const accepted = new Map<string, string>();
    const sent = new Set<string>();
    let next = 0;
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver && next < 120) {
        next += 1;
        const number = next;
        const isStored = await put(
          `kill/${victim}/${number}.json`,
          JSON.stringify({
            type: "Feature",
            stac_version: "1.1.0",
            id: `k${number}`,
            geometry: null,
            collection,
            properties: { datetime: "2024-01-01T00:00:00Z" },
            links: [],
            assets: {},
          }),
        ).then(
          () => true,
          () => false,
        );
        if (!isStored) {
          continue;
        }
        sent.add(`k${number}`);
        const response = await send("POST", "/register", {
          type: "stac-item",
          url: `s3://${BUCKET}/kill/${victim}/${number}.json`,
        }).catch(() => undefined);
        if (response?.status === 202) {
          accepted.set(`k${number}`, response.headers.get("location") ?? "");
        }
        if (accepted.size === 30 && !isOver) {
          isOver = true;
          await fixture.kill(victim);
        }
      }
    };
    await Promise.all([client(), client(), client()]);
    await fixture.start(victim);
    await fixture.query("update registration.task set lease_until = now() where state = 'running'");
    // What waits for its next attempt is due.
    const timer = setInterval(() => {
      void fixture.query("update registration.task set due_at = now() where state = 'queued'").catch(() => {});
    }, 500);
    const states: string[] = [];
    for (const location of accepted.values()) {
      states.push((await fixture.settle(location)).body.state);
    }
    clearInterval(timer);
    assert.deepEqual([...new Set(states)], ["done"]);
    const { body } = await callCatalogue(`/stac/search?collections=${collection}&limit=200`);
    const ids: readonly string[] = body.features.map((feature: { id: string }) => feature.id);
    assert.equal(new Set(ids).size, ids.length, "doubled");
    assert.deepEqual(
      [...accepted.keys()].filter((id) => !ids.includes(id)),
      [],
      "lost",
    );
    // A request may have been accepted whose answer was lost.
    assert.deepEqual(
      ids.filter((id) => !sent.has(id)),
      [],
      "from nowhere",
    );
  });
}
