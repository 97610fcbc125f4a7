// Nodes that are emptied under load. On demand: it needs a cluster of three nodes, such as `cluster up --nodes 3` makes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { kubectl, mustKubectl, findKubernetesSkipReason } from "@swath/testing/kubernetes";

import { DOMAIN, type Deployment, openDeployment, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { startLoad } from "./support/load.ts";

const image = process.env["SWATH_IMAGE"] ?? "";
const OFF = ["APPLICATION_HUB", "RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "REGISTRY", "PORTAL"];

const listNodes = async (): Promise<readonly string[]> =>
  (await mustKubectl(["get", "nodes", "-o", "name"]))
    .trim()
    .split("\n")
    .map((name) => name.replace(/^node\//, ""));
const nodes = (await findKubernetesSkipReason()) === undefined ? await listNodes() : [];
const missing =
  whyLeftOut() ??
  (await findDeploymentSkipReason()) ??
  (nodes.length < 3 ? "the cluster has fewer than three nodes" : undefined);
const skip = missing ?? false;

let deployment: Deployment;
before(async () => {
  if (missing === undefined) {
    deployment = await openDeployment({
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      REQUIRE_DUMMY_SERVICE: "true",
      SERVICE_REPLICAS: "2",
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
  }
});
after(async () => {
  if (missing === undefined) {
    for (const node of nodes) {
      await kubectl(["uncordon", node]);
    }
    await deployment?.close();
  }
});

/** Nodes that the pods of a service run on. */
const nodesOf = async (namespace: string, name: string): Promise<readonly string[]> =>
  (
    await mustKubectl([
      "get",
      "pods",
      "-n",
      namespace,
      "-l",
      `app.kubernetes.io/name=${name}`,
      "-o",
      "jsonpath={range .items[*]}{.spec.nodeName} {end}",
    ])
  )
    .trim()
    .split(" ");

test("copies of a service are on different nodes", { skip }, async () => {
  for (const [namespace, name] of [
    ["um", "identity"],
    ["um", "gatekeeper"],
    ["um", "dummy-service"],
  ] as const) {
    const found = await nodesOf(namespace, name);
    assert.deepEqual([found.length, new Set(found).size], [2, 2], `${name}: ${found.join()}`);
  }
});

test("each node is emptied in turn, and no request to a service with two copies fails", { skip }, async (t) => {
  const [first = "", ...others] = nodes;
  const own = (service: string, url: string) => ({ url, host: `${service}.${DOMAIN}` });
  // What every request to identity waits for stays where it is: PostgreSQL has one pod.
  const [database = ""] = await nodesOf("storage", "postgres");
  const load = await startLoad(
    t,
    image,
    [
      own("dummy-service-open", "http://dummy-service.um.svc.cluster.local:8080/x"),
      own("identity", "http://identity.um.svc.cluster.local:8080/realms/master/protocol/openid-connect/certs"),
      own("identity-api", "http://gatekeeper.um.svc.cluster.local:3000/docs/"),
    ],
    first,
  );
  const emptied = others.filter((node) => node !== database);
  assert.ok(emptied.length > 0);
  for (const node of emptied) {
    await mustKubectl(["drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=300s"]);
    for (const [namespace, name] of [
      ["um", "identity"],
      ["um", "gatekeeper"],
      ["um", "dummy-service"],
    ] as const) {
      await mustKubectl(["rollout", "status", `deployment/${name}`, "-n", namespace, "--timeout=300s"]);
      assert.ok(!(await nodesOf(namespace, name)).includes(node));
    }
    await mustKubectl(["uncordon", node]);
  }
  const { sent, failures } = await load.stop();
  process.stdout.write(`${sent} requests while ${emptied.join(" and ")} were emptied\n`);
  assert.deepEqual(failures, []);
  assert.ok(sent > 100, String(sent));
});
