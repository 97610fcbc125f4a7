// OGC API Processes Part 1 (18-062r2). The requirement that a test proves is in its title; docs/reference/processing.md lists them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Validator } from "@seriousme/openapi-schema-validator";

import { describedPackage as shellPackage } from "./described-package.ts";
import { API, ASYNC, EXCEPTIONS, REL, execute, linkOf, type TestLink } from "./ogc-requests.ts";
import { type TestResponse, type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1/32" } });
});
after(() => ades.close());

const asHtml = (path: string) =>
  ades.send(path, { headers: { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" } });

test("/req/core/landingpage-op, landingpage-success, http: the landing page leads everywhere", async () => {
  for (const path of [API, `${API}/`]) {
    const page = await ades.send(path);
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
  const { status, body } = await ades.send(`${API}/conformance`);
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
    const { body, headers } = await ades.send(`${API}/api${query}`);
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
  const accepted = await ades.send(`${API}/api`, {
    headers: { accept: "application/vnd.oai.openapi+json;version=3.1" },
  });
  assert.equal(accepted.body.openapi, "3.1.0");
  const page = await asHtml(`${API}/api`);
  assert.match(page.body, /swagger-ui/i);
  assert.doesNotMatch(page.body, /(?:src|href)="https?:/);
});

test("/req/core/process-list, process-list-success, pl-limit-definition, pl-limit-response: the processes, page by page", async () => {
  for (const id of ["first", "second", "third"]) {
    const made = await ades.send("/lister/ogc-api/processes", {
      text: shellPackage(id, "true"),
      type: "application/cwl",
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const whole = await ades.send("/lister/ogc-api/processes");
  assert.deepEqual(
    whole.body.processes.map(({ id }: { id: string }) => id),
    ["echo", "first", "second", "third"],
  );
  assert.equal(whole.body.numberTotal, 4);
  for (const process of whole.body.processes) {
    assert.ok(process.version && process.jobControlOptions.length > 0 && "mutable" in process);
    assert.equal(
      linkOf({ body: process } as TestResponse, "self")?.href,
      `${ades.url}/lister/ogc-api/processes/${process.id}`,
    );
  }
  const seen: string[] = [];
  let href: string | undefined = "/lister/ogc-api/processes?limit=3";
  for (let pages = 0; href !== undefined && pages < 5; pages += 1) {
    const found: TestResponse = await ades.send(href.replace(ades.url, ""));
    assert.ok(found.body.processes.length <= 3);
    seen.push(...found.body.processes.map(({ id }: { id: string }) => id));
    href = linkOf(found, "next")?.href;
  }
  assert.deepEqual(seen, ["echo", "first", "second", "third"]);
  assert.ok(linkOf(await ades.send("/lister/ogc-api/processes?limit=1&skip=2"), "prev"));
  assert.equal((await ades.send("/lister/ogc-api/processes?limit=100000")).status, 200);
  for (const wrong of ["limit=0", "limit=many", "skip=-1", "f=xml"]) {
    const { status, body } = await ades.send(`/lister/ogc-api/processes?${wrong}`);
    assert.deepEqual([status, body.type], [400, `${EXCEPTIONS}/invalid-query-parameter-value`], wrong);
  }
});

test("/req/core/process-description, process-success, process-exception/no-such-process, /req/ogc-process-description/*", async () => {
  const { status, body } = await ades.send(`${API}/processes/echo`);
  assert.equal(status, 200);
  assert.equal(linkOf({ body } as TestResponse, `${REL}/execute`)?.href, `${ades.url}${API}/processes/echo/execution`);
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
  const made = await ades.send(`${API}/processes`, {
    text: shellPackage("described", "true"),
    type: "application/cwl",
  });
  assert.equal(made.status, 201);
  const described = (await ades.send(`${API}/processes/described`)).body;
  assert.deepEqual(described.keywords, ["test", "shell"]);
  assert.deepEqual(described.inputs.name, {
    title: "A name",
    description: "Whom to greet",
    schema: { type: "string" },
    minOccurs: 1,
    maxOccurs: 1,
  });
  assert.deepEqual(described.inputs.tags.schema, { type: "array", items: { type: "string" } });
  const missing = await ades.send(`${API}/processes/nothing`);
  assert.deepEqual([missing.status, missing.body.type], [404, `${EXCEPTIONS}/no-such-process`]);
  assert.match(missing.headers.get("content-type") ?? "", /application\/problem\+json/);
  const plain = await ades.send(`${API}/processes/nothing`, { headers: { accept: "application/json" } });
  assert.match(plain.headers.get("content-type") ?? "", /^application\/json/);
});

test("/req/core/job-results-exception/results-not-ready, job-results-failed, /req/dismiss/*", async () => {
  await ades.send(`${API}/processes`, { text: shellPackage("slow", "sleep 30"), type: "application/cwl" });
  await ades.send(`${API}/processes`, {
    text: shellPackage("fails", "echo 'no such band: B99' >&2; exit 3"),
    type: "application/cwl",
  });
  const slow = (await execute(ades, "slow", { inputs: { name: "x" } }, ASYNC)).headers.get("location") ?? "";
  const notReady = await ades.send(`${slow}/results`);
  assert.deepEqual([notReady.status, notReady.body.type], [404, `${EXCEPTIONS}/result-not-ready`]);
  const dismissed = await ades.send(slow, { method: "DELETE" });
  assert.deepEqual(
    [dismissed.status, dismissed.body.status, dismissed.body.jobID],
    [200, "dismissed", slow.slice(-36)],
  );
  assert.equal((await ades.send(slow)).body.status, "dismissed");
  assert.equal((await ades.send(`${slow}/results`)).status, 410);
  assert.equal((await ades.send(slow, { method: "DELETE" })).status, 200);
  assert.equal((await ades.send(slow, { method: "DELETE" })).status, 404);
  const failed = (await execute(ades, "fails", { inputs: { name: "x" } }, ASYNC)).headers.get("location") ?? "";
  const job = await ades.ended(failed);
  assert.equal(job.status, "failed");
  const { status, body } = await ades.send(`${failed}/results`);
  assert.equal(status, 500);
  assert.match(body.detail, /no such band: B99/);
  assert.equal(body.title, "JobFailed");
});

test("/req/html/definition, /req/html/content: every document is a page, without script, with every link", async () => {
  const { headers } = await execute(ades, "echo", { inputs: { stringInput: "Value1" } }, ASYNC);
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
    const forced = await ades.send(`${path}?f=html`);
    assert.equal(forced.headers.get("content-type"), "text/html; charset=utf-8");
    const document = await ades.send(`${path}?f=json`, { headers: { accept: "text/html" } });
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
  const response = await ades.send(`${API}/processes`, { headers: { origin } });
  assert.equal(response.headers.get("access-control-allow-origin"), origin);
  assert.equal(response.headers.get("access-control-allow-credentials"), null);
  assert.match(response.headers.get("vary") ?? "", /Origin/);
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
  const apiFlavor = "/eric/wps3";
  const { headers } = await execute(
    ades,
    "echo",
    { inputs: { stringInput: "Value1", doubleInput: 2 }, response: "raw" },
    ASYNC,
    apiFlavor,
  );
  const location = headers.get("location") ?? "";
  assert.match(location, /^\/eric\/wps3\/jobs\//);
  for (const path of ["/result", "/results", "/results/"]) {
    assert.deepEqual((await ades.send(`${location}${path}`)).body, { stringOutput: "Value1", doubleOutput: 2 });
  }
  const { body } = await ades.send(`${apiFlavor}/api`);
  assert.equal(body.servers[0].url, `${ades.url}${apiFlavor}`);
});
