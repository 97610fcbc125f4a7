import assert from "node:assert/strict";
import { test } from "node:test";
import { describeProcess } from "../src/describe.ts";
import { CwlError } from "../src/errors.ts";
import { estimateResources } from "../src/estimate.ts";
import { graphOf } from "../src/graph.ts";
import type { LoadLimits } from "../src/load/budget.ts";
import type { Fetcher } from "../src/load/fetcher.ts";
import { loadDocument } from "../src/load/load.ts";
import type { HostileDocument } from "./hostile-documents.ts";
import { hostileDocument, hostileKinds } from "./hostile-documents.ts";

const BASE = "https://example.org/";
/** A run of the whole takes five times as many. */
const DOCUMENTS = process.env["SWATH_TEST_WHOLE"] === "true" ? 10_000 : 2000;

function fetcherOf(files: HostileDocument["files"]): Fetcher {
  return {
    readText: async (uri) => {
      await Promise.resolve();
      const text = files[uri.slice(BASE.length)];
      if (text === undefined) {
        throw new CwlError("reference", `there is no ${uri}`);
      }
      return text;
    },
    download: () => Promise.reject(new Error("nothing is downloaded")),
  };
}

/** Loads a document and asks for all that a service asks for when one is deployed. */
async function load({ text, files }: HostileDocument): Promise<string> {
  try {
    const document = await loadDocument(`${BASE}main.cwl`, {
      text,
      fetcher: fetcherOf(files),
      localFiles: false,
      limits: { nodes: 50_000, processes: 2000, steps: 10_000, milliseconds: 10_000 },
    });
    describeProcess(document);
    estimateResources(document);
    graphOf(document);
    return "loaded";
  } catch (error) {
    assert.ok(error instanceof CwlError, String((error as Error).stack));
    assert.doesNotMatch(error.message, /loading it takes longer/, "its budgets of size should have ended it before");
    assert.ok(error.message.length < 200_000);
    return error.code;
  }
}

test("hostile documents are read or refused within their budgets", async () => {
  const outcomes = new Map<string, Set<string>>();
  for (let seed = 0; seed < DOCUMENTS; seed += 1) {
    const kind = hostileKinds[seed % hostileKinds.length] ?? "";
    const outcome = await load(hostileDocument(kind, seed));
    outcomes.set(kind, (outcomes.get(kind) ?? new Set()).add(outcome));
  }
  // The generator is worth something only where its documents get far.
  for (const kind of [
    "one type imported in many tools",
    "many aliases",
    "many inputs",
    "records that hold each other",
  ]) {
    assert.ok(outcomes.get(kind)?.has("loaded"), kind);
  }
  for (const kind of [
    "a type that imports a type, often",
    "workflows that run workflows twice",
    "aliases of aliases",
  ]) {
    assert.ok(outcomes.get(kind)?.has("limit"), kind);
  }
});

test("documents that import a fragment of themselves everywhere load, each fragment read once", async () => {
  const type = { name: "#e", type: "enum", symbols: Array.from({ length: 500 }, (_, index) => `s${index}`) };
  const tools = Array.from({ length: 300 }, (_, index) => ({
    id: `t${index}`,
    class: "CommandLineTool",
    baseCommand: "true",
    requirements: [{ class: "SchemaDefRequirement", types: [{ $import: "#e" }] }],
    inputs: { a: "#e" },
    outputs: [],
  }));
  const steps = Object.fromEntries(tools.map(({ id }) => [id, { in: { a: "a" }, out: [], run: `#${id}` }]));
  const main = {
    id: "main",
    class: "Workflow",
    requirements: [{ class: "SchemaDefRequirement", types: [{ $import: "#e" }] }],
    inputs: { a: "#e" },
    outputs: [],
    steps,
  };
  const text = JSON.stringify({ cwlVersion: "v1.2", $graph: [type, main, ...tools] });
  const { process } = await loadDocument(`${BASE}packed.cwl`, { text, limits: { milliseconds: 10_000 } });
  assert.equal(process.class === "Workflow" && process.steps.length, 300);
});

test("each budget of loading ends it with a word", async () => {
  const many = (count: number): string =>
    JSON.stringify({
      cwlVersion: "v1.2",
      class: "CommandLineTool",
      inputs: [],
      outputs: [],
      "x:y": Array(count).fill(0),
    });
  const attempt = (text: string, limits: Partial<LoadLimits>, files = {}): Promise<unknown> =>
    loadDocument(`${BASE}main.cwl`, { text, limits, fetcher: fetcherOf(files) });
  await attempt(many(900), { nodes: 1000 });
  await assert.rejects(attempt(many(1100), { nodes: 1000 }), /more than 1000 keys and values/);
  await assert.rejects(attempt(many(1000), { documentBytes: 500 }), /at most 500/);
  await assert.rejects(attempt(many(10), { milliseconds: -1 }), /longer than -1 ms/);
  const files = { "a.yml": "[{$import: b.yml}, {$import: c.yml}]", "b.yml": "x".repeat(100), "c.yml": "y".repeat(100) };
  const text = JSON.stringify({
    cwlVersion: "v1.2",
    class: "CommandLineTool",
    inputs: [],
    outputs: [],
    "x:y": { $import: "a.yml" },
  });
  await attempt(text, {}, files);
  await assert.rejects(attempt(text, { documents: 2 }, files), /more than 2 files/);
  await assert.rejects(attempt(text, { totalBytes: 150 }, files), /more than 150 characters/);
});
