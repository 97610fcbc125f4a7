import assert from "node:assert/strict";
import { test } from "node:test";

import { checkInputs } from "../../web/processing/model/check-inputs.ts";
import { describeSchema, toFields, toKind } from "../../web/processing/model/form-fields.ts";
import { type ListEntry, toDrafts } from "../../web/processing/model/form-values.ts";
import {
  type InputDescription,
  type ProcessDescription,
  orderParameters,
} from "../../web/processing/model/process-description.ts";
import { readForm } from "../../web/processing/model/read-form.ts";

const SCENE = { type: "string", format: "uri", contentMediaType: "application/geo+json" };
const inputs: Record<string, InputDescription> = {
  scenes: { title: "Scenes", schema: { type: "array", items: SCENE }, minOccurs: 1 },
  red: { title: "Red", schema: { type: "string", default: "red" }, minOccurs: 0, maxOccurs: 1 },
  times: { schema: { type: "integer", minimum: 1, maximum: 5 }, minOccurs: 0 },
  share: { schema: { type: "number" }, minOccurs: 0 },
  loud: { schema: { type: "boolean" }, minOccurs: 0 },
  mode: { schema: { type: "string", enum: ["a", "b"], default: "a" }, minOccurs: 0 },
  bbox: { schema: { type: "string" }, minOccurs: 0 },
  ogcBox: {
    schema: {
      type: "object",
      properties: { bbox: { type: "array", items: { type: "number" } }, crs: { type: "string" } },
    },
    minOccurs: 0,
  },
  aoi: { title: "Area", description: "Area of interest as WKT", schema: { type: "string" }, minOccurs: 0 },
  area: { schema: { type: "object", format: "geojson-geometry" }, minOccurs: 0 },
  bands: { schema: { type: "array", items: { type: "string" }, default: ["red", "nir"] }, minOccurs: 0 },
  window: {
    schema: { type: "object", properties: { from: { type: "string" }, size: { type: "integer" } }, required: ["from"] },
    minOccurs: 0,
  },
  either: { schema: { oneOf: [{ type: "integer" }, { type: "string" }] }, minOccurs: 0 },
  any: { schema: {}, minOccurs: 0 },
};
const process: Pick<ProcessDescription, "inputs"> = { inputs };
const fields = toFields(process);
const kindOf = (name: string) => fields.find((field) => field.name === name)?.kind;

test("each kind of value gets its kind of field", () => {
  assert.deepEqual(kindOf("scenes"), { kind: "list", items: { kind: "address", of: "scene" }, minItems: 0 });
  assert.deepEqual(kindOf("times"), { kind: "number", isInteger: true, minimum: 1, maximum: 5 });
  assert.deepEqual(kindOf("mode"), { kind: "choice", options: ["a", "b"] });
  assert.deepEqual(kindOf("bbox"), { kind: "box", as: "text" });
  assert.deepEqual(kindOf("ogcBox"), { kind: "box", as: "object" });
  assert.deepEqual(kindOf("aoi"), { kind: "area", as: "wkt" });
  assert.deepEqual(kindOf("area"), { kind: "area", as: "geojson" });
  assert.equal(kindOf("window")?.kind, "record");
  assert.equal(kindOf("either")?.kind, "union");
  assert.equal(kindOf("any")?.kind, "json");
  assert.deepEqual(toKind({ type: "string", format: "date-time" }), { kind: "date", hasTime: true });
  assert.deepEqual(toKind({ type: "array", items: { type: "number" }, minItems: 4, maxItems: 4 }), {
    kind: "box",
    as: "array",
  });
  assert.deepEqual(toKind({ type: "string" }, { name: "aoi", about: "aoi as west,south,east,north" }), {
    kind: "box",
    as: "text",
  });
  assert.equal(fields.find(({ name }) => name === "red")?.isRequired, false);
  assert.equal(fields.find(({ name }) => name === "scenes")?.isRequired, true);
  assert.equal(describeSchema({ type: "array", items: SCENE }), "list of scene");
});

test("several occurrences of a value are a list", () => {
  const [field] = toFields({ inputs: { x: { schema: { type: "integer" }, minOccurs: 1, maxOccurs: 3 } } });
  assert.deepEqual(field?.kind, { kind: "list", items: { kind: "number", isInteger: true }, minItems: 1, maxItems: 3 });
});

test("a form begins with defaults; what is left empty is left out", () => {
  const drafts = toDrafts(fields);
  assert.equal(drafts["red"], "red");
  assert.deepEqual(
    (drafts["bands"] as ListEntry[]).map(({ value }) => value),
    ["red", "nir"],
  );
  assert.equal((drafts["scenes"] as ListEntry[]).length, 1, "a list that is needed begins with a line");
  const read = readForm(fields, drafts);
  assert.deepEqual(read.inputs, { red: "red", mode: "a", bands: ["red", "nir"] });
  assert.deepEqual(read.problems, [{ path: "inputs.scenes", message: "Scenes is needed." }]);
});

test("what was given before comes back the same: a job is run again", () => {
  const polygon = {
    type: "Polygon",
    coordinates: [
      [
        [5, 51],
        [6, 51],
        [6, 52],
        [5, 51],
      ],
    ],
  };
  const provided = {
    scenes: [{ href: "s3://bucket/item.json" }, { href: "https://example.org/item.json" }],
    red: "B04",
    times: 3,
    share: 0.5,
    loud: false,
    mode: "b",
    bbox: "5,51,6,52",
    ogcBox: { bbox: [5, 51, 6, 52], crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" },
    aoi: "POLYGON((5 51, 6 51, 6 52, 5 51))",
    area: polygon,
    bands: [],
    window: { from: "a", size: 2 },
    either: "text",
    any: { deep: [1, 2] },
  };
  const { inputs: read, problems } = readForm(fields, toDrafts(fields, provided));
  assert.deepEqual(problems, []);
  const { bands: _bands, ...others } = provided;
  assert.deepEqual(read, others);
  assert.deepEqual(checkInputs(process, read), []);
  assert.deepEqual(readForm(fields, toDrafts(fields, { red: { value: "x" }, scenes: "s3://b/k" })).inputs["red"], "x");
});

test("each mistake is said at its place", () => {
  const drafts = {
    ...toDrafts(fields),
    scenes: [{ key: 0, value: "ftp://x" }] satisfies ListEntry[],
    times: "7",
    share: "x",
    bbox: ["6", "51", "5", "52"],
    window: { from: "", size: "1.5" },
    any: "{",
  };
  const { problems } = readForm(fields, drafts);
  assert.deepEqual(
    problems.map(({ path }) => path),
    [
      "inputs.scenes[0]",
      "inputs.times",
      "inputs.share",
      "inputs.bbox",
      "inputs.window.size",
      "inputs.window.from",
      "inputs.any",
    ],
  );
  const half = readForm(fields, { ...drafts, window: { from: "", size: "2" } });
  assert.ok(half.problems.some(({ path }) => path === "inputs.window.from"));
});

test("inputs come in the order of the package, secrets are asked for anew", () => {
  const ordered = orderParameters(
    { inputs, outputs: {} },
    { nodes: [{ id: "in:mode" }, { id: "in:red" }, { id: "step" }] },
  );
  assert.deepEqual(Object.keys(ordered.inputs).slice(0, 3), ["mode", "red", "scenes"]);
  assert.equal(toDrafts(fields, { red: "(secret)" })["red"], "red");
});
