import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { waitUntil } from "@swath/testing";

import { ROOT, type TestAdes, startAdes } from "./start-ades.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples");
let ades: TestAdes;
let s3: S3Client;
before(async () => {
  ades = await startAdes();
  s3 = new S3Client({ endpoint: ades.objstoreUrl, region: "us-east-1", forcePathStyle: true, credentials: ROOT });
});
after(async () => {
  s3.destroy();
  await ades.close();
});

/** A package of one step that runs a shell command; its outputs are the texts that it writes. */
const shellPackage = (id: string, script: string) => `
cwlVersion: v1.2
s:softwareVersion: 1.2.3
$namespaces: { s: "https://schema.org/" }
$graph:
  - class: Workflow
    id: ${id}
    label: Test
    doc: A package of the tests
    inputs:
      name: string
      times: { type: int, default: 1, doc: How often }
      mode: { type: { type: enum, symbols: [loud, quiet] }, default: quiet }
      tags: { type: "string[]?" }
    steps:
      run: { run: "#tool", in: { name: name }, out: [text] }
    outputs: { text: { type: string, outputSource: run/text } }
  - class: CommandLineTool
    id: tool
    baseCommand: [sh, -c, ${JSON.stringify(script)}, sh]
    inputs: { name: { type: string, inputBinding: { position: 1 } } }
    stdout: out.txt
    outputs: { text: { type: string, outputBinding: { glob: out.txt, loadContents: true, outputEval: "$(self[0].contents)" } } }
`;
const deploy = (user: string, text: string, path = "wps3") =>
  ades.send(`/${user}/${path}/processes`, { text, type: "application/cwl+yaml" });
const execute = (
  user: string,
  id: string,
  inputs: object,
  headers = { prefer: "respond-async" } as Record<string, string>,
) => ades.send(`/${user}/wps3/processes/${id}/execution`, { json: { inputs, response: "raw" }, headers });

test("a package is deployed, described from its CWL, replaced and undeployed", async () => {
  const made = await deploy("eric", shellPackage("hello", "printf 'hello %s' \"$1\""));
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("location"), "/eric/wps3/processes/hello");
  assert.equal((await deploy("eric", shellPackage("hello", "true"))).status, 409);
  const { body } = await ades.send("/eric/ogc-api/processes/hello");
  assert.equal(body.version, "1.2.3");
  assert.equal(body.inputs.name.minOccurs, 1);
  assert.deepEqual(body.inputs.times, {
    title: "times",
    description: "How often",
    schema: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1, default: 1 },
    minOccurs: 0,
    maxOccurs: 1,
  });
  assert.deepEqual(body.inputs.mode.schema.enum, ["loud", "quiet"]);
  assert.deepEqual(body.inputs.tags.schema, { type: "array", items: { type: "string" } });
  const { body: list } = await ades.send("/eric/wps3/processes");
  assert.deepEqual(
    list.processes.map(({ id }: { id: string }) => id),
    ["echo", "hello"],
  );
  assert.deepEqual(
    (await ades.send("/bob/wps3/processes")).body.processes.map(({ id }: { id: string }) => id),
    ["echo"],
  );
  const put = await ades.send("/eric/wps3/processes/hello", {
    method: "PUT",
    text: shellPackage("hello", "printf 'hi %s' \"$1\""),
    type: "application/cwl",
  });
  assert.equal(put.status, 204);
  await deploy("eric", shellPackage("gone", "true"));
  const typed = { method: "DELETE", headers: { "content-type": "application/json" } };
  assert.equal(
    (await ades.send("/eric/wps3/processes/gone", typed)).status,
    204,
    "with the type of a body that is not there",
  );
  await deploy("eric", shellPackage("gone", "true"));
  assert.equal((await ades.send("/eric/wps3/processes/gone", { method: "DELETE" })).status, 204);
  assert.equal((await ades.send("/eric/wps3/processes/gone")).status, 404);
  assert.equal((await ades.send("/eric/wps3/processes/echo", { method: "DELETE" })).status, 403);
});

test("wrong packages are refused with every mistake and its line", async () => {
  const wrong = await deploy(
    "eric",
    "cwlVersion: v1.2\nclass: Workflow\nid: x\ninputs: {a: strin}\noutputs: []\nsteps: []\n",
  );
  assert.equal(wrong.status, 400);
  assert.equal(wrong.body.errors[0].line, 4);
  assert.match(wrong.body.detail, /strin/);
  const json = await ades.send("/eric/wps3/processes", { json: {} });
  assert.match(json.body.detail, /executionUnit is missing/);
  const secret = await ades.send("/eric/wps3/processes", {
    json: { executionUnit: { href: `${ades.objstoreUrl}/x.cwl`, type: "application/cwl" } },
  });
  assert.equal(secret.status, 400);
  assert.match(secret.body.detail, /cannot be read/);
  assert.equal((await ades.send("/eric/wps3/processes", { text: "x", type: "text/html" })).status, 415);
  const data = `data:application/cwl;base64,${Buffer.from(shellPackage("by-data", "true")).toString("base64")}`;
  assert.equal(
    (await ades.send("/eric/wps3/processes", { json: { executionUnit: { href: data, type: "application/cwl" } } }))
      .status,
    201,
  );
});

