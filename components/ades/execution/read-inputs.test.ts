import assert from "node:assert/strict";
import { test } from "node:test";

import { type LoadedDocument, loadDocument } from "@swath/cwl";

import { readInputs } from "./read-inputs.ts";

const load = (hint: string): Promise<LoadedDocument> =>
  loadDocument("https://package.invalid/package.cwl", {
    localFiles: false,
    text: `cwlVersion: v1.2
class: CommandLineTool
$namespaces: { swath: "urn:swath:" }
hints: { ${hint} }
baseCommand: "true"
inputs:
  scenes: Directory[]
  red: { type: string, default: B04 }
  others: { type: "string[]?" }
  mask: File?
outputs: []
`,
  });

const scenes = ["https://example.org/a.json", { href: "s3://bucket/b.json" }];

test("only the assets that a package asks for are fetched of its scenes; it may name its own inputs", async () => {
  const document = await load('"swath:StageIn": { assets: { scenes: [$(inputs.red), $(inputs.others), scl] } }');
  const { sources } = readInputs(document, { scenes, others: ["B08", "B04"] });
  assert.deepEqual(
    sources.map(({ assets }) => assets),
    [
      ["B04", "B08", "scl"],
      ["B04", "B08", "scl"],
    ],
  );
  const [first, second] = readInputs(document, {
    scenes: [{ href: "https://example.org/a.json", assets: ["B01"] }, scenes[0]],
    red: { value: "B05" },
  }).sources;
  assert.deepEqual([first?.assets, second?.assets], [["B01"], ["B05", "scl"]]);
});

test("a package that asks for none gets them all", async () => {
  const { sources } = readInputs(await load(""), { scenes, mask: { href: "data:,x", checksum: "sha1$00", size: 1 } });
  assert.deepEqual(sources, [
    { href: "https://example.org/a.json", as: "directory" },
    { href: "s3://bucket/b.json", as: "directory" },
    { href: "data:,x", as: "file", checksum: "sha1$00", size: 1 },
  ]);
});
