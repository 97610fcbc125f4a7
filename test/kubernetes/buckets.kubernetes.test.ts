// Bucket resources on a real cluster: what they ask for, what they show, what is left when they go.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";
import { applyObjects, createNamespace, kubectl, mustKubectl } from "@swath/testing/kubernetes";

import { DOMAIN, type Deployment, openDeployment, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { listRights } from "./support/list-rights.ts";

const missing = whyLeftOut() ?? (await findDeploymentSkipReason());
const skip = missing ?? false;
/** The operator may write Secrets in the first, and is given the right in the second. */
const NAMED = "swath-test-buckets";
const OTHER = "swath-test-buckets-other";
const ACCOUNT = "rm:bucket-operator";
const OFF = [
  "LOGIN_SERVICE",
  "PDP",
  "USER_PROFILE",
  "ADES",
  "RESOURCE_CATALOGUE",
  "DATA_ACCESS",
  "REGISTRATION_API",
  "WORKSPACE_API",
  "REGISTRY",
  "PORTAL",
  "PDE",
];

/** Kubernetes before 1.24 is for Go before 1.18: built with a newer one, its API server dies of the first custom resource. */
async function findResourcesSkipReason(): Promise<string | undefined> {
  const { minor, goVersion } = JSON.parse(await mustKubectl(["get", "--raw", "/version"])) as Readonly<
    Record<"minor" | "goVersion", string>
  >;
  return Number.parseInt(minor, 10) < 24 && Number(/^go1\.(\d+)/.exec(goVersion)?.[1]) >= 18
    ? `the API server, Kubernetes 1.${minor} built with ${goVersion}, cannot hold custom resources`
    : undefined;
}
const skipResources = missing ?? (await findResourcesSkipReason()) ?? false;

let deployment: Deployment;
before(async () => {
  if (missing === undefined) {
    await createNamespace(NAMED);
    await createNamespace(OTHER);
    deployment = await openDeployment({
      PLATFORM_VARIANT: "B",
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      REQUIRE_OBJSTORE: "true",
      REQUIRE_BUCKET_OPERATOR: "true",
      BUCKET_SECRET_NAMESPACES: NAMED,
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
  }
});
after(async () => {
  if (missing === undefined) {
    // While the operator is there, which takes its finalisers away.
    if (skipResources === false) {
      await kubectl(["delete", "buckets.swath.io", "-A", "--all", "--timeout=60s"]);
    }
    await deployment?.close();
    await kubectl(["delete", "namespace", NAMED, OTHER, "--wait=false", "--ignore-not-found"]);
    await kubectl(["delete", "customresourcedefinition", "buckets.swath.io", "--wait=false", "--ignore-not-found"]);
  }
});

const bucket = (namespace: string, name: string, spec: Readonly<Record<string, string>>) => ({
  apiVersion: "swath.io/v1alpha1",
  kind: "Bucket",
  metadata: { name, namespace },
  spec,
});

interface Shown {
  readonly metadata: { readonly finalizers?: readonly string[]; readonly generation: number };
  readonly status?: {
    readonly observedGeneration: number;
    readonly conditions: readonly { type: string; status: string; reason: string; message: string }[];
  };
}

async function find<T>(kind: string, namespace: string, name: string): Promise<T | undefined> {
  const { status, stdout, stderr } = await kubectl(["get", kind, name, "-n", namespace, "-o", "json"]);
  assert.ok(status === 0 || stderr.includes("NotFound"), stderr);
  return status === 0 ? (JSON.parse(stdout) as T) : undefined;
}

/** The condition of a Bucket once its reason is this one. */
const untilShown = (namespace: string, name: string, reason: string) =>
  waitUntil(`bucket ${name} shows ${reason}`, async () => {
    const shown = await find<Shown>("buckets.swath.io", namespace, name);
    const ready = shown?.status?.conditions.find(({ type }) => type === "Ready");
    return ready?.reason === reason && shown?.status?.observedGeneration === shown?.metadata.generation && ready;
  });

async function readKeys(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
  const secret = await find<{ data: Record<string, string> }>("secret", namespace, name);
  assert.ok(secret, `secret ${name}`);
  return Object.fromEntries(
    Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
}

/** HTTP status of a request to the object storage with these keys. */
async function request(keys: Readonly<Record<string, string>>, path: string, ...more: string[]): Promise<number> {
  const host = `objstore.${DOMAIN}`;
  const { stdout, stderr } = await runCommand("curl", [
    "-s",
    "-o",
    "/dev/null",
    "-w",
    "%{http_code}",
    "--connect-to",
    `${host}:80:127.0.0.1:${await deployment.port()}`,
    "--aws-sigv4",
    "aws:amz:us-east-1:s3",
    "--user",
    `${keys["access"]}:${keys["secret"]}`,
    "-H",
    "x-amz-content-sha256: UNSIGNED-PAYLOAD",
    ...more,
    `http://${host}${path}`,
  ]);
  assert.match(stdout, /^\d{3}$/, stderr);
  return Number(stdout);
}

test(
  "the operator writes Secrets where it was told to, and has no right in the platform's namespaces",
  { skip },
  async () => {
    const everywhere = [
      "buckets.swath.io get list watch patch",
      "buckets.swath.io/finalizers patch update",
      "buckets.swath.io/status patch update",
      "customresourcedefinitions.apiextensions.k8s.io create",
      "customresourcedefinitions.apiextensions.k8s.io get patch buckets.swath.io",
    ];
    for (const namespace of ["kube-system", "rm", "storage", "swath", OTHER]) {
      assert.deepEqual((await listRights(ACCOUNT, namespace)).toSorted(), everywhere, namespace);
    }
    const there = [...everywhere, "secrets get create patch delete"].toSorted();
    assert.deepEqual((await listRights(ACCOUNT, NAMED)).toSorted(), there);
  },
);

test(
  "namespaces of the platform, and such as are not there, are refused before anything is changed",
  { skip },
  async () => {
    const { status, stderr } = await deployment.apply({ BUCKET_SECRET_NAMESPACES: "storage,nowhere" });
    assert.equal(status, 1);
    assert.match(stderr, /nothing was changed/);
    assert.match(stderr, /ERROR: namespace storage of BUCKET_SECRET_NAMESPACES is the platform's own/);
    assert.match(stderr, /ERROR: the cluster has no namespace nowhere.* kubectl create namespace nowhere/);
  },
);

test("a Bucket becomes a bucket, with keys that open it alone", { skip: skipResources }, async () => {
  await applyObjects([
    bucket(NAMED, "eric", { bucketName: "eric-data", secretName: "eric-bucket" }),
    bucket(NAMED, "bob", { bucketName: "bob-data", secretName: "bob-bucket" }),
  ]);
  const ready = await untilShown(NAMED, "eric", "Ready");
  assert.equal(ready.status, "True");
  await untilShown(NAMED, "bob", "Ready");
  assert.deepEqual((await find<Shown>("buckets.swath.io", NAMED, "eric"))?.metadata.finalizers, ["swath.io/bucket"]);
  const keys = await readKeys(NAMED, "eric-bucket");
  assert.deepEqual(Object.keys(keys).toSorted(), ["access", "bucketname", "projectid", "secret"]);
  assert.equal(keys["bucketname"], "eric-data");
  assert.equal(await request(keys, "/eric-data/hello.txt", "-X", "PUT", "--data", "hello"), 200);
  assert.equal(await request(keys, "/eric-data/hello.txt"), 200);
  assert.equal(await request(keys, "/bob-data/hello.txt"), 403);
  const table = await mustKubectl(["get", "buckets.swath.io", "eric", "-n", NAMED]);
  assert.match(table, /^NAME +BUCKET +READY +REASON +AGE\neric +eric-data +True +Ready/);
});

test("what the definition does not allow is refused by the API server", { skip: skipResources }, async () => {
  const wrong = { apiVersion: "v1", kind: "List", items: [bucket(NAMED, "wrong", { bucketName: "No Bucket" })] };
  const { status, stderr } = await kubectl(["apply", "-f", "-"], JSON.stringify(wrong));
  assert.equal(status, 1);
  assert.match(stderr, /spec\.bucketName/);
});

test(
  "a bucket of another, a Secret of another, a namespace of another: each says what to do",
  { skip: skipResources },
  async () => {
    await mustKubectl(["create", "secret", "generic", "precious", "-n", NAMED, "--from-literal=a=b"]);
    await applyObjects([
      bucket(NAMED, "second", { bucketName: "eric-data", secretName: "second" }),
      bucket(NAMED, "greedy", { bucketName: "greedy-data", secretName: "precious" }),
      bucket(NAMED, "remote", { bucketName: "remote-data", secretName: "remote", secretNamespace: OTHER }),
      bucket(OTHER, "stranger", { bucketName: "stranger-data", secretName: "stranger" }),
    ]);
    assert.match((await untilShown(NAMED, "second", "NameTaken")).message, /eric-data is that of another resource/);
    assert.match((await untilShown(NAMED, "greedy", "SecretTaken")).message, /name another in secretName/);
    assert.match(
      (await untilShown(NAMED, "remote", "NamespaceRefused")).message,
      /make the Bucket in swath-test-buckets-other/,
    );
    assert.equal((await readKeys(NAMED, "precious"))["a"], "b");
    // The message names the command that gives the right.
    const { message, status } = await untilShown(OTHER, "stranger", "SecretForbidden");
    assert.equal(status, "False");
    const [, command = ""] = /kubectl (create rolebinding .*?) \(/.exec(message) ?? [];
    await mustKubectl(command.split(" "));
    await untilShown(OTHER, "stranger", "Ready");
    assert.equal((await readKeys(OTHER, "stranger"))["bucketname"], "stranger-data");
    // Mended, it is made.
    await applyObjects([bucket(NAMED, "greedy", { bucketName: "greedy-data", secretName: "greedy" })]);
    await untilShown(NAMED, "greedy", "Ready");
    assert.equal((await readKeys(NAMED, "precious"))["a"], "b");
  },
);

test(
  "a deleted Bucket stays until its keys are gone; its data go only where it says so",
  { skip: skipResources },
  async () => {
    const eric = await readKeys(NAMED, "eric-bucket");
    const greedy = await readKeys(NAMED, "greedy");
    await mustKubectl(["delete", "bucket.swath.io", "eric", "-n", NAMED, "--timeout=120s"]);
    assert.equal(await find("secret", NAMED, "eric-bucket"), undefined);
    assert.equal(await request(eric, "/eric-data/hello.txt"), 403);
    // Asked for again, what it held is there.
    await applyObjects([
      bucket(NAMED, "eric", { bucketName: "eric-data", secretName: "eric-bucket", deletionPolicy: "Delete" }),
    ]);
    await untilShown(NAMED, "eric", "Ready");
    const again = await readKeys(NAMED, "eric-bucket");
    assert.notEqual(again["secret"], eric["secret"]);
    assert.equal(await request(again, "/eric-data/hello.txt"), 200);
    await mustKubectl(["delete", "bucket.swath.io", "eric", "-n", NAMED, "--timeout=120s"]);
    // Now anybody may have the name, and finds it empty.
    await applyObjects([bucket(NAMED, "heir", { bucketName: "eric-data", secretName: "heir" })]);
    await untilShown(NAMED, "heir", "Ready");
    assert.equal(await request(await readKeys(NAMED, "heir"), "/eric-data/hello.txt"), 404);
    assert.equal(await request(greedy, "/greedy-data/?list-type=2"), 200, "others are left alone");
  },
);
