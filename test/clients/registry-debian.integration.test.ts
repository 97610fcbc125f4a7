// Debian's clients of image registries against ours: buildah and podman push and pull, skopeo copies, syncs, inspects and deletes.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";

import { ADMIN, basic, createClient, createProject, usedBytes } from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";

const missing = ["skopeo", "buildah", "podman"].filter((name) => !existsSync(`/usr/bin/${name}`));
const options =
  missing.length > 0
    ? { skip: `needs Debian's packages ${missing.join(", ")}` }
    : process.getuid?.() === 0
      ? {}
      : { skip: "needs root, to unpack images" };

let registry: TestRegistry;
let folder: string;
let storage: readonly string[];
const LAYER = randomBytes(300_000);
const CREDENTIALS = `admin:${ADMIN_PASSWORD}`;

before(async () => {
  if ("skip" in options) {
    return;
  }
  registry = await startTestRegistry();
  folder = mkdtempSync(join(tmpdir(), "registry-clients-"));
  storage = ["--storage-driver", "vfs", "--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  const client = createClient(registry.url, ADMIN);
  for (const name of ["lab", "copy"]) {
    await createProject(client, name);
  }
  mkdirSync(join(folder, "context"));
  writeFileSync(join(folder, "auth.json"), "{}");
  writeFileSync(join(folder, "context/layer"), LAYER);
});
after(async () => {
  if (!("skip" in options)) {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

const run = async (program: string, ...args: readonly string[]): Promise<string> => {
  const env = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: folder,
    TMPDIR: folder,
    REGISTRY_AUTH_FILE: join(folder, "auth.json"),
  };
  const { status, stdout, stderr } = await runCommand(`/usr/bin/${program}`, args, { env, cwd: folder });
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
};

test("buildah builds and pushes, with OCI and with Docker manifests", options, async () => {
  const container = await run("buildah", ...storage, "from", "scratch");
  await run("buildah", ...storage, "copy", container, join(folder, "context/layer"), "/layer");
  await run("buildah", ...storage, "config", "--label", "made=here", container);
  await run("buildah", ...storage, "commit", container, "local/image:1");
  for (const [format, tag] of [
    ["oci", "1"],
    ["v2s2", "docker"],
  ] as const) {
    const target = `docker://${registry.host}/lab/tools/image:${tag}`;
    await run(
      "buildah",
      ...storage,
      "push",
      "--tls-verify=false",
      "--creds",
      CREDENTIALS,
      "--format",
      format,
      "local/image:1",
      target,
    );
  }
});

test("skopeo inspects, lists, copies between projects, syncs and deletes", options, async () => {
  const source = `docker://${registry.host}/lab/tools/image`;
  const login = ["--tls-verify=false", "--creds", CREDENTIALS];
  const inspected = JSON.parse(await run("skopeo", "inspect", ...login, `${source}:1`)) as {
    Labels: { made: string };
    RepoTags: string[];
  };
  assert.deepEqual([inspected.Labels.made, inspected.RepoTags], ["here", ["1", "docker"]]);
  const both = [
    "--src-tls-verify=false",
    "--dest-tls-verify=false",
    "--src-creds",
    CREDENTIALS,
    "--dest-creds",
    CREDENTIALS,
  ];
  await run("skopeo", "copy", ...both, `${source}:docker`, `docker://${registry.host}/copy/image:2`);
  const oci = join(folder, "oci");
  await run(
    "skopeo",
    "copy",
    "--src-tls-verify=false",
    "--src-creds",
    CREDENTIALS,
    `docker://${registry.host}/copy/image:2`,
    `oci:${oci}:x`,
  );
  assert.ok(readdirSync(join(oci, "blobs/sha256")).length >= 3);
  await run(
    "skopeo",
    "sync",
    "--src",
    "docker",
    "--dest",
    "dir",
    "--src-tls-verify=false",
    "--src-creds",
    CREDENTIALS,
    `${registry.host}/lab/tools/image`,
    join(folder, "synced"),
  );
  assert.equal(readdirSync(join(folder, "synced")).length, 2);
  await run("skopeo", "delete", ...login, `docker://${registry.host}/copy/image:2`);
  assert.equal(await usedBytes(createClient(registry.url), "copy"), 0);
});

test("podman logs in with a robot account, pulls, and pushes where it may", options, async () => {
  const client = createClient(registry.url, ADMIN);
  const permissions = [{ namespace: "lab", access: [{ resource: "repository", action: "pull" }] }];
  const made = await client.call("POST", "/api/v2.0/robots", {
    body: { name: "podman", level: "project", duration: 1, permissions },
  });
  const { name, secret } = made.json() as { name: string; secret: string };
  await run("podman", ...storage, "login", "--tls-verify=false", "-u", name, "-p", secret, registry.host);
  const image = `${registry.host}/lab/tools/image:1`;
  await run("podman", ...storage, "pull", "--tls-verify=false", image);
  assert.match(await run("podman", ...storage, "image", "inspect", image), /"made": "here"/);
  await run("podman", ...storage, "save", "-o", join(folder, "saved.tar"), image);
  assert.ok(readFileSync(join(folder, "saved.tar")).length > LAYER.length);
  await assert.rejects(
    run("podman", ...storage, "push", "--tls-verify=false", image),
    /unauthorized|denied|authentication/i,
  );
  assert.equal((await createClient(registry.url, basic(name, secret)).call("GET", "/v2/")).status, 200);
});
