// OGC API Processes Part 1 (18-062r2). The requirement that a test proves is in its title; docs/reference/processing.md lists them.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { Validator } from "@seriousme/openapi-schema-validator";

import { describedPackage as shellPackage } from "./described-package.ts";
import { type Answer, type TestAdes, startAdes } from "./start-ades.ts";

const EXCEPTIONS = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0";
const REL = "http://www.opengis.net/def/rel/ogc/1.0";
const API = "/eric/ogc-api";
const ASYNC = { prefer: "respond-async" };

let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
});
after(() => ades.close());

interface TestLink {
  readonly rel: string;
  readonly href: string;
  readonly type: string;
}
const linkOf = ({ body }: Answer, rel: string): TestLink | undefined =>
  (body.links as TestLink[]).find((link) => link.rel === rel);
const execute = (process: string, json: object, headers: Record<string, string> = {}, face = API) =>
  ades.ask(`${face}/processes/${process}/execution`, { json, headers });
const asHtml = (path: string) =>
  ades.ask(path, { headers: { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" } });

test("/req/core/landingpage-op, landingpage-success, http: the landing page leads everywhere", async () => {
  for (const path of [API, `${API}/`]) {
    const page = await ades.ask(path);
    assert.equal(page.status, 200);
    for (const rel of [
      "self",
      "alternate",
      "service-desc",
      "service-doc",
      `${REL}/conformance`,
      `${REL}/processes`,
      `${REL}/job-list`,
    ]) {
      const { href = "" } = linkOf(page, rel) ?? {};
      assert.ok(href.startsWith(ades.url), `${rel} ${href}`);
      assert.equal((await fetch(href)).status, 200, href);
    }
  }
});

test("/req/core/conformance-op, conformance-success: every class that is conformed to", async () => {
  const { status, body } = await ades.ask(`${API}/conformance`);
  assert.equal(status, 200);
  for (const name of ["core", "ogc-process-description", "json", "html", "oas30", "job-list", "callback", "dismiss"]) {
    assert.ok(body.conformsTo.includes(`http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${name}`), name);
  }
  for (const name of ["deploy-replace-undeploy", "ogcapppkg", "cwl"]) {
    assert.ok(body.conformsTo.includes(`http://www.opengis.net/spec/ogcapi-processes-2/1.0/conf/${name}`), name);
  }
});

test("/req/core/api-definition-op, api-definition-success, /req/oas30/*: OpenAPI 3.0 and 3.1, valid, and a page", async () => {
  for (const [query, version, media] of [
    ["", "3.0.3", "3.0"],
    ["?v=3.1", "3.1.0", "3.1"],
  ] as const) {
    const { body, headers } = await ades.ask(`${API}/api${query}`);
    assert.equal(headers.get("content-type"), `application/vnd.oai.openapi+json;version=${media}`);
    assert.equal(body.openapi, version);
    const result = await new Validator().validate(structuredClone(body));
    assert.equal(result.valid, true, JSON.stringify(result.errors)?.slice(0, 2000));
    assert.equal(body.servers[0].url, `${ades.url}${API}`);
    for (const path of [
      "/",
      "/conformance",
      "/processes",
      "/processes/{id}",
      "/processes/{id}/execution",
      "/jobs",
      "/jobs/{id}",
      "/jobs/{id}/results",
    ]) {
      assert.ok(body.paths[path], path);
    }
    const limit = body.paths["/jobs"].get.parameters.find(({ name }: { name: string }) => name === "limit");
    assert.deepEqual(
      [limit.in, limit.required, limit.schema.minimum, limit.schema.maximum],
      ["query", false, 1, 10_000],
    );
  }
  const accepted = await ades.ask(`${API}/api`, {
    headers: { accept: "application/vnd.oai.openapi+json;version=3.1" },
  });
  assert.equal(accepted.body.openapi, "3.1.0");
  const page = await asHtml(`${API}/api`);
  assert.match(page.body, /swagger-ui/i);
  assert.doesNotMatch(page.body, /(?:src|href)="https?:/);
});

test("/req/core/process-list, process-list-success, pl-limit-definition, pl-limit-response: the processes, page by page", async () => {
  for (const id of ["first", "second", "third"]) {
    const made = await ades.ask("/lister/ogc-api/processes", {
      text: shellPackage(id, "true"),
      type: "application/cwl",
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const whole = await ades.ask("/lister/ogc-api/processes");
  assert.deepEqual(
    whole.body.processes.map(({ id }: { id: string }) => id),
    ["echo", "first", "second", "third"],
  );
  assert.equal(whole.body.numberTotal, 4);
  for (const process of whole.body.processes) {
    assert.ok(process.version && process.jobControlOptions.length > 0 && "mutable" in process);
    assert.equal(
      linkOf({ body: process } as Answer, "self")?.href,
      `${ades.url}/lister/ogc-api/processes/${process.id}`,
    );
  }
  const seen: string[] = [];
  let href: string | undefined = "/lister/ogc-api/processes?limit=3";
  for (let pages = 0; href !== undefined && pages < 5; pages += 1) {
    const found: Answer = await ades.ask(href.replace(ades.url, ""));
    assert.ok(found.body.processes.length <= 3);
    seen.push(...found.body.processes.map(({ id }: { id: string }) => id));
    href = linkOf(found, "next")?.href;
  }
  assert.deepEqual(seen, ["echo", "first", "second", "third"]);
  assert.ok(linkOf(await ades.ask("/lister/ogc-api/processes?limit=1&skip=2"), "prev"));
  assert.equal((await ades.ask("/lister/ogc-api/processes?limit=100000")).status, 200);
  for (const wrong of ["limit=0", "limit=many", "skip=-1", "f=xml"]) {
    const { status, body } = await ades.ask(`/lister/ogc-api/processes?${wrong}`);
    assert.deepEqual([status, body.type], [400, `${EXCEPTIONS}/invalid-query-parameter-value`], wrong);
  }
});

test("/req/core/process-description, process-success, process-exception/no-such-process, /req/ogc-process-description/*", async () => {
  const { status, body } = await ades.ask(`${API}/processes/echo`);
  assert.equal(status, 200);
  assert.equal(linkOf({ body } as Answer, `${REL}/execute`)?.href, `${ades.url}${API}/processes/echo/execution`);
  for (const kind of [
    "string",
    "measure",
    "date",
    "double",
    "array",
    "complexObject",
    "geometry",
    "boundingBox",
    "images",
    "featureCollection",
  ]) {
    assert.ok(body.inputs[`${kind}Input`].schema, kind);
    assert.ok(body.outputs[`${kind}Output`].schema, kind);
  }
  const made = await ades.ask(`${API}/processes`, { text: shellPackage("described", "true"), type: "application/cwl" });
  assert.equal(made.status, 201);
  const described = (await ades.ask(`${API}/processes/described`)).body;
  assert.deepEqual(described.keywords, ["test", "shell"]);
  assert.deepEqual(described.inputs.name, {
    title: "A name",
    description: "Whom to greet",
    schema: { type: "string" },
    minOccurs: 1,
    maxOccurs: 1,
  });
  assert.deepEqual(described.inputs.tags.schema, { type: "array", items: { type: "string" } });
  const missing = await ades.ask(`${API}/processes/nothing`);
  assert.deepEqual([missing.status, missing.body.type], [404, `${EXCEPTIONS}/no-such-process`]);
  assert.match(missing.headers.get("content-type") ?? "", /application\/problem\+json/);
  const plain = await ades.ask(`${API}/processes/nothing`, { headers: { accept: "application/json" } });
  assert.match(plain.headers.get("content-type") ?? "", /^application\/json/);
});

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
  const { status, body, headers } = await execute("echo", { inputs: ALL, response: "document" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.match(headers.get("link") ?? "", /rel="monitor"/);
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
  const { body } = await execute("echo", { inputs: { featureCollectionInput: link }, response: "document" });
  server.close();
  assert.deepEqual(body.featureCollectionOutput.value, FEATURES);
  const inside = await execute("echo", { inputs: { featureCollectionInput: { ...link, href: "http://10.0.0.1/x" } } });
  assert.equal(inside.status, 400);
  assert.match(inside.body.detail, /private address/);
});

test("/req/core/job-creation-input-validation: each input that does not fit is named", async () => {
  const { status, body } = await execute("echo", {
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
    [
      "inputs.stringInput",
      "inputs.doubleInput",
      "inputs.dateInput",
      "inputs.arrayInput",
      "inputs.imagesInput",
      "inputs.x",
    ],
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
    const answer = await execute("echo", { inputs: {}, ...wrong });
    assert.equal(answer.status, 400, JSON.stringify(wrong));
    assert.match(answer.body.detail, pattern);
  }
  const text = await ades.ask(`${API}/processes/echo/execution`, { text: "{", type: "application/json" });
  assert.equal(text.status, 400);
});

test("/req/core/job-creation-default-outputs: all outputs without outputs, those that are named otherwise", async () => {
  const inputs = { stringInput: "Value1", doubleInput: 2 };
  const all = await execute("echo", { inputs, response: "document" });
  assert.deepEqual(all.body, { stringOutput: "Value1", doubleOutput: 2 });
  const one = await execute("echo", { inputs, outputs: { doubleOutput: {} }, response: "document" });
  assert.deepEqual(one.body, { doubleOutput: 2 });
  const none = await execute("echo", { inputs, outputs: {} });
  assert.deepEqual([none.status, none.body.type], [404, `${EXCEPTIONS}/result-not-available`]);
});

test("/req/core/job-creation-default-execution-mode, -auto-execution-mode: sync unless Prefer says otherwise", async () => {
  const inputs = { stringInput: "Value1" };
  assert.equal((await execute("echo", { inputs })).status, 200);
  const asked = await execute("echo", { inputs }, ASYNC);
  assert.deepEqual([asked.status, asked.headers.get("preference-applied")], [201, "respond-async"]);
  const patient = await execute("echo", { inputs }, { prefer: "respond-async, wait=10" });
  assert.deepEqual([patient.status, patient.headers.get("preference-applied")], [200, "wait=10"]);
  const document = await execute("echo", { inputs }, { prefer: "return=representation" });
  assert.deepEqual(
    [document.headers.get("preference-applied"), document.body],
    ["return=representation", { stringOutput: "Value1" }],
  );
  assert.equal((await execute("echo", { inputs, mode: "async" })).status, 201);
  const made = await ades.ask(`${API}/processes`, {
    text: shellPackage("patience", "sleep 3; printf x"),
    type: "application/cwl",
  });
  assert.equal(made.status, 201);
  const impatient = await execute("patience", { inputs: { name: "x" } }, { prefer: "wait=0" });
  assert.equal(impatient.status, 201);
  assert.equal((await ades.ended(impatient.headers.get("location") ?? "")).status, "successful");
});

test("/req/core/job-creation-sync-raw-value-one, -raw-value-multi, -raw-ref, -raw-mixed-multi, -sync-document", async () => {
  const inputs = {
    stringInput: "Value3",
    featureCollectionInput: ALL.featureCollectionInput,
    imagesInput: ALL.imagesInput,
  };
  const ask = (outputs: object, response = "raw") => execute("echo", { inputs, outputs, response });
  const one = await ask({ stringOutput: {} });
  assert.deepEqual(
    [one.status, one.body, one.headers.get("content-type")],
    [200, "Value3", "text/plain; charset=utf-8"],
  );
  const geo = await ask({ featureCollectionOutput: { transmissionMode: "value" } });
  assert.deepEqual([geo.headers.get("content-type"), geo.body], ["application/geo+json", FEATURES]);
  const several = await ask({ stringOutput: {}, featureCollectionOutput: {} });
  assert.match(several.headers.get("content-type") ?? "", /^multipart\/related; boundary=/);
  assert.match(
    several.body,
    /Content-Type: text\/plain; charset=utf-8\r\nContent-ID: <stringOutput>\r\n\r\nValue3\r\n/,
  );
  assert.match(several.body, /Content-ID: <featureCollectionOutput>/);
  const reference = await ask({ stringOutput: { transmissionMode: "reference" } });
  assert.deepEqual([reference.status, reference.body], [204, ""]);
  const href = /<([^>]+)>; rel="stringOutput"; type="text\/plain/.exec(reference.headers.get("link") ?? "")?.[1] ?? "";
  assert.equal(await (await fetch(href)).text(), "Value3");
  const mixed = await ask({ stringOutput: {}, featureCollectionOutput: { transmissionMode: "reference" } });
  assert.equal(mixed.status, 200);
  assert.match(mixed.body, /Content-ID: <featureCollectionOutput>\r\nContent-Location: http:\S+\r\n\r\n\r\n/);
  const document = await ask(
    { stringOutput: {}, featureCollectionOutput: { transmissionMode: "reference" } },
    "document",
  );
  assert.equal(document.body.stringOutput, "Value3");
  assert.equal(document.body.featureCollectionOutput.type, "application/geo+json");
  assert.deepEqual(await (await fetch(document.body.featureCollectionOutput.href)).json(), FEATURES);
});

test("/req/core/job-creation-success-async, job-op, job-success: a job with its status", async () => {
  const { status, body, headers } = await execute("echo", { inputs: ALL }, ASYNC);
  assert.equal(status, 201);
  assert.equal(headers.get("location"), `${API}/jobs/${body.jobID}`);
  const job = await ades.ended(headers.get("location") ?? "");
  assert.deepEqual(
    [job.jobID, job.id, job.type, job.processID, job.status, job.progress],
    [body.jobID, body.jobID, "process", "echo", "successful", 100],
  );
  for (const name of ["created", "started", "finished", "updated"]) {
    assert.ok(!Number.isNaN(Date.parse(job[name])), name);
  }
  assert.equal(linkOf({ body: job } as Answer, `${REL}/results`)?.href, `${ades.url}${API}/jobs/${job.jobID}/results`);
});

test("/req/core/job-exception-no-such-job, job-results-exception/no-such-job: whatever the id is", async () => {
  for (const id of ["00000000-0000-4000-8000-000000000000", "x", "%00", "..%2F..", "'; drop table job; --"]) {
    for (const path of ["", "/results", "/result", "/logs", "/steps", "/inputs", "/prov", "/notifications", "/files"]) {
      const { status, body } = await ades.ask(
        `${API}/jobs/${id === "'; drop table job; --" ? encodeURIComponent(id) : id}${path}`,
      );
      assert.deepEqual([status, body.type], [404, `${EXCEPTIONS}/no-such-job`], `${id} ${path}`);
    }
  }
  assert.equal((await ades.ask(`${API}/jobs/00000000-0000-4000-8000-000000000000`, { method: "DELETE" })).status, 404);
});

test("/req/core/job-results, job-results-async-raw-*, job-results-async-document: as they were asked for", async () => {
  const inputs = { stringInput: "Value3", doubleInput: 1.5 };
  const results = async (more: object) => {
    const { headers } = await execute("echo", { inputs, ...more }, ASYNC);
    const location = headers.get("location") ?? "";
    await ades.ended(location);
    return ades.ask(`${location}/results`);
  };
  assert.equal((await results({ outputs: { stringOutput: {} } })).body, "Value3");
  assert.match((await results({})).headers.get("content-type") ?? "", /^multipart\/related/);
  assert.equal((await results({ outputs: { doubleOutput: { transmissionMode: "reference" } } })).status, 204);
  assert.deepEqual((await results({ response: "document" })).body, { stringOutput: "Value3", doubleOutput: 1.5 });
  const { headers } = await execute("echo", { inputs }, ASYNC);
  const single = await ades.ask(`${headers.get("location")}/results/doubleOutput`);
  assert.deepEqual([single.body, single.headers.get("content-type")], [1.5, "application/json"]);
  const wrong = await ades.ask(`${headers.get("location")}/results/nothing`);
  assert.deepEqual([wrong.status, wrong.body.type], [400, `${EXCEPTIONS}/no-such-output`]);
});

test("/req/core/job-results-exception/results-not-ready, job-results-failed, /req/dismiss/*", async () => {
  await ades.ask(`${API}/processes`, { text: shellPackage("slow", "sleep 30"), type: "application/cwl" });
  await ades.ask(`${API}/processes`, {
    text: shellPackage("fails", "echo 'no such band: B99' >&2; exit 3"),
    type: "application/cwl",
  });
  const slow = (await execute("slow", { inputs: { name: "x" } }, ASYNC)).headers.get("location") ?? "";
  const notReady = await ades.ask(`${slow}/results`);
  assert.deepEqual([notReady.status, notReady.body.type], [404, `${EXCEPTIONS}/result-not-ready`]);
  const dismissed = await ades.ask(slow, { method: "DELETE" });
  assert.deepEqual(
    [dismissed.status, dismissed.body.status, dismissed.body.jobID],
    [200, "dismissed", slow.slice(-36)],
  );
  assert.equal((await ades.ask(slow)).body.status, "dismissed");
  assert.equal((await ades.ask(`${slow}/results`)).status, 410);
  assert.equal((await ades.ask(slow, { method: "DELETE" })).status, 200);
  assert.equal((await ades.ask(slow, { method: "DELETE" })).status, 404);
  const failed = (await execute("fails", { inputs: { name: "x" } }, ASYNC)).headers.get("location") ?? "";
  const job = await ades.ended(failed);
  assert.equal(job.status, "failed");
  const { status, body } = await ades.ask(`${failed}/results`);
  assert.equal(status, 500);
  assert.match(body.detail, /no such band: B99/);
  assert.equal(body.title, "JobFailed");
});

test("/req/html/definition, /req/html/content: every document is a page, without script, with every link", async () => {
  const { headers } = await execute("echo", { inputs: { stringInput: "Value1" } }, ASYNC);
  const job = headers.get("location") ?? "";
  for (const path of [
    API,
    `${API}/conformance`,
    `${API}/processes`,
    `${API}/processes/echo`,
    `${API}/jobs`,
    job,
    `${job}/results`,
  ]) {
    const page = await asHtml(path);
    assert.equal(page.status, 200, path);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(page.headers.get("content-security-policy") ?? "", /^default-src 'none'; style-src 'self'/);
    assert.match(page.body, /^<!doctype html>/);
    assert.doesNotMatch(page.body, /<script/);
    const forced = await ades.ask(`${path}?f=html`);
    assert.equal(forced.headers.get("content-type"), "text/html; charset=utf-8");
    const document = await ades.ask(`${path}?f=json`, { headers: { accept: "text/html" } });
    for (const { href, rel } of (document.body.links ?? []) as TestLink[]) {
      // A page is its own alternate's alternate.
      assert.ok(
        rel === "self" || rel === "alternate" || page.body.includes(`href="${href.replaceAll("&", "&amp;")}"`),
        `${path} lacks ${href}`,
      );
    }
  }
  const missing = await asHtml(`${API}/processes/%3Cscript%3Ealert(1)%3C%2Fscript%3E`);
  assert.equal(missing.status, 404);
  assert.match(missing.body, /&lt;script&gt;/);
  assert.doesNotMatch(missing.body, /<script/);
  assert.equal((await fetch(`${ades.url}/resources/ades.css`)).headers.get("content-type"), "text/css; charset=utf-8");
});

test("/req/json/definition, CORS: answers say what they are, pages of other hosts may read them", async () => {
  const origin = "https://portal.example.org";
  const answer = await ades.ask(`${API}/processes`, { headers: { origin } });
  assert.equal(answer.headers.get("access-control-allow-origin"), origin);
  assert.equal(answer.headers.get("access-control-allow-credentials"), null);
  assert.match(answer.headers.get("vary") ?? "", /Origin/);
  const preflight = await fetch(`${ades.url}${API}/processes/echo/execution`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type, prefer",
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-headers"), "content-type, prefer");
});

test("the earlier face: one JSON document, relative locations", async () => {
  const face = "/eric/wps3";
  const { headers } = await execute(
    "echo",
    { inputs: { stringInput: "Value1", doubleInput: 2 }, response: "raw" },
    ASYNC,
    face,
  );
  const location = headers.get("location") ?? "";
  assert.match(location, /^\/eric\/wps3\/jobs\//);
  for (const path of ["/result", "/results", "/results/"]) {
    assert.deepEqual((await ades.ask(`${location}${path}`)).body, { stringOutput: "Value1", doubleOutput: 2 });
  }
  const { body } = await ades.ask(`${face}/api`);
  assert.equal(body.servers[0].url, `${ades.url}${face}`);
});
