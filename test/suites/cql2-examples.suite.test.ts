// The examples of CQL2 (OGC 21-065r2) as text and as JSON, against the resource catalogue. They are in opengeospatial/ogcapi-features, of which
// nothing is kept here. Clone it and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- cql2-examples
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { makeCollection, makeItem, startCatalogue } from "../../components/resource-catalogue/test/fixture.ts";

// oxlint-disable-next-line node/no-process-env -- a program of its own; where the suites are is the caller's to say
const folder = join(process.env["ETS_FOLDER"] ?? "", "ogcapi-features/cql2/standard/schema/examples");

const FUNCTION = "calls a function of the example's own server";
const PROPERTY = "compares geometries of a property that a record does not have; it has `geometry`";
const RELATION = "has an operator of the class spatial-functions, which is not declared";
/** Examples that the catalogue refuses, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  clause6_01: FUNCTION,
  clause6_02b: FUNCTION,
  clause7_10: RELATION,
  clause7_16: RELATION,
  clause7_18: FUNCTION,
  example07: PROPERTY,
  example08: PROPERTY,
  example23: PROPERTY,
  example46: RELATION,
  "example46-alt01": RELATION,
  example48: RELATION,
  example50: RELATION,
  example51: RELATION,
  example68: FUNCTION,
  example69: FUNCTION,
  example83: RELATION,
  example84: RELATION,
};

const catalogue = await startCatalogue();
after(() => catalogue.close());
await catalogue.request("POST", "/stac/collections", { body: makeCollection("scenes") });
await catalogue.request("POST", "/stac/collections/scenes/items", { body: makeItem("one") });

for (const [encoding, extension] of [
  ["text", ".txt"],
  ["json", ".json"],
] as const) {
  test(`the standard's examples in ${encoding} are evaluated`, async (t) => {
    const examples = join(folder, encoding);
    if (!existsSync(examples)) {
      t.skip("needs a clone of github.com/opengeospatial/ogcapi-features in the folder that ETS_FOLDER names");
      return;
    }
    const names = readdirSync(examples).filter((name) => name.endsWith(extension));
    const refused: string[] = [];
    for (const name of names) {
      const content = readFileSync(join(examples, name), "utf8").trim();
      const filter: unknown = encoding === "json" ? JSON.parse(content) : content;
      const { status, text } = await catalogue.request("POST", "/stac/search", {
        body: { filter, "filter-lang": `cql2-${encoding}` },
      });
      assert.ok(status === 200 || status === 400, `${name}: ${text}`);
      if (status === 400) {
        refused.push(name.slice(0, -extension.length));
      }
    }
    console.log(`${encoding}: ${names.length - refused.length} of ${names.length} are evaluated`);
    const expected = names
      .map((name) => name.slice(0, -extension.length))
      .filter((name) => Object.hasOwn(REFUSED, name));
    assert.deepEqual(refused.toSorted(), expected.toSorted());
  });
}
