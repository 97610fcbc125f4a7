// Needs: curl
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, dummyServiceOnly, runCommand } from "@swath/testing";

// A deployment is backed up while it is written to, removed with its data, and made again from the file.
const VARIABLES = {
  ...dummyServiceOnly,
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "false",
  REQUIRE_IDENTITY_SERVICE: "true",
  REQUIRE_OBJSTORE: "true",
  REQUIRE_REGISTRY: "true",
};
const LARGE = 3 << 20;

let cluster: TestCluster;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "swath-backup-"));
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(async () => {
  await cluster.close();
  await rm(folder, { recursive: true, force: true });
});

const url = (service: string, path: string) => `http://${service}.${cluster.domain}:${cluster.port}${path}`;

async function curl(...args: readonly string[]): Promise<Buffer> {
  const out = join(folder, "answer");
  const { status, stderr } = await runCommand("curl", ["-sS", "-f", "-o", out, ...args]);
  assert.equal(status, 0, `${args.join(" ")}: ${stderr}`);
  return readFileSync(out);
}

const s3 = (...args: readonly string[]) =>
  curl(
    "--aws-sigv4",
    "aws:amz:us-east-1:s3",
    "--user",
    "swath:changeme",
    "-H",
    "x-amz-content-sha256: UNSIGNED-PAYLOAD",
    ...args,
  );

async function login(): Promise<{ access_token: string; refresh_token: string }> {
  const response = await curl(
    url("identity", "/realms/master/protocol/openid-connect/token"),
    "-d",
    "grant_type=password&client_id=admin-cli&username=eric&password=changeme&scope=openid",
  );
  return JSON.parse(response.toString()) as { access_token: string; refresh_token: string };
}

const registry = (path: string, ...args: readonly string[]) =>
  curl("-u", "admin:changeme", ...args, url("registry", path));

/** An image of one layer, in the project `kept`. */
async function pushImage() {
  await registry("/api/v2.0/projects", "--json", '{"project_name":"kept"}');
  const layer = randomBytes(100_000);
  const push = async (content: Buffer, mediaType: string) => {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    const file = join(folder, "blob");
    writeFileSync(file, content);
    await registry(
      `/v2/kept/image/blobs/uploads/?digest=${digest}`,
      "-H",
      "content-type: application/octet-stream",
      "--data-binary",
      `@${file}`,
    );
    return { mediaType, digest, size: content.length };
  };
  const config = await push(Buffer.from('{"os":"linux"}'), "application/vnd.oci.image.config.v1+json");
  const described = await push(layer, "application/vnd.oci.image.layer.v1.tar");
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [described] }));
  writeFileSync(join(folder, "manifest"), manifest);
  await registry(
    "/v2/kept/image/manifests/1",
    "-X",
    "PUT",
    "-H",
    `content-type: ${mediaType}`,
    "--data-binary",
    `@${join(folder, "manifest")}`,
  );
  return { layer, digest: described.digest, manifest };
}

test("what was acknowledged before a backup is there after its restoration, and old tokens stay good", async () => {
  const small = Buffer.from("four bytes and some");
  const large = randomBytes(LARGE);
  writeFileSync(join(folder, "small"), small);
  writeFileSync(join(folder, "large"), large);
  await s3("-X", "PUT", url("objstore", "/kept"));
  await s3("-T", join(folder, "small"), url("objstore", "/kept/small"));
  await s3("-T", join(folder, "large"), url("objstore", "/kept/large"));
  const tokens = await login();
  const image = await pushImage();

  // Somebody goes on writing and deleting.
  let isOver = false;
  let writes = 0;
  const busy = (async () => {
    while (!isOver) {
      writes += 1;
      const target = url("objstore", `/kept/busy-${writes}`);
      await runCommand("curl", [
        "-sS",
        "-f",
        "--aws-sigv4",
        "aws:amz:us-east-1:s3",
        "--user",
        "swath:changeme",
        "-H",
        "x-amz-content-sha256: UNSIGNED-PAYLOAD",
        "-T",
        join(folder, "large"),
        target,
      ]);
      await s3("-X", "DELETE", target);
    }
  })();
  const file = join(folder, "backup.tar.zst");
  const made = await cluster.swath("backup", cluster.name, "-o", file);
  isOver = true;
  await busy;
  assert.equal(made.status, 0, made.stderr);
  assert.equal(statSync(file).mode & 0o777, 0o600, "only its owner may read it");
  assert.ok(writes > 0);

  const refused = await cluster.swath("restore", file);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /something is deployed\. Restore under another name .*or remove what is there first/);

  await s3("-X", "DELETE", url("objstore", "/kept/small"));
  assert.equal((await cluster.swath("cluster", "delete", cluster.name, "--yes")).status, 0);
  const restored = await cluster.swath("restore", file);
  assert.equal(restored.status, 0, restored.stdout + restored.stderr);

  assert.deepEqual(await s3(url("objstore", "/kept/small")), small, "deleted only after the backup");
  assert.ok((await s3(url("objstore", "/kept/large"))).equals(large));
  assert.deepEqual(await registry("/v2/kept/image/manifests/1"), image.manifest);
  assert.deepEqual(await registry(`/v2/kept/image/blobs/${image.digest}`), image.layer);
  await login();
  const userinfo = await curl(
    url("identity", "/realms/master/protocol/openid-connect/userinfo"),
    "-H",
    `authorization: Bearer ${tokens.access_token}`,
  );
  assert.equal((JSON.parse(userinfo.toString()) as { preferred_username: string }).preferred_username, "eric");
});

