// The platform on one machine with an image registry that it did not deploy: Debian's docker-registry, known by its address alone.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, dummyServiceOnly, findFreePort, waitUntil } from "@swath/testing";

import { createClient } from "../../components/registry/test/client.ts";

const skip = existsSync("/usr/bin/docker-registry") ? false : "needs Debian's package docker-registry";
let folder: string;
let peer: ChildProcess;
let url: string;
let cluster: TestCluster;

before(async () => {
  if (skip !== false) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "registry-existing-"));
  url = `http://127.0.0.1:${await findFreePort()}`;
  const config = join(folder, "config.yml");
  const storage = `{filesystem: {rootdirectory: ${join(folder, "content")}}}`;
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: error}\nstorage: ${storage}\nhttp: {addr: "${new URL(url).host}"}\n`,
  );
  peer = spawn("/usr/bin/docker-registry", ["serve", config], { stdio: "ignore" });
  await waitUntil("the registry answers", () => fetch(`${url}/v2/`).catch(() => undefined));
  cluster = await createTestCluster({
    ...dummyServiceOnly,
    USE_TLS: "false",
    OPEN_INGRESS: "true",
    REQUIRE_DUMMY_SERVICE: "false",
    REQUIRE_IDENTITY_SERVICE: "true",
    REQUIRE_OBJSTORE: "true",
    REQUIRE_WORKSPACE_API: "true",
    REQUIRE_ADES: "true",
    REQUIRE_PORTAL: "true",
    REGISTRY_URL: url,
  });
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(async () => {
  await cluster?.close();
  peer?.kill("SIGKILL");
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true });
  }
});

test(
  "no registry is deployed, everything else is ready, and the portal links to the existing one",
  { skip },
  async () => {
    const pods = await cluster.pods();
    assert.deepEqual(
      pods.filter(({ ready, phase }) => !ready && phase !== "Completed"),
      [],
    );
    assert.equal(
      pods.some(({ workload }) => workload === "registry"),
      false,
    );
    const { body } = await cluster.get("portal", "/config.json");
    assert.ok(body.includes(url), body);
    assert.equal((await cluster.get("registry", "/v2/")).status, 404);
  },
);

test("swath pushes packages there, and carries images out of it and into it", { skip }, async () => {
  const { host } = new URL(url);
  const cwl = join(folder, "ndvi.cwl");
  writeFileSync(cwl, "cwlVersion: v1.2\n$graph: []\n");
  const registry = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await cluster.swath("registry", ...args, "--plain-http");
    assert.equal(status, 0, stdout + stderr);
  };
  await registry("push-package", cwl, `${host}/eric/ndvi:1.2`);
  await registry("export", `${host}/eric/ndvi:1.2`, join(folder, "images.tar"));
  await registry("import", join(folder, "images.tar"), `${host}/eric/copy:1.2`);
  const client = createClient(url, "");
  const [first, copy] = await Promise.all(
    ["ndvi", "copy"].map(async (name) => (await client.call("GET", `/v2/eric/${name}/manifests/1.2`)).body),
  );
  assert.deepEqual(copy, first);
});
