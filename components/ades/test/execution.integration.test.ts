// OGC API Processes Part 1 (18-062r2): executing, and what comes of it. The requirement that a test proves is in its title; docs/reference/processing.md lists them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { describedPackage as shellPackage } from "./described-package.ts";
import { API, ASYNC, EXCEPTIONS, REL, execute, linkOf } from "./ogc-requests.ts";
import { type TestResponse, type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
});
after(() => ades.close());

const PNG = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
const POINT = { type: "Point", coordinates: [149.1, -35.3] };
const FEATURES = { type: "FeatureCollection", features: [{ type: "Feature", geometry: POINT, properties: {} }] };
const ALL = {
  stringInput: "Value2",
  measureInput: { value: { measurement: 10.3, uom: "m" }, mediaType: "application/json" },
  dateInput: "2026-11-21T07:40:00Z",
  doubleInput: 3.14,
  arrayInput: [1, 2, 3],
  complexObjectInput: { value: { property1: "a", property5: true } },
  geometryInput: [
    { value: POINT, mediaType: "application/geo+json" },
    { value: POINT, mediaType: "application/geo+json" },
  ],
  boundingBoxInput: { bbox: [149, -36, 150, -35], crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" },
  imagesInput: [{ value: PNG, encoding: "base64", mediaType: "image/png" }],
  featureCollectionInput: { value: FEATURES, mediaType: "application/geo+json" },
};

test("/req/core/job-creation-op, -request, -inputs, -input-array, -input-inline, -inline-object, -inline-mixed, -inline-binary, -inline-bbox", async () => {
  const { status, body, headers } = await execute(ades, "echo", { inputs: ALL, response: "document" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.match(headers.get("link") ?? "", /rel=monitor/);
  assert.equal(body.stringOutput, "Value2");
  assert.deepEqual(body.measureOutput, { value: { measurement: 10.3, uom: "m" }, mediaType: "application/json" });
  assert.equal(body.dateOutput, "2026-11-21T07:40:00Z");
  assert.equal(body.doubleOutput, 3.14);
  assert.deepEqual(body.arrayOutput, [1, 2, 3]);
  assert.deepEqual(body.complexObjectOutput.value, { property1: "a", property5: true });
  assert.deepEqual(body.geometryOutput[1].value, POINT);
  assert.deepEqual(body.boundingBoxOutput, ALL.boundingBoxInput);
  assert.deepEqual(body.imagesOutput, [{ value: PNG, mediaType: "image/png", encoding: "base64" }]);
  assert.deepEqual(body.featureCollectionOutput, { value: FEATURES, mediaType: "application/geo+json" });
});

test("/req/core/job-creation-input-ref: inputs by reference are fetched, and refused where they must not be", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/geo+json" }).end(JSON.stringify(FEATURES));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const href = `http://127.0.0.1:${(server.address() as AddressInfo).port}/features.json`;
  const link = { href, type: "application/geo+json" };
  const { body } = await execute(ades, "echo", { inputs: { featureCollectionInput: link }, response: "document" });
  server.close();
  assert.deepEqual(body.featureCollectionOutput.value, FEATURES);
  const inside = await execute(ades, "echo", {
    inputs: { featureCollectionInput: { ...link, href: "http://10.0.0.1/x" } },
  });
  assert.equal(inside.status, 400);
  assert.match(inside.body.detail, /private address/);
});

test("/req/core/job-creation-input-validation: each input that does not fit is named", async () => {
  const { status, body } = await execute(ades, "echo", {
    inputs: {
      stringInput: "Value9",
      doubleInput: 11,
      dateInput: "yesterday",
      arrayInput: [1],
      imagesInput: { value: 7, mediaType: "image/gif" },
      x: 1,
    },
  });
  assert.equal(status, 400);
  assert.deepEqual(
    body.errors.map(({ path }: { path: string }) => path),
    ["inputs.doubleInput", "inputs.dateInput", "inputs.arrayInput", "inputs.imagesInput", "inputs.x"],
  );
  for (const [wrong, pattern] of [
    [{ inputs: [] }, /inputs must be an object/],
    [{ response: "both" }, /allowed: raw, document/],
    [{ outputs: { nothing: {} } }, /There is no output nothing/],
    [{ outputs: { stringOutput: { transmissionMode: "post" } } }, /allowed: value, reference/],
    [{ subscriber: { successUri: "ftp://x" } }, /http or https/],
    [{ subscriber: { successUri: "http://169.254.169.254/" } }, /private address/],
    [{ mode: "later" }, /allowed: sync, async, auto/],
  ] as const) {
    const response = await execute(ades, "echo", { inputs: {}, ...wrong });
    assert.equal(response.status, 400, JSON.stringify(wrong));
    assert.match(response.body.detail, pattern);
  }
  const text = await ades.send(`${API}/processes/echo/execution`, { text: "{", type: "application/json" });
  assert.equal(text.status, 400);
});

test("/req/core/job-creation-default-outputs: all outputs without outputs, those that are named otherwise", async () => {
  const inputs = { stringInput: "Value1", doubleInput: 2 };
  const all = await execute(ades, "echo", { inputs, response: "document" });
  assert.deepEqual(all.body, { stringOutput: "Value1", doubleOutput: 2 });
  const one = await execute(ades, "echo", { inputs, outputs: { doubleOutput: {} }, response: "document" });
  assert.deepEqual(one.body, { doubleOutput: 2 });
  const none = await execute(ades, "echo", { inputs, outputs: {} });
  assert.deepEqual([none.status, none.body.type], [200, undefined]);
});

test("/req/core/job-creation-default-execution-mode, -auto-execution-mode: sync unless Prefer says otherwise", async () => {
  const inputs = { stringInput: "Value1" };
  assert.equal((await execute(ades, "echo", { inputs })).status, 200);
  const response = await execute(ades, "echo", { inputs }, ASYNC);
  assert.deepEqual([response.status, response.headers.get("preference-applied")], [201, "respond-async"]);
  const patient = await execute(ades, "echo", { inputs }, { prefer: "respond-async, wait=10" });
  assert.deepEqual([patient.status, patient.headers.get("preference-applied")], [200, "wait=10"]);
  const document = await execute(ades, "echo", { inputs }, { prefer: "return=representation" });
  assert.deepEqual(
    [document.headers.get("preference-applied"), document.body],
    ["return=representation", { stringOutput: "Value1" }],
  );
  assert.equal((await execute(ades, "echo", { inputs, mode: "async" })).status, 201);
  const made = await ades.send(`${API}/processes`, {
    text: shellPackage("patience", "sleep 3; printf x"),
    type: "application/cwl",
  });
  assert.equal(made.status, 201);
  const impatient = await execute(ades, "patience", { inputs: { name: "x" } }, { prefer: "wait=0" });
  assert.equal(impatient.status, 201);
  assert.equal((await ades.ended(impatient.headers.get("location") ?? "")).status, "successful");
});

test("/req/core/job-creation-sync-raw-value-one, -raw-value-multi, -raw-ref, -raw-mixed-multi, -sync-document", async () => {
  const inputs = {
    stringInput: "Value3",
    featureCollectionInput: ALL.featureCollectionInput,
    imagesInput: ALL.imagesInput,
  };
  const send = (outputs: object, response = "raw") => execute(ades, "echo", { inputs, outputs, response });
  const one = await send({ stringOutput: {} });
  assert.deepEqual(
    [one.status, one.body, one.headers.get("content-type")],
    [200, "Value3", "text/plain; charset=utf-8"],
  );
  const geo = await send({ featureCollectionOutput: { transmissionMode: "value" } });
  assert.deepEqual([geo.headers.get("content-type"), geo.body], ["application/geo+json", FEATURES]);
  const several = await send({ stringOutput: {}, featureCollectionOutput: {} });
  assert.match(several.headers.get("content-type") ?? "", /^multipart\/related; boundary=/);
  assert.match(
    several.body,
    /Content-Type: text\/plain; charset=utf-8\r\nContent-ID: <stringOutput>\r\n\r\nValue3\r\n/,
  );
  assert.match(several.body, /Content-ID: <featureCollectionOutput>/);
  const reference = await send({ stringOutput: { transmissionMode: "reference" } });
  assert.deepEqual([reference.status, reference.body], [204, ""]);
  const href = /<([^>]+)>; rel="stringOutput"; type="text\/plain/.exec(reference.headers.get("link") ?? "")?.[1] ?? "";
  assert.equal(await (await fetch(href)).text(), "Value3");
  const mixed = await send({ stringOutput: {}, featureCollectionOutput: { transmissionMode: "reference" } });
  assert.equal(mixed.status, 200);
  assert.match(mixed.body, /Content-ID: <featureCollectionOutput>\r\nContent-Location: http:\S+\r\n\r\n\r\n/);
  const document = await send(
    { stringOutput: {}, featureCollectionOutput: { transmissionMode: "reference" } },
    "document",
  );
  assert.equal(document.body.stringOutput, "Value3");
  assert.equal(document.body.featureCollectionOutput.type, "application/geo+json");
  assert.deepEqual(await (await fetch(document.body.featureCollectionOutput.href)).json(), FEATURES);
});

test("/req/core/job-creation-success-async, job-op, job-success: a job with its status", async () => {
  const { status, body, headers } = await execute(ades, "echo", { inputs: ALL }, ASYNC);
  assert.equal(status, 201);
  assert.equal(headers.get("location"), `${ades.url}${API}/jobs/${body.jobID}`);
  const job = await ades.ended(headers.get("location") ?? "");
  assert.deepEqual(
    [job.jobID, job.id, job.type, job.processID, job.status, job.progress],
    [body.jobID, body.jobID, "process", "echo", "successful", 100],
  );
  for (const name of ["created", "started", "finished", "updated"]) {
    assert.ok(!Number.isNaN(Date.parse(job[name])), name);
  }
  assert.equal(
    linkOf({ body: job } as TestResponse, `${REL}/results`)?.href,
    `${ades.url}${API}/jobs/${job.jobID}/results`,
  );
});

test("/req/core/job-exception-no-such-job, job-results-exception/no-such-job: whatever the id is", async () => {
  for (const id of ["00000000-0000-4000-8000-000000000000", "x", "..%2F..", "'; drop table job; --"]) {
    for (const path of ["", "/results", "/result", "/logs", "/steps", "/inputs", "/prov", "/notifications", "/files"]) {
      const { status, body } = await ades.send(
        `${API}/jobs/${id === "'; drop table job; --" ? encodeURIComponent(id) : id}${path}`,
      );
      assert.deepEqual([status, body.type], [404, `${EXCEPTIONS}/no-such-job`], `${id} ${path}`);
    }
  }
  assert.equal((await ades.send(`${API}/jobs/00000000-0000-4000-8000-000000000000`, { method: "DELETE" })).status, 404);
  assert.equal((await ades.send(`${API}/jobs/%00`)).status, 400, "no address holds NUL");
});

test("/req/core/job-results, job-results-async-raw-*, job-results-async-document: as they were asked for", async () => {
  const inputs = { stringInput: "Value3", doubleInput: 1.5 };
  const results = async (more: object) => {
    const { headers } = await execute(ades, "echo", { inputs, ...more }, ASYNC);
    const location = headers.get("location") ?? "";
    await ades.ended(location);
    return ades.send(`${location}/results`);
  };
  assert.equal((await results({ outputs: { stringOutput: {} } })).body, "Value3");
  assert.match((await results({})).headers.get("content-type") ?? "", /^multipart\/related/);
  assert.equal((await results({ outputs: { doubleOutput: { transmissionMode: "reference" } } })).status, 204);
  assert.deepEqual((await results({ response: "document" })).body, { stringOutput: "Value3", doubleOutput: 1.5 });
  const { headers } = await execute(ades, "echo", { inputs }, ASYNC);
  const single = await ades.send(`${headers.get("location")}/results/doubleOutput`);
  assert.deepEqual([single.body, single.headers.get("content-type")], [1.5, "application/json"]);
  const wrong = await ades.send(`${headers.get("location")}/results/nothing`);
  assert.deepEqual([wrong.status, wrong.body.type], [400, `${EXCEPTIONS}/no-such-output`]);
});

test("/req/core/process-execute-sync-raw-value-one: a single output that is a file is the answer itself", async () => {
  const writes = `cwlVersion: v1.2
class: CommandLineTool
id: writes
baseCommand: [printf]
inputs: { text: { type: string, inputBinding: { position: 1 } } }
stdout: said.csv
outputs: { said: { type: stdout } }
`;
  await ades.send("/eric/ogc-api/processes", { text: writes, type: "application/cwl" });
  const { status, body, headers } = await execute(ades, "writes", { inputs: { text: "a,b" } });
  assert.deepEqual([status, body, headers.get("content-type")], [200, "a,b", "text/csv"]);
  assert.equal(headers.get("content-security-policy")?.startsWith("sandbox"), true);
  const conditions = { range: "bytes=2-", "if-none-match": "*" };
  const whole = await execute(ades, "writes", { inputs: { text: "a,b" } }, conditions);
  assert.deepEqual([whole.status, whole.body], [200, "a,b"], "conditions are of reading");
  const job = /<([^>]+)>; rel=monitor/.exec(headers.get("link") ?? "")?.[1] ?? "";
  for (const path of [`${job}/results`, `${job}/results/said`]) {
    assert.deepEqual((await ades.send(path)).body, "a,b", path);
    const part = await ades.send(path, { headers: { range: "bytes=2-" } });
    assert.deepEqual([part.status, part.body], [206, "b"], path);
    const head = await ades.send(path, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, "3"], path);
  }
});

test("a status waits for the end of the job when it is asked to", async () => {
  await ades.send("/eric/ogc-api/processes", { text: shellPackage("naps", "sleep 2"), type: "application/cwl" });
  const { body: made } = await execute(ades, "naps", { inputs: { name: "x" } }, ASYNC);
  const path = `/eric/ogc-api/jobs/${made.jobID}`;
  const send = (prefer: string, at = path) => ades.send(at, { headers: { prefer } });
  const early = await send("wait=0");
  assert.ok(["accepted", "running"].includes(early.body.status), early.body.status);
  const ended = await send("wait=3600");
  assert.equal(ended.body.status, "successful", ended.body.message);
  assert.equal(ended.headers.get("preference-applied"), "wait=60");
  assert.equal((await send("wait=60")).body.status, "successful");
  const foreign = await send("wait=60", path.replace("eric", "bob"));
  assert.deepEqual([foreign.status, foreign.body.type], [404, `${EXCEPTIONS}/no-such-job`]);
});

test("/req/core/http: 405 where there is something, but not by that method", async () => {
  for (const [path, method, allowed] of [
    [`${API}/processes/echo/execution`, "GET", /^POST$/],
    [`${API}/processes/echo`, "PATCH", /GET.*PUT.*DELETE/],
    ["/eric/wps3/jobs", "PUT", /GET.*POST/],
  ] as const) {
    const { status, headers, body } = await ades.send(path, { method });
    assert.equal(status, 405, path);
    assert.match(headers.get("allow") ?? "", allowed);
    assert.match(body.detail, new RegExp(`^${method} is not possible here; allowed: `));
  }
  assert.equal((await ades.send(`${API}/nowhere`)).status, 404);
});
