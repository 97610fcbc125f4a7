// `swath registry`: packages pushed, images exported and imported, as for a site without a network.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";

import {
  INDEX,
  type RegistryClient,
  createClient,
  createProject,
  digestOf,
  imageOf,
} from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";

let registry: TestRegistry;
let admin: RegistryClient;
let folder: string;
before(async () => {
  registry = await startTestRegistry();
  admin = createClient(registry.url);
  folder = mkdtempSync(join(tmpdir(), "swath-registry-"));
  for (const name of ["here", "there"]) {
    await createProject(admin, name);
  }
  writeFileSync(join(folder, "password"), `${ADMIN_PASSWORD}\n`);
});
after(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const swath = (...args: readonly string[]) =>
  runCommand(process.execPath, [join(import.meta.dirname, "../../cli/main.ts"), "registry", ...args, "--plain-http"], {
    // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
    env: { PATH: process.env["PATH"] ?? "", TMPDIR: folder },
    cwd: folder,
  });
const login = () => ["--password-file", join(folder, "password")];

test("an application package is pushed as an artifact", async () => {
  writeFileSync(join(folder, "ndvi.cwl"), "cwlVersion: v1.2\n$graph: []\n");
  const { status, stderr } = await swath("push-package", "ndvi.cwl", `${registry.host}/here/ndvi:1.2`, ...login());
  assert.equal(status, 0, stderr);
  const path = "/api/v2.0/projects/here/repositories/ndvi/artifacts/1.2";
  assert.equal((await admin.call("GET", path)).json().type, "CWL");
  assert.match((await admin.call("GET", `${path}/additions/package`)).body.toString(), /^cwlVersion/);
});

test("an index with its images is exported and imported, and is the same", async () => {
  const layers = ["amd64", "arm64"].map((text) => Buffer.from(`layer of ${text}`));
  const manifests = [];
  for (const [index, layer] of layers.entries()) {
    const architecture = ["amd64", "arm64"][index] ?? "";
    const config = Buffer.from(JSON.stringify({ os: "linux", architecture }));
    await admin.pushBlob("here/tools", config);
    await admin.pushBlob("here/tools", layer);
    const image = imageOf(config, [layer]);
    const digest = digestOf(JSON.stringify(image));
    assert.equal((await admin.putManifest("here/tools", digest, image)).status, 201);
    const size = Buffer.byteLength(JSON.stringify(image));
    manifests.push({
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      digest,
      size,
      platform: { os: "linux", architecture },
    });
  }
  const pushed = await admin.putManifest("here/tools", "3", { schemaVersion: 2, mediaType: INDEX, manifests }, INDEX);
  assert.equal(pushed.status, 201);
  const out = await swath("export", `${registry.host}/here/tools:3`, "tools.tar", ...login());
  assert.equal(out.status, 0, out.stderr);
  const into = await swath("import", "tools.tar", `${registry.host}/there/copy:3`, ...login());
  assert.equal(into.status, 0, into.stderr);
  for (const reference of ["3", ...manifests.map(({ digest }) => digest)]) {
    const [from, to] = await Promise.all(
      ["here/tools", "there/copy"].map((name) => admin.call("GET", `/v2/${name}/manifests/${reference}`)),
    );
    assert.equal(to?.status, 200);
    assert.deepEqual(to?.body, from?.body);
  }
  for (const layer of layers) {
    assert.deepEqual((await admin.call("GET", `/v2/there/copy/blobs/${digestOf(layer)}`)).body, layer);
  }
});

test("what cannot be done is said", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["export", `${registry.host}/here/missing:1`, "x.tar", ...login()], /unknown to the repository/],
    [["export", `${registry.host}/here/tools:3`, "x.tar"], /Authentication is required/],
    [["export", "tools", "x.tar"], /is not a reference/],
    [["import", "ndvi.cwl", `${registry.host}/here/x:1`, ...login()], /archive/],
    [["burn", "a", "b"], /registry knows/],
  ];
  for (const [args, said] of cases) {
    const { status, stderr } = await swath(...args);
    assert.notEqual(status, 0);
    assert.match(stderr, said);
  }
});
