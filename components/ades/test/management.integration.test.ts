// What a service has beside Part 1 and Part 2: jobs that are started later (Part 4), versions, streams, what was used, quotas; and
// requests that no route should understand by chance.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { API, ASYNC, EXCEPTIONS, execute } from "./ogc-requests.ts";
import { filePackage, shellPackage } from "./packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { USER_QUEUED_JOBS: "4", USER_RUNNING_JOBS: "1", PARALLEL_JOBS: "4" } });
  await deploy(shellPackage("say", 'echo "$1"'));
  await deploy(shellPackage("wait", 'sleep "$1"; echo done'));
  await deploy(filePackage("copy", 'cp "$1" copy.txt'));
});
after(() => ades.close());

const deploy = async (text: string, type = "application/cwl", user = "eric") => {
  const response = await ades.send(`/${user}/ogc-api/processes`, { text, type });
  assert.equal(response.status, 201, JSON.stringify(response.body));
  return response;
};

test("a job is made, changed, shown and started (Part 4); afterwards it is locked", async () => {
  const process = `${ades.url}${API}/processes/say`;
  const made = await ades.send(`${API}/jobs`, { json: { process, inputs: { name: "first" } } });
  assert.deepEqual([made.status, made.body.status], [201, "created"], JSON.stringify(made.body));
  const job = `${API}/jobs/${made.body.jobID}`;
  assert.equal(made.headers.get("location"), `${ades.url}${job}`);
  const list = await ades.send(`${API}/jobs?status=created`);
  assert.equal(list.body.jobs.length, 1);
  await sleep(300);
  assert.equal((await ades.send(job)).body.status, "created", "it waits to be started");
  const early = await ades.send(`${job}/results`);
  assert.deepEqual([early.status, early.body.title], [404, "ResultNotReady"], JSON.stringify(early.body));
  const wrong = await ades.send(job, { method: "PATCH", json: { inputs: { name: 5 } } });
  assert.equal(wrong.status, 400);
  assert.equal((await ades.send(job, { method: "PATCH", json: { inputs: { name: "second" } } })).status, 204);
  const { body: definition } = await ades.send(`${job}/definition`);
  assert.deepEqual([definition.process, definition.inputs], [process, { name: "second" }]);
  const started = await ades.send(`${job}/results`, { method: "POST" });
  assert.deepEqual([started.status, started.body.status], [200, "accepted"]);
  assert.equal((await ades.ended(job)).status, "successful");
  assert.equal(String((await ades.send(`${job}/results`)).body).trim(), "second");
  for (const again of [
    await ades.send(`${job}/results`, { method: "POST" }),
    await ades.send(job, { method: "PATCH", json: { inputs: {} } }),
  ]) {
    assert.equal(again.status, 423);
    assert.equal(again.body.type, "http://www.opengis.net/def/exceptions/ogcapi-processes-4/1.0/locked");
  }
  const unwanted = await ades.send(`${API}/jobs`, { json: { process: "say", inputs: { name: "x" } } });
  assert.equal((await ades.send(`${API}/jobs/${unwanted.body.jobID}`, { method: "DELETE" })).body.status, "dismissed");
  assert.equal((await ades.send(`${API}/jobs`, { json: { process: "nothing", inputs: {} } })).status, 404);
  // Another user's process, or another service's, is not one's own of the same name.
  const own = new URL(process);
  for (const other of [
    process.replace("/eric/", "/bob/"),
    `https://elsewhere.example.org${own.pathname}`,
    `${own.pathname}/a/b`,
    "https://%/processes/say",
  ]) {
    const refused = await ades.send(`${API}/jobs`, { json: { process: other, inputs: { name: "x" } } });
    assert.equal(refused.status, 400, other);
    assert.match(JSON.stringify(refused.body), /must be a process of this space/);
  }
  for (const same of [own.pathname, `${own.pathname}/execution`, `${process}/execution`]) {
    const taken = await ades.send(`${API}/jobs`, { json: { process: same, inputs: { name: "x" } } });
    assert.equal(taken.status, 201, JSON.stringify(taken.body));
    await ades.send(`${API}/jobs/${taken.body.jobID}`, { method: "DELETE" });
  }
  assert.equal((await ades.send(`${API}/jobs`, { json: { inputs: {} } })).status, 400);
});