test("executed asynchronously and synchronously; inputs that do not fit are refused at once", async () => {
  const started = await execute("eric", "hello", { name: "world" });
  assert.equal(started.status, 201);
  assert.equal(started.headers.get("preference-applied"), "respond-async");
  const location = started.headers.get("location") ?? "";
  assert.match(location, /^\/eric\/wps3\/jobs\/[0-9a-f-]{36}$/);
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  assert.equal(job.progress, 100);
  assert.deepEqual((await ades.send(`${location}/result`)).body, { text: "hi world" });
  assert.deepEqual((await ades.send(`${location}/results`)).body, { text: "hi world" });
  assert.equal((await ades.send(location.replace("eric", "bob"))).status, 404);
  const steps = (await ades.send(`${location}/steps`)).body.steps;
  assert.ok(
    steps.some(
      ({ name, status }: { name: string; status: string }) => name.startsWith("run") && status === "successful",
    ),
  );

  const sync = await execute("eric", "hello", { name: { value: "again" } }, {});
  assert.deepEqual([sync.status, sync.body], [200, { text: "hi again" }]);
  const wrong = await execute("eric", "hello", { nam: "x", times: "often", mode: "shrill" });
  assert.equal(wrong.status, 400);
  assert.deepEqual(
    wrong.body.errors.map(({ path }: { path: string }) => path),
    ["inputs.nam", "inputs.name", "inputs.times", "inputs.mode"],
  );
  assert.equal((await execute("eric", "nothing", {})).status, 404);
  assert.equal((await ades.send("/eric/wps3/jobs/00000000-0000-4000-8000-000000000000")).status, 404);
});

test("a tool that fails is explained: the step, its status, the end of its log", async () => {
  await deploy("eric", shellPackage("broken", "echo 'no such band: B99' >&2; exit 7"));
  const { headers } = await execute("eric", "broken", { name: "x" });
  const job = await ades.ended(headers.get("location") ?? "");
  assert.equal(job.status, "failed");
  assert.match(job.message, /run/);
  assert.match(job.message, /7/);
  assert.match(job.message, /no such band: B99/);
  assert.equal((await ades.send(`${headers.get("location")}/results`)).status, 500);
  assert.match((await ades.send(`${headers.get("location")}/logs`)).body, /no such band/);
});

const isRunning = (command: string) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() === command;
      } catch {
        // Gone between the list and the look.
        return false;
      }
    });

test("a dismissed job ends with everything that it started", async () => {
  await deploy("eric", shellPackage("sleeper", "sleep 4711 & sleep 4711; echo never"));
  const { headers } = await execute("eric", "sleeper", { name: "x" });
  const location = headers.get("location") ?? "";
  await waitUntil("it runs", () => isRunning("sleep 4711"));
  assert.equal((await ades.send(`${location}/results`)).body.title, "ResultNotReady");
  const dismissed = await ades.send(location, { method: "DELETE" });
  assert.equal(dismissed.body.status, "dismissed");
  await waitUntil("nothing is left of it", () => !isRunning("sleep 4711"));
  assert.equal((await ades.send(location, { method: "DELETE" })).status, 200);
  assert.equal((await ades.send(location)).status, 404);
});

test("the service killed in the middle of jobs: each ends once, none is lost", async () => {
  await deploy("bob", shellPackage("slow", "sleep 1; printf 'done %s' \"$1\""));
  const locations = await Promise.all(
    Array.from(
      { length: 5 },
      async (_, index) => (await execute("bob", "slow", { name: `n${index}` })).headers.get("location") ?? "",
    ),
  );
  await sleep(800);
  await ades.kill();
  await ades.start();
  for (const [index, location] of locations.entries()) {
    const job = await ades.ended(location);
    assert.equal(job.status, "successful", job.message);
    assert.deepEqual((await ades.send(`${location}/result`)).body, { text: `done n${index}` });
  }
});

