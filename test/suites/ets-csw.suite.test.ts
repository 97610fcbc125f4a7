// The executable test suite of CSW 2.0.2 (opengeospatial/ets-csw202), against the resource catalogue. It is CTL for TEAM Engine, which
// comes from Maven Central; nothing of theirs is kept here. Clone it and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- ets-csw
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import { startCatalogue } from "../../components/resource-catalogue/test/fixture.ts";

const run = promisify(execFile);
// oxlint-disable-next-line node/no-process-env -- a program of its own; where the suites are is the caller's to say
const suite = join(process.env["ETS_FOLDER"] ?? "", "ets-csw202");
const ENGINE = "5.6.1";

/** Tests of theirs that a server that keeps to the standards cannot pass. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  "GetCapabilities-tc6.1": "looks for the field Content-Type with case; names of fields have none (RFC 9110 §5.1)",
  "DescribeRecord-tc4.1": "the same",
};

const catalogue = await startCatalogue();
const work = mkdtempSync(join(tmpdir(), "swath-ets-"));

after(async () => {
  await catalogue.close();
  rmSync(work, { recursive: true, force: true });
});

test("the suite of CSW 2.0.2 passes", { timeout: 600_000 }, async (t) => {
  if (!existsSync(join(suite, "pom.xml"))) {
    t.skip("needs a clone of github.com/opengeospatial/ets-csw202 in the folder that ETS_FOLDER names");
    return;
  }
  await loadRecords();
  const output = await runSuite(await fetchEngine());
  const outcomes = [...output.matchAll(/Test csw:csw-2\.0\.2-([A-Za-z]+-tc[\d.]+) (\w+)/g)].map(
    ([, name = "", status = ""]) => ({ name, status }),
  );
  const failed = outcomes.filter(({ status }) => status !== "Passed").map(({ name }) => name);
  console.log(`passed ${outcomes.length - failed.length} of ${outcomes.length}`);
  assert.equal(outcomes.length, 60, output.slice(-2000));
  assert.deepEqual(failed.toSorted(), Object.keys(IMPOSSIBLE).toSorted(), output);
});

/** The records that the suite searches. */
async function loadRecords(): Promise<void> {
  const files = globSync("src/main/resources/data/*.xml", { cwd: suite });
  const records = files.map((file) => readFileSync(join(suite, file), "utf8").replace(/^\ufeff?<\?xml[^>]*\?>/, ""));
  const { text } = await catalogue.request("POST", "/csw", {
    headers: { "content-type": "application/xml" },
    body: `<csw:Transaction xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" service="CSW" version="2.0.2"><csw:Insert>${records.join("")}</csw:Insert></csw:Transaction>`,
  });
  assert.match(text, new RegExp(`totalInserted>${records.length}<`));
}

/** TEAM Engine with what it needs, as class path. It reads its own scripts as files, so they are unpacked. */
async function fetchEngine(): Promise<string> {
  const artifact = (name: string) =>
    `<dependency><groupId>org.opengis.cite.teamengine</groupId><artifactId>${name}</artifactId><version>${ENGINE}</version></dependency>`;
  writeFileSync(
    join(work, "pom.xml"),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>swath</groupId><artifactId>ets</artifactId><version>1</version><packaging>pom</packaging><dependencies>${artifact("teamengine-core")}${artifact("teamengine-resources")}</dependencies></project>`,
  );
  await run("mvn", ["-B", "-q", "dependency:copy-dependencies", `-DoutputDirectory=${join(work, "lib")}`], {
    cwd: work,
  });
  const scripts = join(work, "scripts");
  mkdirSync(scripts);
  for (const jar of globSync("lib/teamengine-*.jar", { cwd: work })) {
    await run("unzip", ["-q", "-o", join(work, jar), "-d", scripts]);
  }
  return `${scripts}:${join(work, "lib")}/*:${join(suite, "src/main/resources")}`;
}

/** What the suite prints. Its exit status tells nothing. */
async function runSuite(classPath: string): Promise<string> {
  for (const folder of ["logs/run", "base"]) {
    mkdirSync(join(work, folder), { recursive: true });
  }
  const { stdout } = await run(
    "java",
    [
      `-DTE_BASE=${join(work, "base")}`,
      "-cp",
      classPath,
      "com.occamlab.te.Test",
      `-source=${join(suite, "src/main/scripts/ctl/main-auto.xml")}`,
      "-test=csw:Main-auto",
      "-suite=csw:csw-2.0.2-compliance-suite-auto",
      "-mode=test",
      `-logdir=${join(work, "logs")}`,
      "-session=run",
      `@capabilities.url=${catalogue.url}/csw?service=CSW&version=2.0.2&request=GetCapabilities`,
    ],
    { cwd: work, maxBuffer: 64 * 2 ** 20, timeout: 300_000 },
  );
  return stdout;
}
