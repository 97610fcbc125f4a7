import assert from "node:assert/strict";
import { after, test } from "node:test";

import { startAdes } from "./start-ades.ts";

const ades = await startAdes({ env: { EARLIER_LINE: "true" } });
after(() => ades.close());

const greeting = (version: string, label = "Greet") => `cwlVersion: v1.2
s:softwareVersion: ${version}
$namespaces: { s: "https://schema.org/" }
class: CommandLineTool
id: greet
label: ${JSON.stringify(label)}
baseCommand: [echo, hello]
inputs: { name: { type: string, inputBinding: { position: 1 } } }
stdout: out.txt
outputs: { text: { type: stdout } }
`;
const deploy = (face: string, text: string) =>
  ades.send(`/eric/${face}/processes`, { text, type: "application/cwl+yaml" });
const listIds = async (face: string) =>
  ((await ades.send(`/eric/${face}/processes`)).body as { processes: readonly { id: string }[] }).processes.map(
    ({ id }) => id,
  );

test("a process that is deployed on wps3 is listed, executed and found by workflow and version", async () => {
  const made = await deploy("wps3", greeting("0.3.0"));
  assert.equal(made.status, 201);
  assert.equal(made.body.id, "greet-0_3_0");
  assert.equal(made.headers.get("location"), "/eric/wps3/processes/greet-0_3_0");
  assert.deepEqual(await listIds("wps3"), ["echo", "greet-0_3_0"]);
  assert.deepEqual(await listIds("ogc-api"), ["echo", "greet-0_3_0"], "one process, one id");
  assert.equal((await deploy("wps3", greeting("0.3.0"))).status, 409);

  const started = await ades.send("/eric/wps3/processes/greet-0_3_0/execution", {
    json: { inputs: { name: "eric" } },
    headers: { prefer: "respond-async" },
  });
  assert.equal(started.status, 201);
  const { status, processID } = await ades.ended(started.headers.get("location") ?? "");
  assert.deepEqual([status, processID], ["successful", "greet-0_3_0"]);
});

test("the workflow alone names the version that was deployed last", async () => {
  assert.equal((await deploy("wps3", greeting("0.4.0"))).status, 201);
  const describe = async (name: string) => (await ades.send(`/eric/wps3/processes/${name}`)).body as { id: string };
  assert.equal((await describe("greet")).id, "greet-0_4_0");
  assert.equal((await describe("greet:0.4.0")).id, "greet-0_4_0");
  assert.equal((await describe("greet-0_3_0")).id, "greet-0_3_0");
  assert.equal((await ades.send("/eric/wps3/processes/gree")).status, 404);
  const put = await ades.send("/eric/wps3/processes/greet", {
    method: "PUT",
    text: greeting("0.4.1"),
    type: "application/cwl+yaml",
  });
  assert.equal(put.status, 204);
  assert.equal(put.headers.get("location"), "/eric/wps3/processes/greet-0_4_0");
  assert.equal((await describe("greet")).id, "greet-0_4_0");
  assert.equal((await ades.send("/eric/wps3/processes/greet", { method: "DELETE" })).status, 204);
  assert.deepEqual(await listIds("wps3"), ["echo", "greet-0_3_0"]);
});

test("an id that the request gives, and one that is deployed on ogc-api, stays as it is", async () => {
  const href = `data:application/cwl;base64,${Buffer.from(greeting("1.0.0")).toString("base64")}`;
  const named = await ades.send("/bob/wps3/processes", {
    json: { processDescription: { id: "mine" }, executionUnit: { href, type: "application/cwl" } },
  });
  assert.equal(named.body.id, "mine");
  assert.equal((await deploy("ogc-api", greeting("1.0.0"))).body.id, "greet");
});

test("capabilities of WPS list the processes of the space", async () => {
  assert.equal((await deploy("wps3", greeting("2.0", 'a < b & "c" \u0001'))).status, 201);
  const read = async (query: string) => {
    const response = await fetch(`${ades.url}/eric/zoo/${query}`);
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const { status, type, text } = await read("?service=WPS&version=1.0.0&request=GetCapabilities");
  assert.deepEqual([status, type], [200, "text/xml; charset=utf-8"]);
  assert.match(text, /<ows:Identifier>greet-0_3_0<\/ows:Identifier>/);
  assert.match(text, /<ows:Title>a &lt; b &amp; &quot;c&quot; \ufffd<\/ows:Title>/);
  assert.equal((await read("?SERVICE=wps&REQUEST=getcapabilities")).text, text);
  for (const [query, code] of [
    ["", "MissingParameterValue"],
    ["?service=WMS&request=GetCapabilities", "InvalidParameterValue"],
    ["?service=WPS&request=GetCapabilities&AcceptVersions=2.0.0", "VersionNegotiationFailed"],
    ["?service=WPS&request=Execute&identifier=greet", "OperationNotSupported"],
  ] as const) {
    const refused = await read(query);
    assert.equal(refused.status, 400, query);
    assert.match(refused.text, new RegExp(`exceptionCode="${code}"`), query);
  }
});