test("swath objstore snapshot: made, listed, restored by bucket and as a whole, deleted", async () => {
  const objstore = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await cluster.swath("objstore", "snapshot", ...args);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  };
  const put = (name: string, text: string) => {
    writeFileSync(join(folder, "text"), text);
    return s3("-T", join(folder, "text"), url("objstore", `/kept/${name}`));
  };
  const readText = async (bucket: string) => (await s3(url("objstore", `/${bucket}/text`))).toString();
  await put("text", "first");
  const id = (await objstore("create", cluster.name)).trim();
  assert.match(id, /^\d{8}T\d{6}Z$/);
  assert.match(await objstore("list", cluster.name), new RegExp(`^${id} +by hand`, "m"));
  await put("text", "second");
  assert.match(
    await objstore("restore", id, cluster.name, "--bucket", "kept", "--as", "kept-then"),
    /^kept as kept-then: \d+ versions$/m,
  );
  assert.deepEqual([await readText("kept-then"), await readText("kept")], ["first", "second"]);
  const before = /^kept: .*before is in (kept-before-\S+)$/m.exec(await objstore("restore", id, cluster.name))?.[1];
  assert.deepEqual([await readText("kept"), await readText(before ?? "")], ["first", "second"]);
  await objstore("delete", id, cluster.name);
  assert.match(await objstore("list", cluster.name), /^no snapshots; schedule: none/);
  for (const [args, code, reason] of [
    [["restore", id, cluster.name], 1, /There is no snapshot/],
    [["restore"], 2, /which one\?/],
    [["wrong"], 2, /"wrong" is unknown; allowed: create, list, restore, delete/],
    [["restore", id, cluster.name, "--as", "x"], 2, /--as needs --bucket/],
  ] as const) {
    const { status, stderr } = await cluster.swath("objstore", "snapshot", ...args);
    assert.equal(status, code);
    assert.match(stderr, reason);
  }
});

test("a backup that is damaged, cut short, or something else changes nothing and says so", async () => {
  const file = join(folder, "good.tar.zst");
  const made = await cluster.swath("backup", cluster.name, "-o", file);
  assert.equal(made.status, 0, made.stderr);
  const tryRestore = async (name: string, change: (path: string) => void) => {
    const path = join(folder, name);
    copyFileSync(file, path);
    change(path);
    const { status, stderr } = await cluster.swath("restore", path, "other");
    assert.equal(status, 1, stderr);
    return stderr;
  };
  assert.match(
    await tryRestore("short", (path) => truncateSync(path, statSync(path).size >> 1)),
    /nothing was changed: .*not whole/,
  );
  assert.match(
    await tryRestore("damaged", (path) => {
      const bytes = readFileSync(path);
      bytes.fill(0x55, bytes.length - 5000, bytes.length - 4000);
      writeFileSync(path, bytes);
    }),
    /nothing was changed: .*damaged/,
  );
  assert.match(
    await tryRestore("foreign", (path) => writeFileSync(path, "this is no backup\n")),
    /nothing was changed: the backup is damaged or not whole/,
  );
  const { stdout } = await cluster.swath("cluster", "list");
  assert.doesNotMatch(stdout, /other/, "nothing of it is left");
});
