// The executable test suites of OGC API Processes Part 1 and Part 2 (opengeospatial/ets-ogcapi-processes10 and -part2), against a
// service of this repository. They are Java; nothing of theirs is kept here. Clone them side by side and say where:
//
//     ETS_FOLDER=~/ets npm run test:suites -- ets-processes
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, test } from "node:test";

import { type TestAdes, startAdes } from "../../components/ades/test/start-ades.ts";
import { type TestNgOutcome, readTestNgOutcomes } from "./java-suites.ts";

// oxlint-disable-next-line node/no-process-env -- a program of its own; where the suites are is the caller's to say
const folder = process.env["ETS_FOLDER"] ?? "";
const BUILD =
  "-B -q -DskipTests -Denforcer.skip -Dspring-javaformat.skip=true -Dmaven.javadoc.skip=true -Dmaven.source.skip=true -Dmaven.buildNumber.skip=true package".split(
    " ",
  );

/** Tests of theirs that a server that keeps to the standard cannot pass, and why. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  "docker.Default.testProcessDeploy":
    "reads a file at a fixed place of its authors' machine; the test below sends that file",
  "jobs.Jobs.testJobResultsSync": "takes the angle brackets of the Link field (RFC 8288) for a part of the address",
};
/** What some of theirs fetch from hosts of the internet: schemas, and a raster. */
const ELSEWHERE = /schemas\.opengis\.net/;
const OF_ELSEWHERE: readonly string[] = [
  "jobs.Jobs.testJobCreationInputRef",
  "conformance.Conformance.storeRequirementClassesInTestContext",
];

/** The suite as one file with everything it needs, built where that was not done yet; or why it cannot be had. */
function findSuite(name: string): { readonly jar: string } | { readonly missing: string } {
  const checkout = join(folder, name);
  if (folder === "" || !existsSync(join(checkout, "pom.xml"))) {
    return { missing: `needs a clone of github.com/opengeospatial/${name} in the folder that ETS_FOLDER names` };
  }
  const find = () => globSync("target/*-aio.jar", { cwd: checkout })[0];
  if (find() === undefined) {
    const { status, stdout, error } = spawnSync("mvn", BUILD, { cwd: checkout, encoding: "utf8" });
    if (status !== 0) {
      return { missing: `Maven cannot build ${name} (Maven Central, JDK 17): ${error?.message ?? stdout.slice(-500)}` };
    }
  }
  const jar = find();
  return jar === undefined
    ? { missing: `Maven built no file with dependencies of ${name}` }
    : { jar: join(checkout, jar) };
}

