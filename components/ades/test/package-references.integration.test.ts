// Packages in several documents: what they refer to over HTTP is fetched when they are deployed, by the address guard, and kept.
import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
let web: Server;
let base: string;
const asked: string[] = [];
const files: Record<string, string> = {
  "/app/main.cwl": `cwlVersion: v1.2
$graph:
- class: Workflow
  id: greeting
  requirements: {SchemaDefRequirement: {types: [{$import: types/kind.yml}]}}
  inputs: {name: string, kind: {type: "types/kind.yml#kind", default: loud}}
  outputs: {said: {type: File, outputSource: say/said}}
  steps: {say: {run: ../tools/say.cwl, in: {name: name, kind: kind}, out: [said]}}
`,
  "/app/types/kind.yml": "{name: kind, type: enum, symbols: [loud, quiet]}",
  "/tools/say.cwl": `cwlVersion: v1.2
class: CommandLineTool
requirements:
  InlineJavascriptRequirement: {expressionLib: [{$include: shout.js}]}
  SchemaDefRequirement: {types: [{$import: ../app/types/kind.yml}]}
baseCommand: echo
arguments: [$(shout(inputs.name)), $(inputs.kind)]
inputs: {name: string, kind: {type: "../app/types/kind.yml#kind"}}
outputs: {said: stdout}
stdout: said.txt
`,
  "/tools/shout.js": "function shout(text) { return text.toUpperCase(); }",
};

before(async () => {
  web = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const [, number] = /^\/endless\/(\d+)$/.exec(path) ?? [];
    const text = number === undefined ? files[path] : `{$import: "${base}/endless/${Number(number) + 1}"}`;
    if (path === "/elsewhere.cwl") {
      response.writeHead(302, { location: `${base.replace("127.0.0.1", "127.0.0.2")}/tools/say.cwl` }).end();
    } else if (path.startsWith("/large/")) {
      const next = `${base}/large/${Number(path.slice("/large/".length)) + 1}`;
      response.end(`{$import: "${next}"} # ${"x".repeat(1.5 * 2 ** 20)}`);
    } else if (path === "/huge.cwl") {
      response.end(`# ${"x".repeat(3 * 2 ** 20)}`);
    } else {
      response.writeHead(text === undefined ? 404 : 200).end(text);
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

const deploy = (user: string, href: string) =>
  ades.send(`/${user}/ogc-api/processes`, { json: { executionUnit: { href, type: "application/cwl" } } });
const deployText = (user: string, text: string) =>
  ades.send(`/${user}/ogc-api/processes`, { text, type: "application/cwl" });
const workflowThatRuns = (address: string): string => `cwlVersion: v1.2
class: Workflow
id: refers
inputs: {name: string}
outputs: {said: {type: File, outputSource: say/said}}
steps: {say: {run: "${address}", in: {name: name, kind: {default: quiet}}, out: [said]}}
`;

async function run(user: string, id: string): Promise<string> {
  const { status, headers, body } = await ades.send(`/${user}/ogc-api/processes/${id}/execution`, {
    json: { inputs: { name: "world" } },
    headers: { prefer: "respond-async" },
  });
  assert.equal(status, 201, JSON.stringify(body));
  const location = headers.get("location") ?? "";
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  const { files: list } = (await ades.send(`${location}/files`)).body as { files: { path: string; href: string }[] };
  const said = list.find(({ path }) => path.endsWith("said.txt"));
  return String((await ades.send(said?.href ?? "")).body).trim();
}

test("a package by its address brings what it runs, imports and includes; later changes there change nothing", async () => {
  const checked = await ades.send("/eric/ogc-api/packages/check", {
    json: { executionUnit: { href: `${base}/app/main.cwl`, type: "application/cwl" } },
  });
  assert.equal(checked.body.valid, true, JSON.stringify(checked.body.problems));
  const deployed = await deploy("eric", `${base}/app/main.cwl`);
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  assert.equal(deployed.body.id, "greeting");
  files["/tools/shout.js"] = "function shout() { return 'changed'; }";
  asked.length = 0;
  assert.equal(await run("eric", "greeting"), "WORLD loud");
  assert.deepEqual(asked, [], "nothing is fetched when it runs");
  const { body } = await ades.send("/eric/ogc-api/processes/greeting/package?f=yaml");
  assert.equal(body, files["/app/main.cwl"], "it is given back as it was sent");
});

test("a package in the request may name documents by whole addresses; relative ones are said to be missing", async () => {
  const deployed = await deployText("bob", workflowThatRuns(`${base}/tools/say.cwl`));
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  assert.equal(await run("bob", "refers"), "changed quiet");
  const { status, body } = await deployText("bob", workflowThatRuns("tools/say.cwl"));
  assert.equal(status, 400);
  assert.match(body.detail, /refers to tools\/say\.cwl, which is not in it/);
});

test("what users may not reach, what is too large, and what has no end is refused in words", async () => {
  const port = new URL(base).port;
  for (const [address, why] of [
    [`http://127.0.0.2:${port}/tools/say.cwl`, /refers to .*127\.0\.0\.2.*(?:private|not allowed|loopback)/],
    [`${base}/elsewhere.cwl`, /refers to .*elsewhere\.cwl.*127\.0\.0\.2/],
    [`${base}/huge.cwl`, /refers to .*huge\.cwl/],
    [`${base}/none.cwl`, /refers to .*none\.cwl.*404/],
    [`${base}/endless/1`, /refers to more than 50 documents/],
    ["file:///etc/passwd", /passwd/],
  ] as const) {
    const { status, body } = await deployText("eve", workflowThatRuns(address));
    assert.equal(status, 400, address);
    assert.match(body.detail, why);
  }
  const large = await deployText("eve", workflowThatRuns(`${base}/large/1`));
  assert.deepEqual([large.status, large.body.title], [413, "PackageTooLarge"]);
  const { status, body } = await deployText(
    "eve",
    '{"swathPackage":1,"text":"x","address":"file:///","references":{}}',
  );
  assert.equal(status, 400);
  assert.match(body.detail, /only the service itself writes/);
});
