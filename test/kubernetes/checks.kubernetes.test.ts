// What apply refuses before it changes anything, all of it at once.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type CommandResult, findFreePort, runCommand } from "@swath/testing";
import {
  createAccount,
  createNamespace,
  kubectl,
  mustKubectl,
  findKubernetesSkipReason,
} from "@swath/testing/kubernetes";

const missing = await findKubernetesSkipReason();
const skip = missing === undefined ? false : `${missing}; set KUBECONFIG to a cluster for tests`;
const main = join(import.meta.dirname, "../../cli/main.ts");
const NAMESPACE = "swath-test-checks";

let folder: string;
let namespace: { readonly close: () => Promise<void> } | undefined;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swath-checks-"));
  if (missing === undefined) {
    namespace = await createNamespace(NAMESPACE);
  }
});
after(async () => {
  if (missing === undefined) {
    await namespace?.close();
    await kubectl(["delete", "clusterrole,clusterrolebinding", `${NAMESPACE}-reader`, "--ignore-not-found"]);
  }
  rmSync(folder, { recursive: true, force: true });
});

function apply(variables: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { PATH, HOME, KUBECONFIG, NODE_COMPILE_CACHE } = process.env;
  return runCommand(process.execPath, [main, "deploy", "apply", "swath", "eo.example.org", "192.0.2.10"], {
    env: {
      PATH,
      HOME,
      KUBECONFIG,
      NODE_COMPILE_CACHE,
      SWATH_STATE_DIR: join(folder, "state"),
      REQUIRE_LOCALCLUSTER: "false",
      REQUIRE_INGRESS_CONTROLLER: "false",
      USE_TLS: "false",
      ...variables,
    },
  });
}

const writeConfig = (name: string, server: string, user: object, cluster: object = {}) => {
  const file = join(folder, name);
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server, ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "lab", context: { cluster: "c", user: "u" } }],
      "current-context": "lab",
    }),
  );
  return file;
};

test("a cluster that nobody answers for", async () => {
  const address = `https://127.0.0.1:${await findFreePort()}`;
  const { status, stderr } = await apply({ KUBECONFIG: writeConfig("nobody", address, {}) });
  assert.equal(status, 1);
  const [line = ""] = stderr.split("\n").filter((text) => text.includes("cannot be reached"));
  assert.ok(line.includes(`the cluster of context "lab" cannot be reached at ${address}: `), stderr);
  assert.match(line, /ECONNREFUSED/);
});

test("no kubeconfig at all, and a context that is not in it", async () => {
  const none = await apply({ KUBECONFIG: "/nonexistent/config" });
  assert.match(none.stderr, /the kubeconfig that KUBECONFIG names does not exist: \/nonexistent\/config/);
  const file = writeConfig("no-context", "https://127.0.0.1:1", {});
  const text = JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), "current-context": "gone" });
  writeFileSync(file, text);
  const gone = await apply({ KUBECONFIG: file });
  assert.match(gone.stderr, /the kubeconfig has no context "gone"; it has: lab/);
});

test("a cluster that is too old", async () => {
  const plain = { "insecure-skip-tls-verify": true };
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ major: "1", minor: "16+", gitVersion: "v1.16.3" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { status, stderr } = await apply({ KUBECONFIG: writeConfig("old", `http://127.0.0.1:${port}`, {}, plain) });
  server.close();
  assert.equal(status, 1);
  assert.match(stderr, /has Kubernetes v1\.16\.3; this deployment needs 1\.20 or newer/);
});

test("classes that the cluster lacks and a program that this machine lacks, together", { skip }, async () => {
  const { status, stderr } = await apply({
    DEFAULT_STORAGE: "fast-disks",
    USE_TLS: "true",
    TLS_CLUSTER_ISSUER: "our-own",
    REQUIRE_SEALED_SECRETS: "true",
    REQUIRE_CERTIFICATE_MANAGER: "false",
    REQUIRE_ACME_ISSUERS: "false",
    PATH: "/nonexistent",
  });
  assert.equal(status, 1);
  assert.match(stderr, /nothing was changed/);
  assert.match(stderr, /ERROR: the cluster has no storage class "fast-disks"; it has: .*standard/);
  assert.match(stderr, /ERROR: the cluster has no certificate issuer "our-own"/);
  assert.match(stderr, /ERROR: helm is not installed.*sealed secrets.*REQUIRE_SEALED_SECRETS=false/);
});

test("a user who may only look", { skip }, async () => {
  const account = join(folder, "reader");
  const rules = [{ apiGroups: ["", "apps", "storage.k8s.io"], resources: ["*"], verbs: ["get", "list"] }];
  const server = await createAccount({
    folder: account,
    namespace: NAMESPACE,
    name: "reader",
    scope: "cluster",
    rules,
  });
  const certificate = readFileSync(join(account, "ca.crt")).toString("base64");
  const KUBECONFIG = writeConfig(
    "reader.json",
    server,
    { token: readFileSync(join(account, "token"), "utf8") },
    { "certificate-authority-data": certificate },
  );
  const listNamespaces = () =>
    mustKubectl(["get", "namespaces", "-l", "app.kubernetes.io/managed-by=swath", "-o", "name"]);
  const earlier = await listNamespaces();
  const { status, stderr } = await apply({ KUBECONFIG });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /ERROR: the user of this context may not create, patch, delete deployments\.apps in all namespaces/,
  );
  assert.match(stderr, /ERROR: .* may not get, list, create, patch, delete ingresses\.networking\.k8s\.io/);
  assert.doesNotMatch(stderr, /storageclasses/);
  assert.equal(await listNamespaces(), earlier, "nothing was made");
});

test("a cluster that has somebody else's deployment", { skip }, async () => {
  const label = ["swath.io/deployment=lab", "app.kubernetes.io/managed-by=swath"];
  await mustKubectl(["label", "namespace", NAMESPACE, ...label]);
  const { status, stderr } = await apply({});
  await mustKubectl(["label", "namespace", NAMESPACE, "swath.io/deployment-", "app.kubernetes.io/managed-by-"]);
  assert.equal(status, 1);
  assert.match(stderr, /ERROR: the cluster has a deployment named "lab" already/);
});
