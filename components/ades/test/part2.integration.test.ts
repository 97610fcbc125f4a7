// OGC API Processes Part 2 (20-044). The requirement that a test proves is in its title; docs/reference/processing.md lists them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { parse } from "yaml";

import { describedPackage as shellPackage } from "./described-package.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const EXCEPTIONS = "http://www.opengis.net/def/exceptions/ogcapi-processes-2/1.0";
const API = "/eric/ogc-api/processes";

let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
});
after(() => ades.close());

const deploy = (text: string, type = "application/cwl", query = "") => ades.send(`${API}${query}`, { text, type });
const put = (id: string, text: string, type = "application/cwl") =>
  ades.send(`${API}/${id}`, { method: "PUT", text, type });
const CWL = "application/cwl+yaml";

test("/req/deploy-replace-undeploy/deploy-post-op, deploy-content-type, deploy-response-success, -pid, -body: 201 with where it is", async () => {
  const types = ["application/cwl", CWL, "application/x-yaml", "text/yaml"];
  for (const [index, type] of types.entries()) {
    const id = `by-type-${index}`;
    const { status, headers, body } = await deploy(shellPackage(id, "true"), type);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(headers.get("location"), `${ades.url}${API}/${id}`);
    assert.deepEqual([body.id, body.mutable, body.version], [id, true, "1.2.3"]);
    assert.equal((await ades.send(`${API}/${id}`)).status, 200);
  }
  const asJson = JSON.stringify(parse(shellPackage("by-json", "true")));
  assert.equal((await deploy(asJson, "application/cwl+json")).status, 201);
  assert.equal((await deploy(asJson.replace("by-json", "by-plain-json"), "application/json")).status, 201);
});

test("/req/deploy-replace-undeploy/deploy-response-duplicate, -immutable, deploy-unsupported-media-type", async () => {
  await deploy(shellPackage("twice", "true"));
  const again = await deploy(shellPackage("twice", "true"));
  assert.deepEqual([again.status, again.body.type], [409, `${EXCEPTIONS}/duplicated-process`]);
  assert.equal(again.headers.get("location"), `${ades.url}${API}/twice`);
  const echo = await deploy(shellPackage("echo", "true"));
  assert.deepEqual([echo.status, echo.body.type], [403, `${EXCEPTIONS}/immutable-process`]);
  for (const type of ["text/html", "application/xml", "application/octet-stream"]) {
    const wrong = await deploy("x", type);
    assert.deepEqual([wrong.status, wrong.body.type], [415, `${EXCEPTIONS}/unsupported-media-type`], type);
    const replaced = await put("nothing", "x", type);
    assert.equal(replaced.status, 415, "the type is looked at before the process");
  }
  const both = await Promise.all([deploy(shellPackage("race", "true")), deploy(shellPackage("race", "true"))]);
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([201, 409]));
});

