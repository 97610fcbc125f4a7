import assert from "node:assert/strict";
import { test } from "node:test";

import { OgcError } from "../components/ades/errors.ts";
import { readInputs } from "../components/ades/execution/read-inputs.ts";
import { readCheckedPackage, requireFacts } from "../components/ades/packages/load-package.ts";
import { checkInputs } from "../components/portal/web/processing/model/check-inputs.ts";
import type { ProcessDescription } from "../components/portal/web/processing/model/process-description.ts";

const PACKAGE = `
cwlVersion: v1.2
class: Workflow
id: everything
inputs:
  text: string
  flag: boolean?
  count: { type: int, default: 3 }
  share: double?
  mode: { type: { type: enum, symbols: [loud, quiet] }, default: quiet }
  tags: string[]?
  grid: { type: { type: array, items: { type: array, items: int } }, default: [] }
  scene: Directory?
  files: File[]?
  window:
    type:
      - "null"
      - type: record
        fields: { from: string, size: int? }
  either: [ "null", int, string ]
outputs: []
steps: []
`;
const SCENE = "s3://bucket/item.json";
const VALUES: readonly unknown[] = [
  "",
  "text",
  "loud",
  "1",
  SCENE,
  "ftp://x/y",
  "/etc/passwd",
  "data:,x",
  "HTTPS://EXAMPLE.ORG/a",
  0,
  1,
  -1,
  1.5,
  1e300,
  true,
  false,
  null,
  [],
  [1],
  ["a", "b"],
  [["a"]],
  [[1, 2], [3]],
  [null],
  [SCENE],
  [{ href: SCENE }, SCENE],
  {},
  { value: 1 },
  { value: "x" },
  { value: [1] },
  { href: SCENE },
  { href: 1 },
  { class: "File", location: SCENE },
  { from: "a" },
  { from: "a", size: 2 },
  { from: "a", size: "2" },
  { size: 2 },
  { from: { value: "a" }, size: null },
];

/** Names of inputs; where in an input something is wrong is said more exactly by one or the other. */
const namesOf = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths.map((path) => path.replace(/^(inputs\.\w+).*$/, "$1")))].sort();

test("the portal's forms take and refuse the same inputs as the processing service", async () => {
  const facts = requireFacts(await readCheckedPackage({ text: PACKAGE, workflow: undefined, advice: false }));
  const description = facts.description as unknown as ProcessDescription;
  const compare = (inputs: Record<string, unknown>) => {
    let refused: readonly string[] = [];
    try {
      readInputs(facts, inputs);
    } catch (error) {
      assert.ok(error instanceof OgcError);
      refused = (error.extensions["errors"] as readonly { path: string }[]).map(({ path }) => path);
    }
    const here = checkInputs(description, inputs).map(({ path }) => path);
    assert.deepEqual(namesOf(here), namesOf(refused), JSON.stringify(inputs));
  };
  compare({});
  compare({ text: "x", other: 1 });
  for (const name of Object.keys(description.inputs)) {
    for (const value of VALUES) {
      compare({ text: "x", [name]: value });
    }
  }
});
