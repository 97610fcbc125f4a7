// Variant B with its buckets in a cloud: OpenStack's own Keystone and Swift (openstack.suite.test.ts says where they come from).
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { runCommand, waitUntil } from "@swath/testing";

import { filePackage } from "../../components/ades/test/packages.ts";
import { PASSWORD, ROOT, startVariantB } from "../e2e/variant-b-fixture.ts";
import { installOpenStack } from "./openstack/install-openstack.ts";
import { type TestCloud, startOpenStack } from "./openstack/start-openstack.ts";

const SCENE = join(ROOT, "examples/scenes/lommel/B04.tif");
const folder = mkdtempSync(join(tmpdir(), "swath-openstack-"));
const bin = installOpenStack(folder);
const skip = bin === undefined ? "needs python3 with venv, a C compiler, liberasurecode, and the registry PyPI" : false;
let cloud: TestCloud;
let fixture: Awaited<ReturnType<typeof startVariantB>>;
let ericId = "";

before(async () => {
  if (bin !== undefined) {
    cloud = await startOpenStack(bin, folder);
    fixture = await startVariantB(cloud.settings);
    const { status, stdout, stderr } = await fixture.cluster.apply();
    assert.equal(status, 0, stdout + stderr);
    const ids = [];
    for (const name of ["eric", "bob"]) {
      const made = await fixture.bin("create-user", "-U", name, "-P", PASSWORD);
      ids.push(/^user-id: ([0-9a-f-]{36})$/m.exec(made.stdout)?.[1] ?? "");
    }
    [ericId = ""] = ids;
    const protect = await fixture.protect("apply", ...ids, "", fixture.cluster.domain);
    assert.equal(protect.status, 0, protect.stderr);
  }
});
after(async () => {
  await fixture?.close();
  await cloud?.close();
  rmSync(folder, { recursive: true });
});

const WORKSPACE = "guide-user-eric";
const asEric = async () => [`X-User-Id: ${await fixture.idTokenOf("eric")}`, "Accept: application/json"];
interface Credentials {
  readonly bucketname: string;
  readonly projectid: string;
  readonly access: string;
  readonly secret: string;
  readonly endpoint: string;
}
const openS3 = ({ access, secret, endpoint }: Credentials) =>
  new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: access, secretAccessKey: secret },
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
let credentials: Credentials;

test("a workspace's bucket is in the cloud, and its keys open it there", { skip }, async () => {
  const helper = join(ROOT, "deploy/bin/create-workspace");
  const made = await runCommand(
    "sh",
    ["-c", `printf '%s\\n' "$1" | "$0" "$2" eric "$3"`, helper, PASSWORD, fixture.cluster.domain, ericId],
    { env: fixture.env },
  );
  assert.equal(made.status, 0, made.stderr);
  credentials = await waitUntil("the workspace", async () => {
    const { body } = await fixture.send("workspace-api", `/workspaces/${WORKSPACE}`, { headers: await asEric() });
    const { status, storage } = JSON.parse(body) as { status: string; storage?: { credentials?: Credentials } };
    return status === "ready" && storage?.credentials;
  });
  assert.equal(credentials.endpoint.replace(/\/$/, ""), cloud.s3Url);
  const { projects } = await cloud.keystone("GET", `/projects?name=project-${WORKSPACE}`);
  assert.equal(projects.length, 1);
  assert.equal(credentials.projectid, projects[0].id);
  const Body = readFileSync(SCENE);
  await openS3(credentials).send(
    new PutObjectCommand({ Bucket: credentials.bucketname, Key: "inputs/scene_20240601.tif", Body }),
  );
});

test("a job reads from it and puts its results there", { skip }, async () => {
  const headers = await asEric();
  const deployed = await fixture.send("ades", "/eric/wps3/processes", {
    headers: [...headers, "Content-Type: application/cwl"],
    body: filePackage("copy", 'cp "$1" copy_20240601.tif'),
  });
  assert.equal(deployed.status, 201, deployed.body);
  const href = `s3://${credentials.bucketname}/inputs/scene_20240601.tif`;
  const started = await fixture.send("ades", "/eric/wps3/processes/copy/execution", {
    headers: [...headers, "Content-Type: application/json", "Prefer: respond-async"],
    body: JSON.stringify({ inputs: { file: { href } }, response: "raw" }),
  });
  assert.equal(started.status, 201, started.body);
  const job = await waitUntil("the job ends", async () => {
    const { body } = await fixture.send("ades", started.header("location") ?? "", { headers });
    return /"(successful|failed)"/.test(body) && body;
  });
  assert.match(job, /"successful"/);
  const s3 = openS3(credentials);
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: credentials.bucketname, Prefix: "processing-results/" }),
  );
  const key = Contents.map((object) => object.Key ?? "").find((name) => name.endsWith("copy_20240601.tif"));
  assert.ok(key !== undefined, JSON.stringify(Contents));
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: credentials.bucketname, Key: key }));
  assert.deepEqual(Buffer.from((await Body?.transformToByteArray()) ?? []), readFileSync(SCENE));
});

test("a workspace that is purged leaves nothing in the cloud", { skip }, async () => {
  const deleted = await fixture.send("workspace-api", `/workspaces/${WORKSPACE}?data=purge`, {
    method: "DELETE",
    headers: await asEric(),
  });
  assert.equal(deleted.status, 204, deleted.body);
  for (const [kind, name] of [
    ["projects", `project-${WORKSPACE}`],
    ["users", `user-${WORKSPACE}`],
  ] as const) {
    await waitUntil(`${name} is gone`, async () => {
      const found = await cloud.keystone("GET", `/${kind}?name=${name}`);
      return found[kind].length === 0;
    });
  }
});