test("/req/ogcapppkg/body, deploy-body, schema, process-description; /req/cwl/execution-unit: by value, by reference, described", async () => {
  const process = { title: "Another title", description: "Said with it", keywords: ["said"], id: "named-by-request" };
  const unit = { value: parse(shellPackage("in-package", "printf x")) as object, mediaType: "application/cwl+json" };
  const made = await ades.send(API, {
    json: { processDescription: { process }, executionUnit: unit },
    type: "application/ogcapppkg+json",
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.equal(made.headers.get("location"), `${ades.url}${API}/named-by-request`);
  const { body } = await ades.send(`${API}/named-by-request`);
  assert.deepEqual([body.title, body.description, body.keywords], ["Another title", "Said with it", ["said"]]);
  assert.deepEqual(Object.keys(body.inputs), ["name", "times", "mode", "tags"]);
  const run = await ades.send(`${API}/named-by-request/execution`, {
    json: { inputs: { name: "x" }, outputs: { text: {} } },
  });
  assert.deepEqual([run.status, run.body], [200, "x"]);

  const server = createServer((_request, response) => response.writeHead(200).end(shellPackage("by-href", "true")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const href = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app.cwl#by-href`;
  assert.equal((await ades.send(API, { json: { executionUnit: { href, type: "application/cwl" } } })).status, 201);
  server.close();
  const data = `data:application/cwl;base64,${Buffer.from(shellPackage("by-data", "true")).toString("base64")}`;
  assert.equal(
    (await ades.send(API, { json: { executionUnit: [{ unit: { href: data, type: "application/cwl" } }] } })).status,
    201,
  );
  for (const [wrong, pattern] of [
    [{}, /executionUnit is missing/],
    [{ executionUnit: { type: "docker", image: "busybox" } }, /needs processDescription|no container engine/],
    [{ executionUnit: { type: "wasm", image: "x" } }, /of type "wasm" cannot be deployed/],
    [{ executionUnit: { type: "application/cwl" } }, /needs href/],
    [{ executionUnit: { href: "http://10.1.2.3/x.cwl", type: "application/cwl" } }, /private address/],
    [{ executionUnit: { href: "file:///etc/passwd", type: "application/cwl" } }, /cannot be read/],
    [{ executionUnit: { href: data }, processDescription: { id: "a b" } }, /processDescription\.id/],
  ] as const) {
    const response = await ades.send(API, { json: wrong });
    assert.equal(response.status, 400, JSON.stringify(wrong));
    assert.match(response.body.detail, pattern);
  }
});

const TWO = `
cwlVersion: v1.2
$graph:
  - { class: Workflow, id: one, inputs: {}, outputs: {}, steps: [] }
  - { class: Workflow, id: two, inputs: {}, outputs: {}, steps: [] }
`;

test("/req/cwl/deploy-body, deploy-w-param, deploy-exception-workflow-not-found: which workflow of several", async () => {
  assert.equal((await deploy(TWO, CWL)).headers.get("location"), `${ades.url}${API}/one`);
  assert.equal((await deploy(TWO, CWL, "?w=two")).headers.get("location"), `${ades.url}${API}/two`);
  const missing = await deploy(TWO, CWL, "?w=three");
  assert.deepEqual([missing.status, missing.body.type], [400, `${EXCEPTIONS}/workflow-not-found`]);
  assert.match(missing.body.detail, /one, two/);
});

test("/req/cwl/body: a wrong package is refused with each mistake, its line and column", async () => {
  const wrong = await deploy("cwlVersion: v1.2\nclass: Workflow\nid: x\ninputs: {a: strin}\noutputs: []\nsteps: []\n");
  assert.equal(wrong.status, 400);
  const [problem] = wrong.body.errors;
  assert.deepEqual([problem.severity, problem.line], ["error", 4]);
  assert.ok(problem.column > 0);
});

test("/req/deploy-replace-undeploy/replace-put-op, replace-body, replace-content-type, replace-response; /req/cwl/replace-body, /req/ogcapppkg/replace-body", async () => {
  await deploy(shellPackage("changing", "sleep 1; printf one"));
  const started = await ades.send(`${API}/changing/execution`, {
    json: { inputs: { name: "x" }, outputs: { text: {} } },
    headers: { prefer: "respond-async" },
  });
  const replaced = await put("changing", shellPackage("changing", "printf two"));
  assert.deepEqual([replaced.status, replaced.body], [204, ""]);
  const location = started.headers.get("location") ?? "";
  await ades.ended(location);
  assert.equal((await ades.send(`${location}/results`)).body, "one", "a job goes on with what it was started with");
  const now = await ades.send(`${API}/changing/execution`, { json: { inputs: { name: "x" }, outputs: { text: {} } } });
  assert.equal(now.body, "two");
  const ogc = { executionUnit: { value: shellPackage("changing", "printf three"), type: "application/cwl" } };
  assert.equal((await put("changing", JSON.stringify(ogc), "application/ogcapppkg+json")).status, 204);
  assert.equal((await put("changing", shellPackage("other", "true"))).status, 400);
  assert.equal((await put("changing", "class: Nonsense")).status, 400);
  const missing = await put("missing", shellPackage("missing", "true"));
  assert.equal(missing.status, 404);
  const echo = await put("echo", shellPackage("echo", "true"));
  assert.deepEqual([echo.status, echo.body.type], [403, `${EXCEPTIONS}/immutable-process`]);
});

test("/req/deploy-replace-undeploy/undeploy-delete-op, undeploy-response, static-indicator: gone, and what cannot go", async () => {
  await deploy(shellPackage("going", "true"));
  assert.equal((await ades.send(`${API}/going`, { method: "DELETE" })).status, 204);
  assert.equal((await ades.send(`${API}/going`)).status, 404);
  assert.equal((await ades.send(`${API}/going`, { method: "DELETE" })).status, 404);
  assert.equal((await deploy(shellPackage("going", "true"))).status, 201);
  const echo = await ades.send(`${API}/echo`, { method: "DELETE" });
  assert.deepEqual([echo.status, echo.body.type], [403, `${EXCEPTIONS}/immutable-process`]);
  const { body } = await ades.send(API);
  for (const { id, mutable } of body.processes) {
    assert.equal(mutable, id !== "echo");
  }
});

test("/req/deploy-replace-undeploy/package-get-op, package-response-success, -body; /req/cwl/package-response-body, /req/ogcapppkg/package-response-body", async () => {
  const text = shellPackage("fetched", "true", "# a comment that stays\n");
  await deploy(text, CWL);
  const yaml = await ades.send(`${API}/fetched/package`);
  assert.deepEqual([yaml.headers.get("content-type"), yaml.body], ["application/cwl+yaml", text]);
  for (const [query, accept] of [
    ["?f=json", "*/*"],
    ["", "application/cwl+json"],
    ["", "application/json"],
  ] as const) {
    const json = await ades.send(`${API}/fetched/package${query}`, { headers: { accept } });
    assert.match(json.headers.get("content-type") ?? "", /^application\/cwl\+json/);
    assert.deepEqual(json.body, parse(text));
  }
  const ogc = await ades.send(`${API}/fetched/package`, { headers: { accept: "application/ogcapppkg+json" } });
  assert.equal(ogc.body.processDescription.process.id, "fetched");
  assert.deepEqual(ogc.body.executionUnit, { mediaType: "application/cwl+json", value: parse(text) });
  await ades.send(`${API}/fetched`, { method: "DELETE" });
  const back = await ades.send(API, { json: ogc.body, type: "application/ogcapppkg+json" });
  assert.equal(back.status, 201, "what is given out can be deployed again");
  assert.equal((await ades.send(`${API}/echo/package`)).status, 403);
  assert.equal((await ades.send(`${API}/nothing/package`)).status, 404);
  assert.equal((await ades.send(`${API}/fetched/package?f=xml`)).status, 400);
});
