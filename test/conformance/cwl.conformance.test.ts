// The CWL v1.2 conformance tests (common-workflow-language/cwl-v1.2), each against the command that people use.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConformanceTests, runConformanceTest } from "@swath/cwl/conformance";
import { prepareContainers, standInAddress, findContainersSkipReason } from "./cwl-images.ts";
import { findSuiteSkipReason } from "./cwl-suite.ts";

const root = join(import.meta.dirname, "../..");
const suite = join(process.env["SWATH_SHARED"] ?? join(root, "../shared"), "cwl-conformance");

/** Tests that do not pass, each with the reason. A test that passes although it is here fails the suite as well. */
const notPassing: Readonly<Record<string, string>> = {};

/** Exit status by which a runner says that it lacks a feature. */
const UNSUPPORTED = 33;

const missing = findSuiteSkipReason(suite);
const noContainers = findContainersSkipReason();
const scratch = mkdtempSync(join(tmpdir(), "cwl-conformance-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("CWL v1.2 conformance", { skip: missing ?? false, concurrency: 2, timeout: 3_600_000 }, async (t) => {
  const environment = {
    ...process.env,
    PATH: withPython(process.env["PATH"] ?? ""),
    ...(noContainers === undefined ? prepareContainers(join(scratch, "containers")) : {}),
  };
  const web = await startStandIn();
  t.after(() => web?.close());
  if (noContainers !== undefined) {
    t.diagnostic(`tests that require a container are skipped: ${noContainers}`);
  }
  const tests = loadConformanceTests(join(suite, "conformance_tests.yaml"));
  assert.equal(tests.length, 378);
  const main = join(root, "libs/cwl/main.ts");
  const options = {
    runner: [process.execPath, main, "run", ...(noContainers === undefined ? [] : ["--no-container"])],
    timeoutSeconds: 240,
    env: environment,
    signal: t.signal,
  };
  await Promise.all(
    tests.map((item) =>
      t.test(item.id, async (one) => {
        if (item.id === "networkaccess" && web === undefined) {
          one.skip("port 80 of a loopback address could not be opened for the stand-in of commonwl.org");
          return;
        }
        const { exitCode, reasons } = await runConformanceTest(item, options);
        if (exitCode === UNSUPPORTED) {
          assert.ok(noContainers !== undefined, "the runner says that it lacks a feature");
          one.skip(noContainers);
        } else if (notPassing[item.id] === undefined) {
          assert.deepEqual(reasons, []);
        } else {
          assert.notDeepEqual(reasons, [], "passes now: take it off the list");
        }
      }),
    ),
  );
});

/** One document of the suite fetches http://commonwl.org; nothing outside this machine is asked for it. */
function startStandIn(): Promise<ReturnType<typeof createServer> | undefined> {
  return new Promise((resolve) => {
    const server = createServer((_request, response) => response.end("ok"));
    server.once("error", () => resolve(undefined));
    server.listen(80, standInAddress, () => resolve(server));
  });
}

/** The tests call `python`; a Debian has `python3` alone, and a `python` found earlier may be somebody else's. */
function withPython(path: string): string {
  if (spawnSync("python", ["-c", ""], { env: { PATH: path } }).status === 0) {
    return path;
  }
  const folder = join(scratch, "bin");
  mkdirSync(folder);
  symlinkSync("/usr/bin/python3", join(folder, "python"));
  return `${folder}:${path}`;
}