test("the job list is filtered and paged", async () => {
  const all = (await ades.send("/bob/wps3/jobs")).body;
  assert.equal(all.numberTotal, 5);
  const page = (await ades.send("/bob/wps3/jobs?limit=2&skip=1")).body;
  assert.equal(page.jobs.length, 2);
  assert.ok(page.links.some(({ rel }: { rel: string }) => rel === "next"));
  assert.equal((await ades.send("/eric/wps3/jobs?processID=broken")).body.numberTotal, 1);
  assert.equal((await ades.send("/eric/wps3/jobs?status=failed")).body.jobs[0].processID, "broken");
  assert.equal((await ades.send("/bob/wps3/jobs?minDuration=1000")).body.numberTotal, 0);
  assert.equal((await ades.send("/bob/wps3/jobs?datetime=../2020-01-01T00:00:00Z")).body.numberTotal, 0);
  for (const wrong of ["limit=0", "limit=x", "status=odd", "type=job", "datetime=never", "minDuration=long"]) {
    const { status, body } = await ades.send(`/bob/wps3/jobs?${wrong}`);
    assert.equal(status, 400, wrong);
    assert.equal(body.title, "InvalidQueryParameterValue");
  }
});

test("a real scene becomes a vegetation index: staged in, computed, stored as a STAC catalogue", async () => {
  await s3.send(new CreateBucketCommand({ Bucket: "results" })).catch(() => {});
  const scene = join(EXAMPLES, "scenes/canberra");
  for (const name of readdirSync(scene)) {
    await s3.send(
      new PutObjectCommand({
        Bucket: "results",
        Key: `scenes/canberra/${name}`,
        Body: readFileSync(join(scene, name)),
      }),
    );
  }
  const made = await deploy("alice", readFileSync(join(EXAMPLES, "packages/s-expression.cwl"), "utf8"));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const started = await execute("alice", "s-expression", {
    input_reference: "s3://results/scenes/canberra/item.json",
    s_expression: "ndvi:(/ (- nir red) (+ nir red))",
  });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const location = started.headers.get("location") ?? "";
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  const { body } = await ades.send(`${location}/result`);
  assert.equal(body.StacCatalogUri, `s3://results/processing-results/${job.jobID}/catalog.json`);
  const collection = (await ades.send(`${location.replace("wps3", "ogc-api")}/results`)).body;
  assert.equal(collection.type, "Collection");
  const root = collection.links.find(({ rel }: { rel: string }) => rel === "root");
  assert.equal(root.href, body.StacCatalogUri);
  const catalog = await s3.send(
    new GetObjectCommand({ Bucket: "results", Key: `processing-results/${job.jobID}/catalog.json` }),
  );
  assert.equal(JSON.parse((await catalog.Body?.transformToString()) ?? "{}").type, "Catalog");
  await walkByHttp(collection, `${ades.url}${location.replace("wps3", "ogc-api")}`);
});

interface StacDocument {
  readonly type: string;
  readonly links: readonly { readonly rel: string; readonly href: string }[];
  readonly assets?: Readonly<Record<string, { readonly href: string; readonly type?: string; "file:size"?: number }>>;
}

/** What a STAC client does that has nothing but HTTP: from the result to its item, to the GeoTIFF, and back to the catalogue. */
async function walkByHttp(collection: StacDocument, jobUrl: string): Promise<void> {
  const read = async (address: string): Promise<{ url: string; document: StacDocument }> => {
    const response = await fetch(address);
    assert.equal(response.status, 200, address);
    return { url: address, document: (await response.json()) as StacDocument };
  };
  const linkOf = (document: StacDocument, rel: string, url: string): string => {
    const href = document.links.find((link) => link.rel === rel)?.href;
    assert.ok(href !== undefined, `${url} has a link ${rel}`);
    return new URL(href, url).href;
  };
  const item = await read(linkOf(collection, "item", jobUrl));
  assert.equal(item.document.type, "Feature");
  const raster = Object.values(item.document.assets ?? {}).find(({ type }) => type?.startsWith("image/tiff"));
  const address = new URL(raster?.href ?? "", item.url).href;
  const file = await fetch(address);
  const bytes = Buffer.from(await file.arrayBuffer());
  assert.equal(file.headers.get("content-type"), raster?.type);
  assert.equal(bytes.length, raster?.["file:size"]);
  assert.match(bytes.toString("latin1", 0, 4), /^(?:II\*\0|II\+\0|MM\0[*+])/, "a TIFF");
  const part = await fetch(address, { headers: { range: "bytes=0-3" } });
  assert.deepEqual([part.status, await part.text()], [206, bytes.toString("latin1", 0, 4)]);

  const root = await read(linkOf(item.document, "root", item.url));
  assert.equal(root.url, `${jobUrl}/files/catalog.json`);
  const child = await read(linkOf(root.document, "child", root.url));
  assert.equal(linkOf(child.document, "item", child.url), item.url);
  assert.equal(linkOf(child.document, "self", child.url), child.url);
  const head = await fetch(child.url, { method: "HEAD" });
  const whole = await fetch(child.url);
  assert.equal(head.headers.get("content-length"), String((await whole.arrayBuffer()).byteLength));
  const known = { "if-none-match": whole.headers.get("etag") ?? "" };
  assert.equal((await fetch(child.url, { headers: known })).status, 304);
}
