// Images of private projects, pulled by kubelet and containerd: for the pods of a job with the rights of its owner, for other pods with the
// pull secret of a workspace. The registry is a process of this machine, which is the cluster's only node: containerd speaks plain HTTP
// with its own loopback interface.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { createPeer } from "@swath/service";
import { waitUntil } from "@swath/testing";
import { applyObjects, createAccount, createNamespace, kubectl, mustKubectl } from "@swath/testing/kubernetes";

import {
  type PodFixture,
  startPodFixture,
  findPodsSkipReason,
} from "../../components/ades/execution/kubernetes/test/pod-fixture.ts";
import { shellPackage } from "../../components/ades/test/packages.ts";
import { type TestAdes, startAdes } from "../../components/ades/test/start-ades.ts";
import { type RegistryClient, basic, createClient, createProject } from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";
import { createRegistryAdmin } from "../../components/workspace-api/clients/registry-admin.ts";
import { type RegistryOutputs, createRegistryStep } from "../../components/workspace-api/steps/registry.ts";
import type { Outputs } from "../../components/workspace-api/store/tables.ts";
import type { Workspace } from "../../components/workspace-api/store/workspaces.ts";
import { pushTools, runProcess } from "../e2e/registry-tools.ts";

const SECRET = "secret-between-processing-and-registry";
const skip =
  (await findPodsSkipReason()) ??
  (existsSync("/bin/busybox") ? false : "needs /bin/busybox (apt-get install busybox-static)");
const workspaceName = `kj-ws-${process.pid}`;

let fixture: PodFixture;
let registry: TestRegistry;
let ades: TestAdes;
let admin: RegistryClient;
let folder: string;
let space: { readonly close: () => Promise<void> } | undefined;

before(async () => {
  if (skip !== false) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "swath-registry-pods-"));
  fixture = await startPodFixture();
  registry = await startTestRegistry({ PROCESSING_SECRET: SECRET });
  admin = createClient(registry.url);
  for (const user of ["eric", "bob"]) {
    await createProject(admin, user);
    await admin.call("POST", `/api/v2.0/projects/${user}/members`, {
      body: { role_id: 3, member_user: { username: user } },
    });
  }
  ades = await startAdes({
    dataFolder: fixture.volume,
    env: {
      EXECUTOR: "pods",
      KUBERNETES_API: fixture.server,
      KUBERNETES_ACCOUNT: fixture.account,
      POD_VOLUME_CLAIM: fixture.claim,
      POD_PLACEMENT: "anywhere",
      POD_CPU_PERCENT: "1",
      MAX_RAM_MIB: "256",
      REGISTRY_URL: registry.url,
      REGISTRY_HOST: registry.host,
      REGISTRY_SECRET: SECRET,
    },
  });
});
after(async () => {
  await ades?.close();
  await registry?.close();
  await fixture?.close();
  await space?.close();
  if (skip === false) {
    rmSync(folder, { recursive: true, force: true });
  }
});

const deploy = (user: string, id: string, image: string) =>
  ades.send(`/${user}/ogc-api/processes`, {
    text: shellPackage(id, 'cat /etc/says; echo " $1"', `{DockerRequirement: {dockerPull: "${image}"}}`),
    type: "application/cwl+yaml",
  });

const run = (user: string, id: string) => runProcess(ades, user, id);

/** Makes a pod of an image that may only come from the registry; gives how it ended, or why it does not begin. */
async function runPod(namespace: string, name: string, image: string, pullSecret?: string): Promise<string> {
  await applyObjects([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace },
      spec: {
        restartPolicy: "Never",
        ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
        containers: [{ name: "main", image, imagePullPolicy: "Always", command: ["cat", "/etc/says"] }],
      },
    },
  ]);
  const found = await waitUntil(`${name} has ended, or cannot begin`, async () => {
    const { status } = JSON.parse(await mustKubectl(["get", "pod", name, "-n", namespace, "-o", "json"])) as {
      status: { phase: string; containerStatuses?: { state: { waiting?: { reason: string } } }[] };
    };
    const reason = status.containerStatuses?.[0]?.state.waiting?.reason ?? "";
    return ["Succeeded", "Failed"].includes(status.phase)
      ? status.phase
      : ["ErrImagePull", "ImagePullBackOff"].includes(reason)
        ? "ErrImagePull"
        : undefined;
  });
  const log = found === "Succeeded" ? (await mustKubectl(["logs", name, "-n", namespace])).trim() : found;
  await kubectl(["delete", "pod", name, "-n", namespace, "--wait=false"]);
  return log;
}

