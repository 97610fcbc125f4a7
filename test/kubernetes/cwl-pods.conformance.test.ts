// The CWL v1.2 conformance tests with every tool as a pod of a real cluster: same documents, same results. With
// CWL_POD_FILES=object-store and SWATH_IMAGE, files reach the pods through an object storage.
import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { CwlError, loadDocument, loadInputs, resolveInputs, runProcess, toJson } from "@swath/cwl";
import { type ConformanceTest, differences, loadConformanceTests } from "@swath/cwl/conformance";
import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { loadArchive } from "@swath/testing/kubernetes-images";

import { createPodExecutor } from "../../components/ades/execution/kubernetes/pod-executor.ts";
import type { FileTransfer } from "../../components/ades/execution/kubernetes/pod-spec.ts";
import {
  openObjectFiles,
  startObjectFiles,
  findObjectFilesSkipReason,
} from "../../components/ades/execution/kubernetes/test/object-files.ts";
import {
  type PodFixture,
  REPOSITORY,
  USER,
  startPodFixture,
  findPodsSkipReason,
} from "../../components/ades/execution/kubernetes/test/pod-fixture.ts";
import { imageNames, prepareContainers, saveImage, findContainersSkipReason } from "../conformance/cwl-images.ts";
import { findSuiteSkipReason } from "../conformance/cwl-suite.ts";

const shared = join(process.env["SWATH_SHARED"] ?? join(REPOSITORY, "../shared"), "cwl-conformance");
const usesObjectStore = process.env["CWL_POD_FILES"] === "object-store";
const missing =
  findSuiteSkipReason(shared) ??
  findContainersSkipReason() ??
  (await findPodsSkipReason()) ??
  (usesObjectStore ? findObjectFilesSkipReason() : undefined);
/** Runs only these, by their ids. */
const only = process.env["CWL_TESTS"]?.split(",");
/** Tests that cannot pass here, each with the reason. */
const notPassing: Readonly<Record<string, string>> = {
  networkaccess: "it fetches a page of the internet, which a test cluster does not reach",
};

test("CWL v1.2 conformance with pods", { skip: missing ?? false, concurrency: 4, timeout: 3_000_000 }, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), "cwl-pods-"));
  const fixture = await startPodFixture();
  after(async () => {
    process.seteuid?.(0);
    process.setegid?.(0);
    await fixture.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  const environment = prepareContainers(join(scratch, "containers"));
  for (const [index, name] of imageNames.entries()) {
    const archive = join(scratch, `${index}.tar`);
    saveImage(name, archive, environment);
    await loadArchive(REPOSITORY, archive);
    rmSync(archive);
  }
  // Tools see nothing but the volume, and nobody runs them as root.
  const suite = join(fixture.volume, "suite");
  cpSync(shared, suite, { recursive: true });
  mkdirSync(join(fixture.volume, "out"));
  chmodSync(join(fixture.volume, "out"), 0o777);
  const api = openClusterApi(openAccount(fixture.account, fixture.server));
  after(() => api.close());
  const objects = usesObjectStore ? await startObjectFiles(api) : undefined;
  after(() => objects?.close());
  const opened = objects && openObjectFiles(objects.files, api, "conformance");
  after(() => opened?.close());
  process.setegid?.(USER);
  process.seteuid?.(USER);
  const tests = loadConformanceTests(join(suite, "conformance_tests.yaml")).filter(
    ({ id }) => only === undefined || only.includes(id),
  );
  await Promise.all(
    tests.map((item) =>
      t.test(item.id, async (one) => {
        if (notPassing[item.id] !== undefined) {
          one.skip(notPassing[item.id]);
          return;
        }
        assert.deepEqual(await runOne(item, fixture, api, opened?.transfer), []);
      }),
    ),
  );
});

async function runOne(
  item: ConformanceTest,
  fixture: PodFixture,
  api: ReturnType<typeof openClusterApi>,
  transfer: FileTransfer | undefined,
): Promise<string[]> {
  const out = mkdtempSync(join(fixture.volume, "out", `${item.id}-`));
  const pods = createPodExecutor({
    api,
    timeouts: { room: 300, start: 30 },
    podContext: async () => ({
      namespace: fixture.namespace,
      claim: fixture.claim,
      volumeRoot: fixture.volume,
      ...(transfer && { transfer }),
      user: { uid: USER, gid: USER },
      placement: {},
      pullSecrets: [],
      // The only node of a test has few cores, and others use them too.
      cpuPercent: 1,
      maxRamMiB: 512,
      labels: { "swath.io/job": "conformance" },
      // What runs on the machine elsewhere needs a shell, the usual programs and Python.
      defaultImage: "docker.io/python:3-slim",
    }),
  });
  try {
    const document = await loadDocument(item.tool);
    const base = `file://${out}/`;
    const inputs = item.job === undefined ? resolveInputs({}, document, base) : await loadInputs(item.job, document);
    const outputs = await runProcess({
      document,
      inputs,
      executors: { host: pods, container: pods },
      workDir: join(out, "work"),
      outDir: join(out, "out"),
      limits: { infrastructureRetries: 1, cores: 1000, ramMiB: 1_000_000 },
    });
    return item.shouldFail
      ? ["it should have failed"]
      : differences(item.output ?? {}, JSON.parse(toJson(outputs)) as unknown);
  } catch (error) {
    if (!(error instanceof CwlError)) {
      throw error;
    }
    return item.shouldFail ? [] : [`${error.code}: ${error.message.slice(0, 800)}`];
  }
}
