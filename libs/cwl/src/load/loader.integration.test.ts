import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, test } from "node:test";
import { CwlError, formatProblem } from "../errors.ts";
import type { FileValue } from "../model/values.ts";
import { runProcess } from "../run/run-process.ts";
import type { Fetcher } from "./fetcher.ts";
import { createLoader } from "./loader.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-loader-")));
const loader = createLoader({ threads: 1, memoryMiB: 128 });
after(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await loader.close();
});

const uri = "https://example.org/app.cwl";
const workflow = `cwlVersion: v1.2
class: Workflow
inputs: {text: string}
outputs: {out: {type: File, outputSource: s/out}}
steps: {s: {in: {text: text}, out: [out], run: tool.cwl}}
`;
const tool = `cwlVersion: v1.2
class: CommandLineTool
requirements: {InitialWorkDirRequirement: {listing: [{class: File, basename: a, contents: hello}]}}
baseCommand: [cat, a]
inputs: {text: {type: string, inputBinding: {prefix: -- , valueFrom: a}}}
outputs: {out: stdout}
`;
const fetcher: Fetcher = {
  readText: (response) =>
    response.endsWith("tool.cwl")
      ? Promise.resolve(tool)
      : Promise.reject(new CwlError("reference", "it may not be reached")),
  download: () => Promise.reject(new Error("nothing is downloaded")),
};

test("a document that was loaded in a thread runs, with what only the caller could reach", async () => {
  const document = await loader.load(uri, { text: workflow, fetcher, localFiles: false });
  const outputs = await runProcess({ document, inputs: { text: "x" }, outDir: join(scratch, "out"), workDir: scratch });
  assert.equal(readFileSync(new URL((outputs["out"] as FileValue).location ?? ""), "utf8"), "hellohello");
});

test("its problems are those of the same document loaded here, and refusals of the fetcher are told", async () => {
  const broken = await loader.validate(uri, { text: workflow.replace("s/out", "s/gone"), fetcher });
  assert.match(broken.problems.map(formatProblem).join("\n"), /app\.cwl:4:\d+: .*s\/gone/);
  const refused = await loader.validate(uri, { text: workflow.replace("tool.cwl", "other.cwl"), fetcher });
  assert.match(refused.problems.map(formatProblem).join("\n"), /it may not be reached/);
});

test("a document that goes beyond its budgets ends the thread, and the next one gets another", async () => {
  const aliases = Array.from({ length: 7 }, (_, level) => {
    const items = Array.from({ length: 10 }, () => (level === 0 ? "xxxxxxxxxxxxxxxx" : `*a${level - 1}`));
    return `x:a${level}: &a${level} [${items.join(", ")}]\n`;
  });
  const limits = { nodes: 1e9, milliseconds: 60_000 };
  const text = `cwlVersion: v1.2\nclass: CommandLineTool\ninputs: []\noutputs: []\n${aliases.join("")}`;
  const { valid, problems } = await loader.validate(uri, { text, limits });
  assert.equal(valid, false);
  assert.match(problems.map(formatProblem).join("\n"), /more memory/);
  const stop = AbortSignal.timeout(50);
  await assert.rejects(
    loader.load(uri, { text: workflow, signal: stop, fetcher: { ...fetcher, readText: () => new Promise(() => {}) } }),
    (error: unknown) => error instanceof CwlError && error.code === "cancelled",
  );
  await loader.load(uri, { text: workflow, fetcher });
});

test("one owner's work holds up nobody else's, and what waits is bounded", async () => {
  const file = join(scratch, "work.mjs");
  writeFileSync(
    file,
    "export const perform = async (text) => { while (text === 'for ever') {} return text.toUpperCase(); };\n",
  );
  const working = createLoader({ threads: 2, maxWaiting: 2, warm: true, work: pathToFileURL(file) });
  try {
    const run = (text: string, owner: string) => working.run(text, { owner, milliseconds: 3000 });
    // The module is there.
    assert.equal(await run("hello", "anybody"), "HELLO");
    const order: string[] = [];
    const limit = (error: unknown) => {
      order.push("eve");
      return error instanceof CwlError && error.code === "limit" && /longer than 3000 ms/.test(error.message);
    };
    const hostile = [1, 2].map(() => assert.rejects(run("for ever", "eve"), limit));
    const further = run("a", "eve");
    await assert.rejects(run("b", "eve"), (error: unknown) => error instanceof CwlError && error.code === "busy");
    assert.equal(await run("hello", "bob"), "HELLO");
    order.push("bob");
    await Promise.all(hostile);
    assert.equal(await further, "A");
    assert.deepEqual(order, ["bob", "eve", "eve"]);
  } finally {
    await working.close();
  }
  await assert.rejects(working.run("c", { milliseconds: 100 }), /closed/);
});

test("short work of others is done before what waits of owners whose work takes long", async () => {
  const work = join(scratch, "work.mjs");
  writeFileSync(
    work,
    "export const perform = async (milliseconds) => { const end = Date.now() + milliseconds; while (Date.now() < end); };",
  );
  const shared = createLoader({ threads: 2, work: pathToFileURL(work) });
  const done: string[] = [];
  const run = (owner: string, milliseconds: number) =>
    shared.run(milliseconds, { owner, milliseconds: 60_000 }).then(() => done.push(owner));
  try {
    const long = ["eve", "mallory"].flatMap((owner) => Array.from({ length: 5 }, () => run(owner, 600)));
    await Promise.race(long);
    await run("bob", 0);
    // Two under way, and one more that may have begun before.
    assert.ok(done.indexOf("bob") <= 4, done.join(" "));
    await Promise.all(long);
    assert.equal(done.length, 11);
  } finally {
    await shared.close();
  }
});
