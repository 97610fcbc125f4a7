// Ontologies of $schemas: fetched when a package is deployed, where its formats need them, by the address guard; reduced and kept.
import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "./start-ades.ts";

const RASTER = "https://formats.example/raster";
const COG = "https://formats.example/cog";
const TIFF = "https://formats.example/tiff";
const OTHER = "https://formats.example/table";

const xml = (body: string) => `<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY f "https://formats.example/">]>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:owl="http://www.w3.org/2002/07/owl#">${body}</r:RDF>`;
const classes = `<owl:Class r:about="&f;tiff"><rdfs:subClassOf r:resource='&f;raster'/></owl:Class>
  <!-- <owl:Class r:about="&f;table"><rdfs:subClassOf r:resource="&f;raster"/></owl:Class> -->
  <rdfs:Class r:about="&f;cog"><rdfs:subClassOf><owl:Class r:about="&f;tiff"/></rdfs:subClassOf></rdfs:Class>`;
// As large as real ones, which have comments and labels of each class.
const filler = Array.from(
  { length: 12_000 },
  (_, number) =>
    `<owl:Class r:about="https://other.example/c${number}"><rdfs:subClassOf r:resource="https://other.example/c${number >> 1}"/>` +
    `<rdfs:comment>${"What this class is about. ".repeat(8)}</rdfs:comment></owl:Class>`,
).join("\n");

let ades: TestAdes;
let web: Server;
let base: string;
const asked: string[] = [];
const files: Record<string, string> = {
  "/formats.owl": xml(classes + filler),
  "/formats.ttl": `@prefix f: <https://formats.example/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
f:tiff rdfs:subClassOf f:raster ; rdfs:label "raster; not: f:table rdfs:subClassOf f:raster ." .
f:cog rdfs:subClassOf f:tiff .`,
  "/broken.owl": xml(classes).slice(0, -20),
  "/broken.ttl": "@prefix f: <https://formats.example/> .\nf:tiff",
  "/page.owl": "<!DOCTYPE html><html><body>Not found</body></html>",
  "/schema.rdf": xml(""),
  "/relative/formats.ttl":
    "<https://formats.example/cog> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <https://formats.example/raster> .",
};

before(async () => {
  web = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (path === "/elsewhere.owl") {
      response.writeHead(302, { location: `${base.replace("127.0.0.1", "127.0.0.2")}/formats.owl` }).end();
    } else if (path === "/long.owl") {
      response.end(xml(classes + " ".repeat(17 * 2 ** 20)));
    } else {
      response.writeHead(files[path] === undefined ? 404 : 200).end(files[path]);
    }
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
});
after(async () => {
  await ades?.close();
  web.close();
});

const packageText = (id: string, schemas: readonly string[], format: string | undefined = RASTER) => `cwlVersion: v1.2
$namespaces: {s: "https://schema.org/", f: "https://formats.example/"}
$schemas: ${JSON.stringify(schemas)}
s:softwareVersion: 1.2.3
$graph:
- class: Workflow
  id: ${id}
  requirements: {InlineJavascriptRequirement: {}}
  inputs: {scene: {type: File${format === undefined ? "" : `, format: ${JSON.stringify(format)}`}}}
  outputs: {said: {type: string, outputSource: look/said}}
  steps: {look: {run: "#look", in: {scene: scene}, out: [said]}}
- class: ExpressionTool
  id: look
  requirements: {InlineJavascriptRequirement: {}}
  inputs: {scene: {type: File}}
  outputs: {said: string}
  expression: '$({said: inputs.scene.format})'
`;

const deploy = (id: string, schemas: readonly string[], format?: string) =>
  ades.send("/eric/ogc-api/processes", { text: packageText(id, schemas, format), type: "application/cwl" });

async function run(id: string, format: string) {
  const { status, headers, body } = await ades.send(`/eric/ogc-api/processes/${id}/execution`, {
    json: { inputs: { scene: { href: "data:text/plain,scene", format } } },
    headers: { prefer: "respond-async" },
  });
  assert.equal(status, 201, JSON.stringify(body));
  const location = headers.get("location") ?? "";
  const { status: ended, message } = await ades.ended(location);
  const { body: log } = await ades.send(`${location}/logs`);
  return { ended, message: message ?? "", log: JSON.stringify(log) };
}