test(
  "the pods of a job pull a private image with the rights of its owner, and nothing is left of them",
  { skip },
  async () => {
    const image = `${registry.host}/eric/tools:1`;
    const tools = { admin, folder, repository: "eric/tools", tag: "1" };
    const digest = await pushTools({ ...tools, says: "first" });
    assert.equal((await deploy("eric", "said", image)).status, 201);
    await pushTools({ ...tools, says: "second" });
    const { ended, results } = await run("eric", "said");
    assert.equal(ended.status, "successful", ended.message);
    assert.equal(results, "first World", "as it was when it was deployed");
    await waitUntil("the job's secret is gone", async () => {
      const names = await mustKubectl(["get", "secrets", "-n", fixture.namespace, "-o", "name"]);
      return !names.includes("ades-pull-");
    });
    const byDigest = `${registry.host}/eric/tools@${digest}`;
    for (const other of [image, byDigest]) {
      const refused = await deploy("bob", "steal", other);
      assert.equal(refused.status, 400);
      assert.match(refused.body.detail, /cannot be pulled for bob/);
    }
    // The node has it, and a pod without credentials does not get it.
    assert.equal(await runPod(fixture.namespace, "without", byDigest), "ErrImagePull");
  },
);

test("who loses the right loses it for the pods of what is deployed, too", { skip }, async () => {
  await pushTools({ admin, folder, repository: "bob/tools", tag: "1", says: "of bob" });
  assert.equal((await deploy("bob", "own", `${registry.host}/bob/tools:1`)).status, 201);
  const [{ id }] = (await admin.call("GET", "/api/v2.0/projects/bob/members?entityname=bob")).json();
  await admin.call("DELETE", `/api/v2.0/projects/bob/members/${id}`);
  const { ended } = await run("bob", "own");
  assert.equal(ended.status, "failed");
  assert.match(ended.message, /cannot be pulled for bob/);
});

test("pods of a workspace pull from its project by the pull secret that it gets", { skip }, async () => {
  space = await createNamespace(workspaceName);
  const account = join(folder, "reconciler");
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch"] }];
  const scope = { namespace: workspaceName, name: "reconciler", scope: "namespace" } as const;
  const server = await createAccount({ folder: account, ...scope, rules });
  const cluster = openClusterApi(openAccount(account, server));
  const peer = createPeer(registry.url);
  const step = createRegistryStep({
    registry: createRegistryAdmin({ peer, password: ADMIN_PASSWORD }),
    host: registry.host,
    cluster,
  });
  let outputs: Outputs | null = null;
  const workspace = {
    name: workspaceName,
    data: "purge",
    members: [{ username: "eric", userId: null, role: "owner" }],
  } as unknown as Workspace;
  const context = () => ({
    workspace,
    outputs,
    wasDone: false,
    save: async (next: Outputs) => {
      outputs = next;
    },
  });
  try {
    await step.apply(context());
    const { robot } = outputs as unknown as RegistryOutputs;
    const programs = createClient(registry.url, basic(robot?.name ?? "", robot?.secret ?? ""));
    await pushTools({
      admin: programs,
      folder,
      repository: `${workspaceName}/tool`,
      tag: "1",
      says: "of the workspace",
    });
    const image = `${registry.host}/${workspaceName}/tool:1`;
    assert.equal(await runPod(workspaceName, "with", image, "container-registry"), "of the workspace");
    assert.equal(await runPod(workspaceName, "without", image), "ErrImagePull");
    const foreign = `${registry.host}/eric/tools:1`;
    assert.equal(await runPod(workspaceName, "foreign", foreign, "container-registry"), "ErrImagePull");
    // With the workspace goes its robot account; whoever kept the secret has nothing.
    await step.remove(context());
    assert.equal((await programs.call("GET", "/v2/")).status, 401);
  } finally {
    await peer.close();
    await cluster.close();
  }
});
