// Packages and images of the platform's registry in the processing service: by reference, by digest, and with the owner's rights alone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "../../components/ades/test/start-ades.ts";
import { shellPackage } from "../../components/ades/test/packages.ts";
import {
  type RegistryClient,
  basic,
  createClient,
  createProject,
  digestOf,
  imageOf,
} from "../../components/registry/test/client.ts";
import { pushSignature } from "../../components/registry/test/push-signature.ts";
import { query } from "../../components/registry/test/query.ts";
import { type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";
import { pushTools as pushToolsImage, runProcess } from "./registry-tools.ts";

const HOST = "registry.platform.test";
const SECRET = "secret-between-processing-and-registry";
const missing = ["/usr/bin/podman", "/usr/sbin/runc", "/bin/busybox"].filter((path) => !existsSync(path));
const containers =
  missing.length > 0
    ? { skip: `needs ${missing.join(", ")} (apt-get install podman runc busybox-static)` }
    : process.getuid?.() === 0
      ? {}
      : { skip: "needs root, to run containers" };

let registry: TestRegistry;
let ades: TestAdes;
let admin: RegistryClient;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "rp-"));
  registry = await startTestRegistry({ PROCESSING_SECRET: SECRET });
  admin = createClient(registry.url);
  ades = await startAdes({
    env: {
      REGISTRY_URL: registry.url,
      REGISTRY_HOST: HOST,
      REGISTRY_SECRET: SECRET,
      CONTAINER_ENGINE: "skip" in containers ? "none" : writeEngine(),
    },
  });
  for (const user of ["eric", "bob"]) {
    await createProject(admin, user);
    await admin.call("POST", `/api/v2.0/projects/${user}/members`, {
      body: { role_id: 3, member_user: { username: user } },
    });
  }
});
after(async () => {
  await ades?.close();
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Podman with images and containers of this test alone, as it works where limits cannot be raised. */
function writeEngine(): string {
  const conf = join(folder, "containers.conf");
  writeFileSync(
    conf,
    '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\nevents_logger = "none"\n',
  );
  const path = join(folder, "podman");
  const places = `--storage-driver vfs --root ${join(folder, "storage")} --runroot ${join(folder, "run")}`;
  writeFileSync(path, `#!/bin/sh\nCONTAINERS_CONF=${conf} exec /usr/bin/podman ${places} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

const pushTools = (repository: string, tag: string, says: string) =>
  pushToolsImage({ admin, folder, repository, tag, says });

async function pushPackage(repository: string, tag: string, cwl: string): Promise<string> {
  const [empty, text] = [Buffer.from("{}"), Buffer.from(cwl)];
  await admin.pushBlob(repository, empty);
  await admin.pushBlob(repository, text);
  const layers = [{ mediaType: "application/cwl", digest: digestOf(text), size: text.length }];
  const manifest = imageOf(empty, [], { artifactType: "application/cwl", layers });
  const { status, headers } = await admin.putManifest(repository, tag, manifest);
  assert.equal(status, 201);
  return headers.get("docker-content-digest") ?? "";
}

const deploy = (user: string, href: string) =>
  ades.send(`/${user}/ogc-api/processes`, { json: { executionUnit: { href, type: "application/cwl" } } });

const run = (user: string, id: string) => runProcess(ades, user, id);

const docker = (image: string) => `{DockerRequirement: {dockerPull: "${image}"}}`;
const said = (id: string, image: string) => shellPackage(id, 'cat /etc/says; echo " $1"', docker(image));

test("credentials in a user's name are given to who shows the secret, and pull what the user may pull, nothing else", async () => {
  const send = (secret: string) =>
    fetch(`${registry.url}/api/delegates`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ user: "eric" }),
    });
  assert.equal((await send("wrong")).status, 401);
  const { username, password } = (await (await send(SECRET)).json()) as { username: string; password: string };
  await admin.pushImage("eric/any", "1");
  await admin.pushImage("bob/any", "1");
  const eric = createClient(registry.url, basic(username, password));
  const statusOf = async (method: string, path: string) => (await eric.call(method, path)).status;
  assert.equal(await statusOf("GET", "/v2/eric/any/manifests/1"), 200);
  assert.equal(await statusOf("GET", "/v2/bob/any/manifests/1"), 403);
  assert.equal(await statusOf("POST", "/v2/eric/any/blobs/uploads/"), 403);
  assert.equal(await statusOf("DELETE", "/v2/eric/any/manifests/1"), 403);
  assert.equal(await statusOf("POST", "/api/v2.0/users/current/cli_secret"), 403);
  const other = createClient(registry.url, basic("pull$bob", password));
  assert.equal((await other.call("GET", "/v2/bob/any/manifests/1")).status, 401, "the name is signed too");
  const bearer = createClient(registry.url, `Bearer ${password}`);
  assert.equal((await bearer.call("GET", "/v2/eric/any/manifests/1")).status, 401, "it is no token");
});

test("a package is deployed by its reference, with the owner's rights", async () => {
  const cwl = shellPackage("greet", 'echo "Hello $1"');
  const digest = await pushPackage("eric/greet", "1.0", cwl);
  for (const href of [`${HOST}/bob/greet:1.0`, `${HOST}/eric/missing:1`, `${HOST}/eric/any:1`]) {
    const refused = await deploy("eric", href);
    assert.equal(refused.status, 400, href);
    assert.match(refused.body.detail, /cannot be read|no application package/);
  }
  assert.equal((await deploy("bob", `${HOST}/eric/greet:1.0`)).status, 400, "it is eric's");
  const deployed = await deploy("eric", `${HOST}/eric/greet:1.0`);
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  assert.equal(deployed.body.id, "greet");
  const rows = await query(ades.postgres.url, "select reference from ades.process where id = 'greet'");
  assert.deepEqual(rows, [{ reference: `oci://${HOST}/eric/greet:1.0@${digest}` }]);
  assert.equal((await deploy("eric", `oci://${HOST}/eric/greet@${digest}`)).status, 409, "it is deployed already");
});

test(
  "images that a package names are pulled for its owner, as they were when it was deployed",
  containers,
  async () => {
    const first = await pushTools("eric/tools", "1", "first");
    await pushPackage("eric/said", "1.0", said("said", `${HOST}/eric/tools:1`));
    assert.equal((await deploy("eric", `${HOST}/eric/said:1.0`)).status, 201);
    const rows = await query(ades.postgres.url, "select images from ades.process where id = 'said'");
    assert.deepEqual(rows, [{ images: { [`${HOST}/eric/tools:1`]: first } }]);
    const before = await run("eric", "said");
    assert.equal(before.ended.status, "successful", before.ended.message);
    assert.equal(before.results, "first World");
    await pushTools("eric/tools", "1", "second");
    const moved = await run("eric", "said");
    assert.equal(moved.results, "first World", "a tag that moves changes nothing that is deployed");
  },
);

test("an image that is on the machine already runs for nobody who may not pull it", containers, async () => {
  const digest = await pushTools("bob/tools", "1", "secret of bob");
  const text = (image: string) => said("steal", image);
  const deployText = (user: string, cwl: string) =>
    ades.send(`/${user}/ogc-api/processes`, { text: cwl, type: "application/cwl+yaml" });
  assert.equal((await deployText("bob", text(`${HOST}/bob/tools:1`))).status, 201);
  assert.equal((await run("bob", "steal")).results, "secret of bob World");
  for (const image of [`${HOST}/bob/tools:1`, `${HOST}/bob/tools@${digest}`]) {
    const refused = await deployText("eric", text(image));
    assert.equal(refused.status, 400);
    assert.match(refused.body.detail, /cannot be pulled for eric/);
  }
  // Who loses the right loses it for what is deployed, too.
  const members = (await admin.call("GET", "/api/v2.0/projects/bob/members")).json();
  const { id } = members.find(({ entity_name: name }: { entity_name: string }) => name === "bob");
  await admin.call("DELETE", `/api/v2.0/projects/bob/members/${id}`);
  const later = await run("bob", "steal");
  assert.equal(later.ended.status, "failed");
  assert.match(later.ended.message, /cannot be pulled for bob/);
  // Names by which the engine would find it all the same.
  const ids = execFileSync(join(folder, "podman"), ["images", "--quiet", "--no-trunc"], { encoding: "utf8" });
  const [image = ""] = ids.trim().split("\n");
  const names = execFileSync(join(folder, "podman"), ["images", "--format", "{{.Repository}}:{{.Tag}}"], {
    encoding: "utf8",
  });
  const tricks = [image, image.replace("sha256:", ""), image.slice(7, 15), ...names.trim().split("\n")];
  for (const [index, trick] of [...tricks, ...tricks.map((name) => name.replace("localhost/", ""))].entries()) {
    const name = `trick-${index}`;
    assert.equal((await deployText("eric", said(name, trick))).status, 201);
    const { ended } = await run("eric", name);
    assert.equal(ended.status, "failed", trick);
    assert.match(ended.message, /not taken for an image|was built for another tool/, trick);
  }
  // As it is called where the engine has pulled it with a login of its own.
  const pulled = `${HOST}/bob/tools:1`;
  execFileSync(join(folder, "podman"), ["tag", image, pulled]);
  const twoNames = said("two", `localhost/none", dockerImageId: "${pulled}`);
  assert.equal((await deployText("eric", twoNames)).status, 201);
  const two = await run("eric", "two");
  assert.equal(two.ended.status, "failed", two.results);
});

test(
  "where a policy demands it, packages and images run when a trusted key has signed them, and not before",
  containers,
  async () => {
    await createProject(admin, "signed");
    await admin.call("POST", "/api/v2.0/projects/signed/members", {
      body: { role_id: 3, member_user: { username: "eric" } },
    });
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = [publicKey.export({ type: "spki", format: "pem" }).toString()];
    await admin.call("PUT", "/api/v2.0/projects/signed/trusted-keys", { body: { keys } });
    const demand = (enabled: boolean) =>
      admin.call("PUT", "/api/v2.0/projects/signed", {
        body: { metadata: { enable_content_trust_cosign: String(enabled) } },
      });
    await demand(true);
    const image = await pushTools("signed/tools", "1", "signed");
    const text = await pushPackage("signed/run", "1.0", said("run-signed", `${HOST}/signed/tools:1`));
    const href = `${HOST}/signed/run:1.0`;
    const refused = await deploy("eric", href);
    assert.equal(refused.status, 400);
    assert.match(refused.body.detail, /not signed with a key that project signed trusts/);
    await pushSignature(admin, { repository: "signed/run", subject: text, key: privateKey });
    const unsignedImage = await deploy("eric", href);
    assert.equal(unsignedImage.status, 400, "its image is not signed");
    assert.match(unsignedImage.body.detail, /signed\/tools@sha256:[0-9a-f]+ is not signed/);
    const signature = await pushSignature(admin, { repository: "signed/tools", subject: image, key: privateKey });
    assert.equal((await deploy("eric", href)).status, 201);
    const { ended, results } = await run("eric", "run-signed");
    assert.equal(ended.status, "successful", ended.message);
    assert.equal(results, "signed World");
    // A signature that is taken back holds for what is deployed, too.
    await admin.call("DELETE", `/v2/signed/tools/manifests/${signature}`);
    const later = await run("eric", "run-signed");
    assert.equal(later.ended.status, "failed");
    assert.match(later.ended.message, /not signed|cannot be pulled/);
    await demand(false);
    assert.equal((await run("eric", "run-signed")).results, "signed World");
  },
);
