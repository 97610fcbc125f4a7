// The executable test suite of CSW 2.0.2 (opengeospatial/ets-csw202), against the resource catalogue. It runs in TEAM Engine, which
// comes from Maven Central; nothing of theirs is kept here. Clone it and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- ets-csw
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type CatalogueFixture, startCatalogue } from "../../components/resource-catalogue/test/fixture.ts";
import { folderOfSuite, suiteSkipReason } from "./java-suites.ts";
import { startTeamEngine } from "./team-engine.ts";

const suite = folderOfSuite("ets-csw202");

/** Tests of theirs that a server that keeps to the standards cannot pass. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  "csw:csw-2.0.2-GetCapabilities-tc6.1":
    "looks for the field Content-Type with case; names of fields have none (RFC 9110 §5.1)",
  "csw:csw-2.0.2-DescribeRecord-tc4.1": "the same",
};

test("the suite of CSW 2.0.2 passes", { timeout: 900_000, skip: suiteSkipReason("ets-csw202") }, async (t) => {
  const catalogue = await startCatalogue();
  t.after(() => catalogue.close());
  await loadRecords(catalogue);
  const engine = await startTeamEngine();
  t.after(engine.close);
  const all = await engine.run({
    repository: "ets-csw202",
    source: "main-auto.xml",
    test: "csw:Main-auto",
    suite: "csw:csw-2.0.2-compliance-suite-auto",
    parameters: { "capabilities.url": `${catalogue.url}/csw?service=CSW&version=2.0.2&request=GetCapabilities` },
  });
  const outcomes = all.filter(({ name }) => /^csw:csw-2\.0\.2-[A-Za-z]+-tc[\d.]+$/.test(name));
  const failed = outcomes.filter(({ status }) => status !== "Passed");
  t.diagnostic(`passed ${outcomes.length - failed.length} of ${outcomes.length}`);
  assert.equal(outcomes.length, 60);
  assert.deepEqual(
    failed.map(({ name }) => name).toSorted(),
    Object.keys(IMPOSSIBLE).toSorted(),
    failed.map(({ output }) => output).join("\n"),
  );
});

/** The records that the suite searches. */
async function loadRecords(catalogue: CatalogueFixture): Promise<void> {
  const files = globSync("src/main/resources/data/*.xml", { cwd: suite });
  const records = files.map((file) => readFileSync(join(suite, file), "utf8").replace(/^\ufeff?<\?xml[^>]*\?>/, ""));
  const { text } = await catalogue.request("POST", "/csw", {
    headers: { "content-type": "application/xml" },
    body: `<csw:Transaction xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:Insert>${records.join("")}</csw:Insert></csw:Transaction>`,
  });
  assert.match(text, new RegExp(`totalInserted>${records.length}<`));
}