/** Runs a suite and gives what came of each of its tests. */
async function runSuite(jar: string, args: Readonly<Record<string, string>>): Promise<readonly TestNgOutcome[]> {
  const work = mkdtempSync(join(tmpdir(), "swath-ets-"));
  try {
    mkdirSync(join(work, "out"));
    const entries = Object.entries(args).map(([key, value]) => `<entry key="${key}">${value}</entry>`);
    writeFileSync(
      join(work, "run.xml"),
      `<?xml version="1.0"?><properties version="1.0">${entries.join("")}</properties>`,
    );
    // Beside this program, whose servers it asks.
    const { stdout, stderr } = await promisify(execFile)(
      "java",
      ["-jar", jar, "-o", join(work, "out"), join(work, "run.xml")],
      {
        cwd: work,
        maxBuffer: 64 * 2 ** 20,
        timeout: 600_000,
      },
    );
    const [results] = globSync("out/**/testng-results.xml", { cwd: work });
    assert.ok(results !== undefined, `the suite made no results: ${stdout.slice(-500)} ${stderr.slice(-500)}`);
    return readTestNgOutcomes(join(work, results));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function report(outcomes: readonly TestNgOutcome[]): Promise<void> {
  const isOffline = await lookup("schemas.opengis.net").then(
    () => false,
    () => true,
  );
  if (isOffline) {
    console.log("schemas.opengis.net cannot be reached: tests that fetch from there do not count");
  }
  const count = (status: string) => outcomes.filter((outcome) => outcome.status === status).length;
  console.log(`passed ${count("PASS")}, failed ${count("FAIL")}, skipped ${count("SKIP")}`);
  for (const { name, status, message } of outcomes) {
    if (status !== "PASS") {
      console.log(`${status} ${name}: ${message.slice(0, 400)}`);
    }
  }
  const failed = outcomes.filter(
    ({ name, status, message }) =>
      status === "FAIL" &&
      IMPOSSIBLE[name] === undefined &&
      !(isOffline && (ELSEWHERE.test(message) || OF_ELSEWHERE.includes(name))),
  );
  assert.deepEqual(
    failed.map(({ name }) => name),
    [],
  );
  const impossible = Object.keys(IMPOSSIBLE).filter((name) =>
    outcomes.some((outcome) => outcome.name === name && outcome.status === "PASS"),
  );
  assert.deepEqual(impossible, [], "these pass by now and are no exceptions any more");
}

const part1 = findSuite("ets-ogcapi-processes10");
const part2 = findSuite("ets-ogcapi-processes10-part2");

describe("the official suites of OGC API Processes", () => {
  let ades: TestAdes;
  before(async () => {
    ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1" } });
  });
  after(() => ades.close());

  test("Part 1, the built-in echo process", { skip: "missing" in part1 ? part1.missing : false }, async () => {
    assert.ok("jar" in part1);
    await report(
      await runSuite(part1.jar, { iut: `${ades.url}/eric/ogc-api`, echoprocessid: "echo", processtestlimit: "5" }),
    );
  });

  test("Part 1, a deployed echo process", { skip: "missing" in part1 ? part1.missing : false }, async () => {
    assert.ok("jar" in part1);
    const { status, body } = await ades.send("/eric/ogc-api/processes", {
      text: DEPLOYED_ECHO,
      type: "application/cwl",
    });
    assert.equal(status, 201, JSON.stringify(body));
    await report(
      await runSuite(part1.jar, {
        iut: `${ades.url}/eric/ogc-api`,
        echoprocessid: "deployed-echo",
        processtestlimit: "5",
      }),
    );
  });

  test("Part 2", { skip: "missing" in part2 ? part2.missing : false }, async () => {
    assert.ok("jar" in part2);
    const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
      "/echo.cwl": ["application/cwl", DEPLOYED_ECHO.replaceAll("deployed-echo", "suite-echo")],
    };
    const server = createServer((request, response) => {
      const [type, body] = bodies[request.url ?? ""] ?? ["text/plain", ""];
      response.writeHead(body === "" ? 404 : 200, { "content-type": type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as { port: number };
      await report(
        await runSuite(part2.jar, {
          iut: `${ades.url}/eric/ogc-api`,
          echoprocessid: "suite-echo",
          urlapppkg: `http://127.0.0.1:${port}/echo.cwl`,
          processtestlimit: "5",
          testallprocesses: "false",
        }),
      );
    } finally {
      server.close();
    }
  });

  test(
    "Part 2, class docker: its package of a container image",
    { skip: "missing" in part2 ? part2.missing : false },
    async () => {
      const text = readFileSync(
        join(folder, "ets-ogcapi-processes10-part2/src/main/resources/org/opengis/cite/testdata/ogcapppkg.json"),
        "utf8",
      );
      const type = "application/ogcapppkg+json";
      const deployed = await ades.send("/eric/ogc-api/processes", { text, type });
      assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
      assert.equal((await ades.send("/eric/ogc-api/processes", { text, type })).status, 409);
      const { id } = deployed.body as { readonly id: string };
      assert.equal((await ades.send(`/eric/ogc-api/processes/${id}`, { method: "PUT", text, type })).status, 204);
    },
  );
});

const DEPLOYED_ECHO = `cwlVersion: v1.2
class: CommandLineTool
id: deployed-echo
label: Echo
baseCommand: [sh, -c, 'sleep "$1"; printf %s "$0"']
inputs:
  message: { type: string, inputBinding: { position: 1 } }
  pause: { type: double, default: 0, inputBinding: { position: 2 } }
stdout: said.txt
outputs:
  message: { type: string, outputBinding: { glob: said.txt, loadContents: true, outputEval: "$(self[0].contents)" } }
  echo: { type: string, outputBinding: { glob: said.txt, loadContents: true, outputEval: "$(self[0].contents)" } }
`;
