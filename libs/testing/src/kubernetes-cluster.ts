import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "./run-command.ts";
import { waitUntil } from "./wait-until.ts";

/** Why there is no cluster to test against; `undefined` when there is one. */
export async function findKubernetesSkipReason(): Promise<string | undefined> {
  // oxlint-disable-next-line node/no-process-env -- tests find their cluster as people do
  if (process.env["KUBECONFIG"] === undefined) {
    return "KUBECONFIG names no Kubernetes cluster";
  }
  const { status, stderr } = await kubectl(["get", "--raw", "/readyz"]).catch((error: unknown) => ({
    status: 1,
    stderr: String(error),
  }));
  return status === 0 ? undefined : `the cluster of KUBECONFIG does not answer: ${stderr.trim().slice(0, 200)}`;
}

/** Runs kubectl, which has to exist, and gives what it printed. */
export const kubectl = (args: readonly string[], input?: string) =>
  // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs and its cluster
  runCommand("kubectl", args, { env: process.env, ...(input !== undefined && { input }) });

/** Runs kubectl; what it refuses is an error. */
export async function mustKubectl(args: readonly string[], input?: string): Promise<string> {
  const { status, stdout, stderr } = await kubectl(args, input);
  if (status !== 0) {
    throw new Error(`kubectl ${args.join(" ")}: ${stderr.trim()}`);
  }
  return stdout;
}

/** Makes objects of the API, in order. */
export const applyObjects = (objects: readonly object[]): Promise<string> =>
  mustKubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));

/**
 * Writes the account of a service account to a folder, as a pod would find it, and gives the API server's address.
 * @param rules what the account may do, in its namespace or in the whole cluster
 */
export async function createAccount(options: {
  readonly folder: string;
  readonly namespace: string;
  readonly name: string;
  readonly scope: "namespace" | "cluster";
  readonly rules: readonly object[];
}): Promise<string> {
  const { folder, namespace, name, scope, rules } = options;
  const kind = scope === "cluster" ? "ClusterRole" : "Role";
  const roleName = scope === "cluster" ? `${namespace}-${name}` : name;
  const place = scope === "cluster" ? {} : { namespace };
  await applyObjects([
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name: roleName, ...place }, rules },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: `${kind}Binding`,
      metadata: { name: roleName, ...place },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ]);
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 7200 } };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const response = JSON.parse(await mustKubectl(["create", "--raw", path, "-f", "-"], JSON.stringify(request))) as {
    status: { token: string };
  };
  const config = JSON.parse(await mustKubectl(["config", "view", "--raw", "--flatten", "--minify", "-o", "json"])) as {
    clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  };
  const [{ cluster }] = config.clusters as [(typeof config.clusters)[0]];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "token"), response.status.token);
  writeFileSync(join(folder, "namespace"), namespace);
  writeFileSync(join(folder, "ca.crt"), Buffer.from(cluster["certificate-authority-data"], "base64"));
  return cluster.server;
}

/** A namespace of a test's own, where pods can be made, gone when it is closed. */
export async function createNamespace(name: string): Promise<{ readonly close: () => Promise<void> }> {
  await applyObjects([{ apiVersion: "v1", kind: "Namespace", metadata: { name } }]);
  // A cluster makes it a moment later, and refuses pods before that.
  const account = ["get", "serviceaccount", "default", "-n", name];
  await waitUntil(`${name} has an account for pods`, async () => (await kubectl(account)).status === 0);
  return { close: async () => void (await kubectl(["delete", "namespace", name, "--wait=false"])) };
}

/**
 * A volume claim on a folder of this machine, for a cluster whose only node is this machine: the test and its pods see the
 * same files.
 */
export async function createSharedFolder(namespace: string, claim: string) {
  const folder = mkdtempSync(join(tmpdir(), "swath-volume-"));
  chmodSync(folder, 0o777);
  const name = `${namespace}-${claim}`;
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  await applyObjects([
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        ...spec,
        capacity: { storage: "1Gi" },
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path: folder },
        claimRef: { namespace, name: claim },
      },
    },
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: claim, namespace },
      spec: { ...spec, resources: { requests: { storage: "1Gi" } }, volumeName: name },
    },
  ]);
  return {
    folder,
    close: async () => {
      await kubectl(["delete", "persistentvolume", name, "--wait=false"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
