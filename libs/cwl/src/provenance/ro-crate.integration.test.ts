// The record of a real run, by the rules of RO-Crate 1.1 and of the Workflow Run Crate profile.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { RunEvent } from "../events.ts";
import { loadDocument } from "../load/load.ts";
import { runProcess } from "../run/run-process.ts";
import { describeRun } from "./ro-crate.ts";

const scatterWorkflow = `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {items: "string[]"}
outputs: {out: {type: "File[]", outputSource: echo/out}}
steps:
  echo:
    scatter: text
    in: {text: items}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {text: {type: string, inputBinding: {}}}
      outputs: {out: {type: stdout}}
      stdout: $(inputs.text.length).txt
`;

test("a run is recorded as an RO-Crate", async () => {
  const document = await loadDocument("https://example.org/doc.cwl", { text: scatterWorkflow });
  const events: RunEvent[] = [];
  const outDir = mkdtempSync(join(tmpdir(), "cwl-crate-"));
  after(() => rmSync(outDir, { recursive: true, force: true }));
  const outputs = await runProcess({
    document,
    inputs: { items: ["a"] },
    outDir,
    onEvent: (event) => events.push(event),
  });
  const crate = describeRun({ document, inputs: { items: ["a"] }, events, outputs }) as {
    "@graph": { readonly [property: string]: unknown }[];
  };
  const graph = new Map(crate["@graph"].map((entity) => [entity["@id"] as string, entity]));
  assert.equal(graph.size, crate["@graph"].length, "every entity is there once");
  // RO-Crate 1.1: the descriptor, and what a root must have.
  assert.deepEqual(graph.get("ro-crate-metadata.json")?.["about"], { "@id": "./" });
  const root = graph.get("./") ?? {};
  for (const property of ["name", "description", "datePublished", "license", "mainEntity"]) {
    assert.ok(root[property] !== undefined, `the root has a ${property}`);
  }
  // Workflow Run Crate 0.5: one action with the workflow as its instrument, values that are examples of parameters.
  const workflow = graph.get("workflow.cwl") ?? {};
  assert.deepEqual(workflow["@type"], ["File", "SoftwareSourceCode", "ComputationalWorkflow"]);
  const action = graph.get("#run") ?? {};
  assert.equal(action["@type"], "CreateAction");
  assert.deepEqual(action["instrument"], { "@id": "workflow.cwl" });
  for (const { "@id": id } of [
    ...(action["object"] as { "@id": string }[]),
    ...(action["result"] as { "@id": string }[]),
  ]) {
    const work = graph.get(id)?.["exampleOfWork"] as { "@id": string } | undefined;
    assert.equal(graph.get(work?.["@id"] ?? "")?.["@type"], "FormalParameter");
  }
  const references = JSON.stringify(crate["@graph"].map(({ "@id": _id, ...rest }) => rest)).matchAll(
    /"@id":"([^"]+)"/g,
  );
  for (const [, id = ""] of references) {
    assert.ok(graph.has(id) || /^https?:/.test(id), `${id} is described in the crate`);
  }
});
