import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { describedPackage as shellPackage } from "./described-package.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const API = "/eric/ogc-api";
const ASYNC = { prefer: "respond-async" };
let ades: TestAdes;
before(async () => {
  ades = await startAdes();
});
after(() => ades.close());

const start = async (process: string, inputs: object) =>
  (await ades.send(`${API}/processes/${process}/execution`, { json: { inputs }, headers: ASYNC })).headers.get(
    "location",
  ) ?? "";

interface SentEvent {
  readonly id?: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- data are looked into freely
  readonly data: any;
}

/** Reads server-sent events until the stream ends, or `enough` of them are there. */
async function readEvents(
  location: string,
  after: string | undefined,
  enough = Infinity,
): Promise<readonly SentEvent[]> {
  const stop = new AbortController();
  const response = await fetch(new URL(`${location}/logs`, ades.url), {
    headers: { accept: "text/event-stream", ...(after !== undefined && { "last-event-id": after }) },
    signal: stop.signal,
  });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events: SentEvent[] = [];
  let text = "";
  for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks.filter((lines) => lines.includes("data: "))) {
      const fields = Object.fromEntries(
        block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      events.push({ ...fields, data: JSON.parse(fields["data"] ?? "") as unknown } as SentEvent);
    }
    if (events.length >= enough) {
      stop.abort();
      break;
    }
  }
  return events;
}

test("a log is followed while the job runs, and goes on after the last event that arrived", async () => {
  const script = "echo one >&2; sleep 2; echo two >&2; sleep 2; echo three >&2";
  await ades.send(`${API}/processes`, { text: shellPackage("talks", script), type: "application/cwl" });
  const location = await start("talks", { name: "x" });
  const [first] = await readEvents(location, undefined, 1);
  assert.match(first?.data.text, /one/);
  const rest = await readEvents(location, first?.id);
  const words = rest
    .filter(({ event }) => event === "log")
    .map(({ data }) => data.text)
    .join("");
  assert.doesNotMatch(words, /one/);
  assert.match(words, /two[^]*three/);
  assert.deepEqual([rest.at(-1)?.event, rest.at(-1)?.data.status], ["end", "successful"]);
  const all = await readEvents(location, undefined);
  assert.deepEqual(
    all.map(({ id }) => id).slice(1),
    rest.map(({ id }) => id),
  );
  assert.match((await ades.send(`${location}/logs`)).body, /one\n[^]*two\n[^]*three\n/);
  const wrong = await ades.send(`${location}/logs`, { headers: { accept: "text/event-stream", "last-event-id": "x" } });
  assert.equal(wrong.status, 400);
});

test("a user has 100 event streams; one more is refused with 429 until one ends", async (t) => {
  const made = await ades.send(`${API}/processes`, {
    text: shellPackage("lasting", "sleep 100"),
    type: "application/cwl",
  });
  assert.equal(made.status, 201);
  const location = await start("lasting", { name: "x" });
  t.after(() => ades.send(location, { method: "DELETE" }));
  const open = async (signal?: AbortSignal): Promise<Response> =>
    fetch(new URL(location, ades.url), {
      headers: { accept: "text/event-stream" },
      ...(signal !== undefined && { signal }),
    });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const streams = await Promise.all(Array.from({ length: 100 }, () => open(stop.signal)));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const refused = await open();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.match(await refused.text(), /has 100 event streams already/);
  stop.abort();
  await waitUntil("a stream is opened again", async () => {
    const once = new AbortController();
    const { status } = await open(once.signal);
    once.abort();
    return status === 200;
  });
});

const SECRET = shellPackage("guarded", "printf done")
  .replace("    steps:", '    hints: { "cwltool:Secrets": { secrets: [name] } }\n    steps:')
  .replace(
    '$namespaces: { s: "https://schema.org/" }',
    '$namespaces: { s: "https://schema.org/", cwltool: "http://commonwl.org/cwltool#" }',
  );

test("what a job was given, its steps, and where its results come from; secrets stay out of sight", async () => {
  const made = await ades.send(`${API}/processes`, { text: SECRET, type: "application/cwl" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const location = await start("guarded", { name: "my password", tags: ["a", "b"] });
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);
  const { body } = await ades.send(`${location}/inputs`);
  assert.deepEqual([body.inputs, body.response], [{ name: "(secret)", tags: ["a", "b"] }, "raw"]);
  const { body: steps } = await ades.send(`${location}/steps`);
  assert.ok(
    steps.steps.some(
      ({ name, status, exitCode }: { name: string; status: string; exitCode: number }) =>
        name === "run" && status === "successful" && exitCode === 0,
    ),
    JSON.stringify(steps),
  );
  const { body: crate, headers } = await ades.send(`${location}/prov`);
  assert.match(headers.get("content-type") ?? "", /^application\/ld\+json/);
  const graph = crate["@graph"] as { "@id": string; "@type": unknown; [name: string]: unknown }[];
  const run = graph.find((entity) => entity["@id"] === "#run");
  assert.equal(run?.["@type"], "CreateAction");
  assert.ok(Date.parse(String(run?.["endTime"])) >= Date.parse(String(run?.["startTime"])));
  assert.equal(graph.find((entity) => entity["@id"] === "#input/name")?.["value"], "(secret)");
  assert.equal(graph.find((entity) => entity["@id"] === "#output/text")?.["value"], "done");
  assert.match(String(graph.find((entity) => entity["@id"] === "#step/run")?.["description"]), /^sh -c/);
  assert.doesNotMatch(JSON.stringify([body, steps, crate]), /my password/);
});
