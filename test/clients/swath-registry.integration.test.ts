// `swath registry`: packages pushed, images exported and imported, as for a site without a network.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { compiledCode, runCommand } from "@swath/testing";

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
    env: { PATH: process.env["PATH"] ?? "", ...compiledCode, TMPDIR: folder },
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

test(
  "archives of docker save are imported, and those that are exported are loaded by others",
  { skip: existsSync("/usr/bin/skopeo") ? false : "needs skopeo (apt-get install skopeo)" },
  async () => {
    const root = join(folder, "root");
    mkdirSync(root);
    writeFileSync(join(root, "file"), "what is in the image");
    const tar = join(folder, "layer.tar");
    assert.equal((await runCommand("tar", ["-cf", tar, "-C", root, "file"])).status, 0);
    const [plain, packed] = [readFileSync(tar), gzipSync(readFileSync(tar))];
    const rootfs = { type: "layers", diff_ids: [digestOf(plain)] };
    const architecture = process.arch === "arm64" ? "arm64" : "amd64";
    const config = Buffer.from(JSON.stringify({ architecture, os: "linux", rootfs, config: {}, history: [] }));
    const manifest = imageOf(config, [], {
      layers: [
        {
          mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
          digest: digestOf(packed),
          size: packed.length,
        },
      ],
    });
    await admin.pushBlob("here/docker", config);
    await admin.pushBlob("here/docker", packed);
    assert.equal((await admin.putManifest("here/docker", "1", manifest)).status, 201);
    const out = await swath("export", `${registry.host}/here/docker:1`, "docker.tar", "--docker-archive", ...login());
    assert.equal(out.status, 0, out.stderr);
    const into = await swath("import", "docker.tar", `${registry.host}/there/docker:1`, ...login());
    assert.equal(into.status, 0, into.stderr);
    const { config: kept } = (await admin.call("GET", "/v2/there/docker/manifests/1")).json();
    assert.equal(kept.digest, digestOf(config));
    // And what others make of it, and make themselves.
    const skopeo = (...args: readonly string[]) =>
      runCommand("/usr/bin/skopeo", args, {
        env: { PATH: "/usr/bin:/bin", HOME: folder, TMPDIR: folder, REGISTRY_AUTH_FILE: join(folder, "none.json") },
        cwd: folder,
      });
    const loaded = await skopeo(
      "copy",
      "--insecure-policy",
      "docker-archive:docker.tar",
      "docker-archive:theirs.tar:x/y:2",
    );
    assert.equal(loaded.status, 0, loaded.stderr);
    const theirs = await swath("import", "theirs.tar", `${registry.host}/there/theirs:2`, ...login());
    assert.equal(theirs.status, 0, theirs.stderr);
    const read = await admin.call("GET", "/v2/there/theirs/manifests/2");
    assert.equal(read.json().config.digest, digestOf(config));
    const layer = await admin.call("GET", `/v2/there/theirs/blobs/${read.json().layers[0].digest}`);
    assert.deepEqual(gunzipSync(layer.body), plain);
    // Names that lead out of the archive, and layers that are others than the config says.
    for (const [name, saved, said] of [
      ["out", [{ Config: "../password", RepoTags: null, Layers: [] }], /which is not in it/],
      ["damaged", [{ Config: "config.json", RepoTags: null, Layers: ["layer.tar"] }], /damaged/],
    ] as const) {
      const bad = join(folder, name);
      mkdirSync(bad);
      writeFileSync(join(bad, "manifest.json"), JSON.stringify(saved));
      writeFileSync(join(bad, "config.json"), config);
      writeFileSync(join(bad, "layer.tar"), "something else");
      const refused = await swath("import", bad, `${registry.host}/there/${name}:1`, ...login());
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, said);
    }
  },
);

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