test("each version of a process can be read and executed, and made the current one again", async () => {
  const versioned = (version: string, said: string) =>
    shellPackage("ndvi", `echo ${said} "$1"`).replace(
      "$graph",
      `$namespaces: { s: "https://schema.org/" }\ns:softwareVersion: ${version}\n$graph`,
    );
  await deploy(versioned("1.2.0", "old"));
  const put = await ades.send(`${API}/processes/ndvi`, {
    method: "PUT",
    text: versioned("2.0.0", "new"),
    type: "application/cwl",
  });
  assert.equal(put.status, 204);
  const said = async (id: string) => String((await execute(ades, id, { inputs: { name: "x" } })).body).trim();
  assert.deepEqual(
    [await said("ndvi"), await said("ndvi:1.2.0"), await said("ndvi:2.0.0"), await said("ndvi:1")],
    ["new x", "old x", "new x", "old x"],
  );
  assert.equal((await ades.send(`${API}/processes/ndvi:1.2.0`)).body.version, "1.2.0");
  assert.equal((await ades.send(`${API}/processes/ndvi:3`)).status, 404);
  const { body } = await ades.send(`${API}/processes/ndvi/versions`);
  assert.deepEqual(
    (body.versions as { version: string; current: boolean }[]).map(({ version, current }) => [version, current]),
    [
      ["2.0.0", true],
      ["1.2.0", false],
    ],
  );
  const back = await ades.send(`${API}/processes/ndvi/rollback`, { json: { version: "1.2.0" } });
  assert.deepEqual([back.status, back.body.version], [200, "1.2.0"]);
  assert.equal(await said("ndvi"), "old x");
  assert.equal((await ades.send(`${API}/processes/ndvi/rollback`, { json: { version: "9" } })).status, 404);
});