test("what is below a format passes and what is not fails, without asking again", async () => {
  for (const [id, path] of [
    ["by-xml", "/formats.owl"],
    ["by-turtle", "/formats.ttl"],
  ] as const) {
    const deployed = await deploy(id, [base + path]);
    assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
    assert.equal(deployed.body.warnings, undefined);
    asked.length = 0;
    for (const format of [RASTER, TIFF, COG]) {
      const { ended, message } = await run(id, format);
      assert.equal(ended, "successful", message);
    }
    const { ended, message } = await run(id, OTHER);
    assert.equal(ended, "failed");
    assert.match(message, /has format https:\/\/formats\.example\/table; accepted: https:\/\/formats\.example\/raster/);
    assert.deepEqual(asked, [], "nothing is fetched when it runs");
  }
  const { body } = await ades.send("/eric/ogc-api/processes/by-xml/package?f=yaml");
  assert.equal(body, packageText("by-xml", [`${base}/formats.owl`]), "it is given back as it was sent");
});

test("an ontology beside the package is found by the package's address", async () => {
  files["/relative/app.cwl"] = packageText("beside", ["formats.ttl"]);
  const { status, body } = await ades.send("/eric/ogc-api/processes", {
    json: { executionUnit: { href: `${base}/relative/app.cwl`, type: "application/cwl" } },
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.warnings, undefined);
  assert.equal((await run("beside", COG)).ended, "successful");
});

test("an expression may ask for any format", async () => {
  const text = packageText("asks", [`${base}/formats.owl`], `$("${RASTER}")`);
  const { status, body } = await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal((await run("asks", COG)).ended, "successful");
  assert.equal((await run("asks", OTHER)).ended, "failed");
});

test("without a format to check nothing is fetched, whatever the metadata name", async () => {
  asked.length = 0;
  const { status, body } = await ades.send("/eric/ogc-api/processes", {
    text: packageText("described", [`${base}/schema.rdf`, `${base}/none.rdf`]).replace(/, format: "[^"]*"/, ""),
    type: "application/cwl",
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual([body.version, body.warnings], ["1.2.3", undefined]);
  assert.deepEqual(asked, []);
});

test("one that cannot be had is a warning of the deployment and in the log of a job that needs it", async () => {
  const port = new URL(base).port;
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["private", `http://127.0.0.2:${port}/formats.owl`, /127\.0\.0\.2.*(?:private|not allowed|loopback)/],
    ["redirected", `${base}/elsewhere.owl`, /elsewhere\.owl.*127\.0\.0\.2/],
    ["long", `${base}/long.owl`, /long\.owl.*(?:16|16777216)/],
    ["broken-xml", `${base}/broken.owl`, /broken\.owl.*ends in the middle/],
    ["broken-turtle", `${base}/broken.ttl`, /broken\.ttl.*ends in the middle/],
    ["page", `${base}/page.owl`, /page\.owl.*no RDF/],
    ["gone", `${base}/gone.owl`, /gone\.owl.*404/],
    ["file", "file:///etc/passwd", /passwd.*only addresses with http/],
    ["relative", "formats.owl", /formats\.owl.*relative to the package/],
  ];
  for (const [id, address, why] of cases) {
    const { status, body } = await deploy(id, [address]);
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(body.warnings?.[0] ?? "", why, id);
    const kept = await ades.send(`/eric/ogc-api/processes/${id}`);
    assert.deepEqual(kept.body.warnings, body.warnings);
  }
  const checked = await ades.send("/eric/ogc-api/packages/check", {
    text: packageText("gone", [`${base}/gone.owl`]),
    type: "application/cwl",
  });
  assert.equal(checked.body.valid, true);
  assert.ok(
    checked.body.problems.some(
      ({ severity, message }: { severity: string; message: string }) => severity === "warning" && /404/.test(message),
    ),
    JSON.stringify(checked.body.problems),
  );
  assert.equal((await run("gone", RASTER)).ended, "successful");
  const { ended, message, log } = await run("gone", TIFF);
  assert.equal(ended, "failed");
  assert.match(message, /could not be seen in .*gone\.owl; see the log/);
  assert.match(log, /compared without the ontology .*gone\.owl.*404/);
});
