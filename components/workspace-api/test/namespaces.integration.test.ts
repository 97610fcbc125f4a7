// Workspaces on a real Kubernetes cluster: that of KUBECONFIG.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { createLogger } from "@swath/service";
import { waitUntil } from "@swath/testing";
import {
  applyObjects,
  createAccount,
  createNamespace,
  kubectl,
  mustKubectl,
  findKubernetesSkipReason,
} from "@swath/testing/kubernetes";

import { OWN_NAMESPACES } from "../manifest.ts";
import { startBinder } from "../namespace-binder/binder.ts";
import { type TestResponse, type Fixture, startFixture } from "./fixture.ts";

const skip = (await findKubernetesSkipReason()) ?? false;
/** Names of the cluster's own, so that no other test and no deployment has them. */
const own = `kj-${process.pid}`;
const user = `eric-${own}`;
const workspace = `ws-${user}`;
const taken = `ws-taken-${own}`;
const role = `${own}-own-namespaces`;
let fixture: Fixture;
let folder: string;
let binder: { readonly stop: () => Promise<void> } | undefined;
let space: { readonly close: () => Promise<void> } | undefined;
before(async () => {
  if (skip !== false) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "swath-account-"));
  fixture = await startFixture();
  space = await createNamespace(own);
  await applyObjects([
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: role },
      rules: OWN_NAMESPACES.rules,
    },
  ]);
  // The rights that a deployment gives (cli/targets/kubernetes/render/rights.ts).
  const group = "rbac.authorization.k8s.io";
  const server = await createAccount({
    folder,
    namespace: own,
    name: "reconciler",
    scope: "cluster",
    rules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "create"] }],
  });
  const binderFolder = join(folder, "binder");
  await createAccount({
    folder: binderFolder,
    namespace: own,
    name: "binder",
    scope: "cluster",
    rules: [
      { apiGroups: [""], resources: ["namespaces"], verbs: ["list", "watch"] },
      { apiGroups: [group], resources: ["rolebindings"], verbs: ["get", "list", "create", "patch"] },
      { apiGroups: [group], resources: ["clusterroles"], verbs: ["bind"], resourceNames: [role] },
    ],
  });
  const api = openClusterApi(openAccount(binderFolder, server));
  const logger = createLogger("namespace-binder", "fatal");
  const roles = [{ role, account: "reconciler", accountNamespace: own }];
  const started = startBinder({ api, logger, deployment: own, roles, relistMs: 2000 });
  binder = {
    stop: async () => {
      await started.stop();
      await api.close();
    },
  };
  fixture.startReconciler(undefined, {
    WORKSPACE_NAMESPACES: "true",
    KUBERNETES_API: server,
    KUBERNETES_ACCOUNT: folder,
    DEPLOYMENT: own,
    S3_ENDPOINT: "https://objstore.example.org",
  });
});
after(async () => {
  if (skip === false) {
    await binder?.stop();
    await kubectl(["delete", "clusterrole,clusterrolebinding", `${own}-reconciler`, `${own}-binder`]);
    await kubectl(["delete", "clusterrole", role]);
    await kubectl(["delete", "namespace", "--wait=false", "--ignore-not-found", workspace, taken]);
    await space?.close();
    await fixture?.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const read = async (kind: string, name: string, namespace = workspace): Promise<any> => {
  const { status, stdout } = await kubectl(["get", kind, name, "-n", namespace, "-o", "json"]);
  return status === 0 ? JSON.parse(stdout) : undefined;
};
const decode = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
const ready = (name = workspace) =>
  waitUntil(`${name} is ready`, async () => {
    const { status, body } = await fixture.send("admin", "GET", `/workspaces/${name}`);
    const isDone = body?.steps?.every(({ state }: { state: string }) => state === "done");
    return status === 200 && body.status === "ready" && isDone ? (body as TestResponse["body"]) : undefined;
  });

test("a workspace has a namespace with quota, limits, network and its storage credentials", { skip }, async () => {
  await fixture.send("admin", "POST", "/workspaces", { preferred_name: user, default_owner: "eric" });
  const { storage } = await ready();
  const namespace = await read("namespace", workspace);
  assert.equal(namespace.metadata.labels["swath.io/workspace"], workspace);
  assert.equal(namespace.metadata.labels["pod-security.kubernetes.io/enforce"], "restricted");
  const { credentials } = storage;
  assert.deepEqual(decode((await read("secret", "bucket")).data), {
    bucketname: workspace,
    access: credentials.access,
    secret: credentials.secret,
    projectid: "",
    endpoint: "https://objstore.example.org",
    region: "us-east-1",
  });
  assert.equal((await read("resourcequota", "workspace")).spec.hard.pods, "20");
  assert.deepEqual((await read("limitrange", "workspace")).spec.limits[0].defaultRequest, {
    cpu: "100m",
    memory: "128Mi",
  });
  assert.deepEqual((await read("networkpolicy", "workspace")).spec.policyTypes, ["Ingress", "Egress"]);
  assert.deepEqual((await read("configmap", "workspace")).data, { quota_in_mb: "20480" });
});

test("the reconciler reads Secrets of its workspaces and of no other namespace", { skip }, async () => {
  const mayRead = async (namespace: string) => {
    const as = `--as=system:serviceaccount:${own}:reconciler`;
    return (await kubectl(["auth", "can-i", "get", "secrets", "-n", namespace, as])).stdout.trim();
  };
  assert.equal(await mayRead(workspace), "yes");
  for (const namespace of ["kube-system", "default", own]) {
    assert.equal(await mayRead(namespace), "no", namespace);
  }
});

test("a RoleBinding that is removed by hand comes back", { skip }, async () => {
  const as = `--as=system:serviceaccount:${own}:reconciler`;
  const mayRead = () => kubectl(["auth", "can-i", "get", "secrets", "-n", workspace, as]);
  const { uid } = (await read("rolebinding", "reconciler")).metadata;
  await mustKubectl(["delete", "rolebinding", "reconciler", "-n", workspace]);
  await waitUntil("it may read again", async () => (await mayRead()).status === 0);
  assert.notEqual((await read("rolebinding", "reconciler")).metadata.uid, uid);
});

test("the namespace follows the workspace: a new quota, new keys", { skip }, async () => {
  await fixture.send("admin", "PATCH", `/workspaces/${workspace}`, { storage: { quota_in_mb: 7 } });
  await waitUntil("the quota is told", async () => (await read("configmap", "workspace")).data.quota_in_mb === "7");
  const before = decode((await read("secret", "bucket")).data)["access"];
  await fixture.send("admin", "POST", `/workspaces/${workspace}/rotate-keys`);
  await waitUntil(
    "the Secret has new keys",
    async () => decode((await read("secret", "bucket")).data)["access"] !== before,
  );
  assert.deepEqual((await ready()).repairs, []);
});

test("what was changed by hand is put right and reported", { skip }, async () => {
  await mustKubectl(["delete", "secret", "bucket", "-n", workspace]);
  const patch = JSON.stringify({ spec: { hard: { pods: "1000" } } });
  await mustKubectl(["patch", "resourcequota", "workspace", "-n", workspace, "--type=merge", "-p", patch]);
  const { repairs } = await waitUntil("it is repaired", async () => {
    const { body } = await fixture.send("admin", "GET", `/workspaces/${workspace}`);
    return body.repairs.length >= 2 ? (body as TestResponse["body"]) : undefined;
  });
  const what = repairs.map((repair: { what: string }) => repair.what).join("\n");
  assert.match(what, /Secret bucket of workspace .* was gone; it was made again/);
  assert.match(what, /ResourceQuota workspace of workspace .* had been changed/);
  assert.ok(await read("secret", "bucket"));
  assert.equal((await read("resourcequota", "workspace")).spec.hard.pods, "20");
});

test("somebody else's namespace is left alone, and the workspace says why it waits", { skip }, async () => {
  await applyObjects([{ apiVersion: "v1", kind: "Namespace", metadata: { name: taken } }]);
  await fixture.send("admin", "POST", "/workspaces", { preferred_name: `taken-${own}`, default_owner: "eric" });
  const body = await waitUntil("the reason shows", async () => {
    const response = await fixture.send("admin", "GET", `/workspaces/${taken}`);
    return response.body.status_reason === undefined ? undefined : (response.body as TestResponse["body"]);
  });
  assert.match(body.status_reason, /does not belong to a workspace/);
  await fixture.send("admin", "DELETE", `/workspaces/${taken}?data=purge`);
  await waitUntil(
    "the workspace is gone",
    async () => (await fixture.send("admin", "GET", `/workspaces/${taken}`)).status === 404,
  );
  assert.ok(await read("namespace", taken));
});

test("the namespace goes away with the workspace", { skip }, async () => {
  await fixture.send("admin", "DELETE", `/workspaces/${workspace}?data=purge`);
  const isGone = async () => (await fixture.send("admin", "GET", `/workspaces/${workspace}`)).status === 404;
  await waitUntil("the workspace is gone", isGone, 90);
  assert.equal(await read("namespace", workspace), undefined);
});