test("processes are searched and sorted", async () => {
  const ids = async (query: string) =>
    ((await ades.send(`${API}/processes?${query}`)).body.processes as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(await ids("q=SAY"), ["say"]);
  assert.deepEqual(await ids("q=trying a client"), ["echo"]);
  assert.deepEqual(await ids("q=100%25"), []);
  const all = await ids("sortby=-id&limit=1000");
  assert.deepEqual(all, ["echo", ...all.slice(1).toSorted().toReversed()]);
  assert.equal((await ades.send(`${API}/processes?sortby=colour`)).status, 400);
});

test("the status of a job is a stream of events to its end, with what was used", async () => {
  const burn = shellPackage(
    "burn",
    "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; head -c 30000000 /dev/zero | tail -c 1 > /dev/null; sleep 1; echo done",
  );
  await deploy(burn);
  const { headers } = await execute(ades, "burn", { inputs: { name: "x" } }, ASYNC);
  const response = await fetch(headers.get("location") ?? "", { headers: { accept: "text/event-stream" } });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events = [...(await response.text()).matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(
    ([, event, data]) => [event, JSON.parse(data ?? "")] as const,
  );
  const names = new Set(events.map(([name]) => name));
  assert.deepEqual(names, new Set(["status", "step", "end"]));
  const [, end] = events.at(-1) ?? [];
  assert.equal(end.status, "successful");
  assert.ok(end.usage.cpuSeconds > 0, JSON.stringify(end.usage));
  assert.ok(end.usage.peakMemoryBytes > 100_000, JSON.stringify(end.usage));
  const { body } = await ades.send(headers.get("location") ?? "");
  assert.deepEqual(body.usage, end.usage);
  const page = await (await fetch(`${headers.get("location")}?f=html`)).text();
  assert.match(page, /<dt>processor time<\/dt>\s*<dd>[\d.]+ s<\/dd>/);
  assert.match(page, /<dt>most memory of a step<\/dt>\s*<dd>[\d.]+ [KMG]?i?B?(?:bytes)?<\/dd>/);
  const { body: steps } = await ades.send(`${headers.get("location")}/steps`);
  assert.ok(
    steps.steps.some((step: { cpuSeconds?: number }) => (step.cpuSeconds ?? 0) > 0),
    JSON.stringify(steps),
  );
  assert.match(page, /<th>Files out<\/th>/);
});

test("bytes of the files that a step was given and left", async () => {
  await deploy(filePackage("twice", 'cat "$1" "$1" > two'));
  const file = { value: "12345", mediaType: "text/plain" };
  const { headers } = await execute(ades, "twice", { inputs: { file } }, ASYNC);
  const location = headers.get("location") ?? "";
  assert.equal((await ades.ended(location)).status, "successful");
  const { body } = await ades.send(`${location}/steps`);
  const [step] = body.steps as readonly Readonly<Record<string, unknown>>[];
  assert.deepEqual([step?.["status"], step?.["bytesIn"], step?.["bytesOut"]], ["successful", 5, 10]);
});

test("a user's jobs are limited, at once and waiting, and every answer says how many are left", async () => {
  const sent = [];
  for (let index = 0; index < 4; index += 1) {
    sent.push(await execute(ades, "wait", { inputs: { name: "1" } }, ASYNC));
  }
  assert.deepEqual(
    sent.map(({ status, headers }) => [status, headers.get("ratelimit-limit"), headers.get("ratelimit-remaining")]),
    [3, 2, 1, 0].map((left) => [201, "4", String(left)]),
  );
  const refused = await execute(ades, "wait", { inputs: { name: "1" } }, ASYNC);
  assert.equal(refused.status, 429);
  assert.match(refused.body.detail, /eric has 4 jobs that wait or are at work; allowed: 4/);
  assert.notEqual(refused.headers.get("retry-after"), null);
  let most = 0;
  for (;;) {
    const { body } = await ades.send(`${API}/jobs?status=running,accepted`);
    const running = (body.jobs as { status: string }[]).filter(({ status }) => status === "running").length;
    most = Math.max(most, running);
    if (body.jobs.length === 0) {
      break;
    }
    await sleep(100);
  }
  // Whether one is seen at work depends on how fast they are.
  assert.ok(most <= 1, `${most} at once`);
});

test("files are given inline: text, base64, JSON, GeoJSON, a bounding box", async () => {
  const copied = async (file: unknown) => {
    const { status, headers, body } = await execute(ades, "copy", { inputs: { file } }, ASYNC);
    assert.equal(status, 201, JSON.stringify(body));
    const job = await ades.ended(headers.get("location") ?? "");
    assert.equal(job.status, "successful", job.message);
    const { body: list } = await ades.send(`${headers.get("location")}/files`);
    const copy = (list.files as { path: string; href: string }[]).find(({ path }) => path.endsWith("copy.txt"));
    const content = (await ades.send(copy?.href ?? "")).body as unknown;
    return typeof content === "string" ? content : JSON.stringify(content);
  };
  const point = { type: "Point", coordinates: [7, 52] };
  const bbox = { bbox: [7, 51.9, 7.1, 52], crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" };
  assert.equal(await copied({ value: "some text", mediaType: "text/plain" }), "some text");
  assert.equal(
    await copied({ value: Buffer.from("bytes").toString("base64"), encoding: "base64", mediaType: "image/tiff" }),
    "bytes",
  );
  assert.equal(
    await copied({
      value: Buffer.from("old").toString("base64"),
      format: { mediaType: "image/tiff", encoding: "base64" },
    }),
    "old",
  );
  assert.deepEqual(JSON.parse(await copied(point)), point);
  assert.deepEqual(JSON.parse(await copied({ value: point, mediaType: "application/geo+json" })), point);
  assert.deepEqual(JSON.parse(await copied(bbox)), bbox);
  assert.equal(await copied("<gml:Point/>"), "<gml:Point/>");
  // One line of text may be a path or an address with a mistake.
  for (const file of ["/etc/passwd", "scene.tif", { value: "scene.tif" }]) {
    assert.equal((await execute(ades, "copy", { inputs: { file } }, ASYNC)).status, 400, JSON.stringify(file));
  }
});

test("what a package request says is merged over the package; YAML, several units, images", async () => {
  const unit = { mediaType: "application/cwl+yaml", value: shellPackage("merged", 'echo "$1"') };
  const process = {
    title: "Merged",
    jobControlOptions: ["async-execute"],
    inputs: { name: { title: "Whom to greet", schema: { type: "string", maxLength: 10 } } },
    outputs: { text: { description: "The greeting" } },
  };
  const made = await ades.send(`${API}/processes`, {
    json: { processDescription: process, executionUnit: [{ type: "oci", image: "example.org/x:1" }, { unit }] },
    type: "application/ogcapppkg+json",
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { body } = await ades.send(`${API}/processes/merged`);
  assert.deepEqual(
    [body.title, body.inputs.name.title, body.inputs.name.schema],
    ["Merged", "Whom to greet", { type: "string", maxLength: 10 }],
  );
  assert.equal(body.outputs.text.description, "The greeting");
  // Asynchronous only, as it was said.
  assert.equal((await execute(ades, "merged", { inputs: { name: "x" } })).status, 201);
  const long = await execute(ades, "merged", { inputs: { name: "x".repeat(11) } });
  assert.deepEqual(
    [long.status, long.body.errors],
    [400, [{ path: "inputs.name", message: "must have at most 10 characters" }]],
  );
  const wrong = await ades.send(`${API}/processes`, {
    json: {
      processDescription: { id: "limited", inputs: { name: { schema: { maxLength: "ten" } } } },
      executionUnit: unit,
    },
    type: "application/ogcapppkg+json",
  });
  assert.deepEqual(
    [wrong.status, wrong.body.detail],
    [400, "processDescription.inputs.name.schema.maxLength must be integer."],
  );
  const unknown = await ades.send(`${API}/processes`, {
    json: { processDescription: { id: "other", inputs: { colour: {} } }, executionUnit: unit },
    type: "application/ogcapppkg+json",
  });
  assert.match(unknown.body.detail, /inputs has "colour", which the package does not have/);
  const yaml = `processDescription: { id: in-yaml, title: In YAML }\nexecutionUnit:\n  type: application/cwl+json\n  value: ${JSON.stringify(unit.value)}\n`;
  assert.equal((await deploy(yaml, "application/ogcapppkg+yaml")).body.title, "In YAML");
});

test("ids are taken as they are or refused, never rewritten", async () => {
  for (const id of ["../../x y", "x".repeat(300), "x/y", "1st", "ä"]) {
    const text = shellPackage("ID", "true").replace("id: ID", `id: ${JSON.stringify(id)}`);
    const { status, body } = await ades.send(`${API}/processes`, { text, type: "application/cwl" });
    assert.equal(status, 400, id);
    assert.match(body.detail, /has the id .*allowed: a letter or _/, id);
  }
});

test("parameters and members that a request does not have, and addresses that cannot be read, are problems", async () => {
  for (const path of [
    "/processes?limt=5",
    "/processes/say?colour=red",
    "/jobs?stats=running",
    "?x=1",
    "/conformance?x=1",
  ]) {
    const { status, body } = await ades.send(`${API}${path}`);
    assert.equal(status, 400, path);
    assert.match(body.detail, /There is no parameter .*allowed:/, path);
  }
  const member = await execute(ades, "say", { inputs: { name: "x" }, output: {} });
  assert.equal(member.status, 400);
  assert.match(member.body.detail, /has no member "output"/);
  for (const path of ["/processes/%ff", `/processes/${"x".repeat(300)}`, "/jobs/%E0%A4%A"]) {
    const { status, headers, body } = await ades.send(`${API}${path}`);
    assert.ok(status >= 400 && status < 500, path);
    assert.match(headers.get("content-type") ?? "", /problem\+json/, path);
    assert.equal(body.status, status);
  }
});

test("a synchronous job that fails by its inputs is the client's mistake, one that fails by itself the server's", async () => {
  const bad = await execute(ades, "copy", { inputs: { file: { href: "s3://results/nothing" } } });
  assert.deepEqual([bad.status, bad.body.title], [400, "InvalidParameterValue"], JSON.stringify(bad.body));
  await deploy(shellPackage("fails", "exit 3"));
  const failed = await execute(ades, "fails", { inputs: { name: "x" } });
  assert.equal(failed.status, 500);
});

test("no output asked for is no failure; locations are whole addresses on one face and paths on the other", async () => {
  const none = await execute(ades, "say", { inputs: { name: "x" }, outputs: {} });
  assert.deepEqual([none.status, none.body], [200, {}]);
  const one = await execute(ades, "say", { inputs: { name: "x" } }, ASYNC);
  assert.match(one.headers.get("location") ?? "", /^http:\/\/127\.0\.0\.1:\d+\/eric\/ogc-api\/jobs\/[-\w]+$/);
  const earlier = await execute(ades, "say", { inputs: { name: "x" } }, ASYNC, "/eric/wps3");
  assert.match(earlier.headers.get("location") ?? "", /^\/eric\/wps3\/jobs\/[-\w]+$/);
  assert.equal(
    (await ades.send(`${API}/jobs/00000000-0000-0000-0000-000000000000`)).body.type,
    `${EXCEPTIONS}/no-such-job`,
  );
});
