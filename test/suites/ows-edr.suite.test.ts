// OGC's executable test suite of EDR 1.0 (opengeospatial/ets-ogcapi-edr10), against the example scenes. What it needs comes from Maven
// Central; nothing of theirs is kept here. Clone it and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- ows-edr
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { start } from "../../components/data-access/test/fixture.ts";
import {
  type Artifact,
  compileClasses,
  fetchArtifacts,
  folderOfSuite,
  readTestNgOutcomes,
  suiteSkipReason,
} from "./java-suites.ts";

const run = promisify(execFile);
const SUITE = "ets-ogcapi-edr10";
const ARTIFACTS: readonly Artifact[] = [
  ["org.opengis.cite.teamengine", "teamengine-spi", "6.0.0-RC2"],
  ["com.reprezen.kaizen", "openapi-parser", "4.0.4"],
  ["io.rest-assured", "rest-assured", "5.5.0"],
  ["com.github.erosb", "everit-json-schema", "1.14.3"],
  ["org.testng", "testng", "7.9.0"],
  ["org.json", "json", "20240303"],
  ["org.glassfish.jersey.core", "jersey-server", "3.1.8"],
  ["org.glassfish.jersey.core", "jersey-client", "3.1.8"],
  ["org.glassfish.jersey.inject", "jersey-hk2", "3.1.8"],
  ["org.glassfish.jersey.connectors", "jersey-apache-connector", "3.1.8"],
  ["com.beust", "jcommander", "1.82"],
  ["org.apache.sis.core", "sis-referencing", "1.4"],
];
const TOTAL = 60;
/** Tests that do not pass, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  validateResponseForGeoJSON: "values are CoverageJSON; the class geojson is not declared",
  validateResponseForEDRGeoJSON: "the same for the class edr-geojson",
};

test("the suite of EDR 1.0 passes", { timeout: 900_000, skip: suiteSkipReason(SUITE) }, async (t) => {
  const { url } = await start(t);
  const work = mkdtempSync(join(tmpdir(), "swath-ets-"));
  t.after(() => rmSync(work, { recursive: true, force: true }));
  await fetchArtifacts(work, ARTIFACTS);
  // An older library has classes of the same names (Hamcrest in JUnit 4.10).
  globSync("lib/{junit-4,hamcrest-core-}*.jar", { cwd: work }).forEach((jar) => rmSync(join(work, jar)));
  await compileClasses(work, [`${SUITE}/src/main/java/**/*.java`]);
  const entries = Object.entries({ iut: url, apiDefinition: `${url}/openapi.json`, noofcollections: "3" });
  writeFileSync(
    join(work, "run.xml"),
    `<?xml version="1.0"?><properties version="1.0">${entries.map(([key, value]) => `<entry key="${key}">${value}</entry>`).join("")}</properties>`,
  );
  const classPath = [join(work, "classes"), `${join(work, "lib")}/*`, join(folderOfSuite(SUITE), "src/main/resources")];
  const controller = "org.opengis.cite.ogcapiedr10.TestNGController";
  await run("nice", ["java", "-cp", classPath.join(":"), controller, "-o", join(work, "out"), join(work, "run.xml")], {
    cwd: work,
    maxBuffer: 64 * 2 ** 20,
    timeout: 600_000,
  });
  const [results] = globSync("out/**/testng-results.xml", { cwd: work });
  assert.ok(results !== undefined, "the suite made no results");
  const outcomes = readTestNgOutcomes(join(work, results)).map((each) => ({
    ...each,
    name: each.name.split(".").at(-1) ?? "",
  }));
  const failed = outcomes.filter(({ status }) => status !== "PASS");
  t.diagnostic(`${outcomes.length - failed.length} of ${outcomes.length} pass`);
  failed.forEach(({ name, message }) => t.diagnostic(`${name}: ${EXCEPTIONS[name] ?? message.slice(0, 500)}`));
  assert.deepEqual(failed.map(({ name }) => name).toSorted(), Object.keys(EXCEPTIONS).toSorted());
  assert.equal(outcomes.length, TOTAL);
});
