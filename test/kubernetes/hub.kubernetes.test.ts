// The application hub on a real cluster: servers are pods of their users' namespaces.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { kubectl, mustKubectl } from "@swath/testing/kubernetes";

import { openAccess } from "./support/access.ts";
import { attackPod } from "./support/attack-pod.ts";
import { CONFINED, readConfinement } from "./support/read-confinement.ts";
import { type TestResponse, type Deployment, openDeployment, findDeploymentSkipReason } from "./support/deployment.ts";

const missing = await findDeploymentSkipReason();
const skip = missing ?? false;
const image = process.env["SWATH_IMAGE"] ?? "";
const OFF = ["ADES", "RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "REGISTRY", "PORTAL"];

/** Shows who it is and what it finds; its image is one that the cluster has. */
const SERVE = `
const { createServer } = require("node:http");
const fs = require("node:fs");
fs.appendFileSync("starts", "x");
const { JUPYTERHUB_API_URL: hub, JUPYTERHUB_API_TOKEN: token, JUPYTERHUB_SERVICE_PREFIX: base } = process.env;
createServer(async (request, response) => {
  const answer = await fetch(hub + "/user", { headers: { authorization: "token " + token } }).then((each) => each.json(), String);
  response.end(JSON.stringify({
    path: request.url, base, uid: process.getuid(), user: answer.name ?? answer, starts: fs.readFileSync("starts", "utf8").length,
    data: fs.existsSync("/data"), map: fs.readFileSync("/etc/greeting", "utf8"), client: fs.existsSync("/opt/swath/swath.py"),
    environment: process.env.GREETING,
  }));
}).listen(8888);
`;
const PROFILES = JSON.stringify({
  profiles: [
    {
      id: "web",
      groups: ["*"],
      definition: {
        display_name: "Web",
        slug: "web",
        kubespawner_override: {
          image,
          cpu_limit: 0.5,
          cpu_guarantee: "10m",
          mem_limit: "256M",
          mem_guarantee: "64M",
          cmd: ["node", "-e", SERVE],
        },
      },
      config_maps: [{ name: "greeting", key: "text", mount_path: "/etc/greeting", content: "hello", persist: false }],
      volumes: [
        {
          name: "data",
          claim_name: "data",
          size: "100Mi",
          volume_mount: { name: "data", mount_path: "/data" },
          persist: true,
        },
        {
          name: "scratch",
          claim_name: "scratch",
          size: "100Mi",
          volume_mount: { name: "scratch", mount_path: "/scratch" },
          persist: false,
        },
      ],
      pod_env_vars: { GREETING: { from_config_map: { name: "greeting", key: "text" } } },
      role_bindings: [
        {
          name: "reader",
          subjects: [{ name: "default", kind: "ServiceAccount" }],
          role: { name: "reader", resources: ["pods"], verbs: ["get", "list"] },
          persist: false,
        },
      ],
    },
    {
      id: "broken",
      groups: ["*"],
      definition: {
        display_name: "Broken",
        slug: "broken",
        kubespawner_override: {
          image,
          cpu_guarantee: "10m",
          mem_limit: "128M",
          cmd: ["sh", "-c", "echo no such model; exit 3"],
        },
      },
    },
  ],
});

let deployment: Deployment;
let token = "";
const { takeToken } = openAccess(() => deployment);

before(async () => {
  if (missing === undefined) {
    deployment = await openDeployment({
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      REQUIRE_OBJSTORE: "true",
      REQUIRE_WORKSPACE_API: "true",
      // Logins and keys of two pods are good at each other.
      SERVICE_REPLICAS: "2",
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    token = await takeToken();
    const put = await api("PUT", "/swath/profiles", { text: PROFILES });
    assert.equal(put.status, 200, put.text);
  }
});
after(async () => {
  if (missing === undefined) {
    await kubectl(["delete", "namespace", "ws-admin", "--wait=false", "--ignore-not-found"]);
    await deployment?.close();
  }
});

const api = (method: string, path: string, body?: unknown): Promise<TestResponse> =>
  deployment.send("application-hub", `/hub/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const open = (name: string, path: string) =>
  deployment.send(`admin--${name}.application-hub`, path, { headers: { authorization: `Bearer ${token}` } });
const stateOf = async (name: string): Promise<string> => {
  const server = (await api("GET", "/users/admin")).json().servers?.[name];
  return server === undefined ? "stopped" : server.ready ? "ready" : "starting";
};
const progressOf = async (name: string) => (await api("GET", `/users/admin/servers/${name}/progress`)).text;

async function start(profile: string, name: string): Promise<string> {
  const response = await api("POST", `/users/admin/servers/${name}`, { profile });
  assert.ok([201, 202].includes(response.status), `${response.status}: ${response.text}`);
  await waitUntil(`${name} has started or ended`, async () => (await stateOf(name)) !== "starting", 180);
  return stateOf(name);
}

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
async function find(kind: string, name: string): Promise<any> {
  const { status, stdout } = await kubectl(["get", kind, name, "-n", "ws-admin", "-o", "json"]);
  return status === 0 ? JSON.parse(stdout) : undefined;
}

test("a server is a pod of its user's namespace, with what its profile brings", { skip }, async () => {
  assert.equal(await start("web", "lab"), "ready", await progressOf("lab"));
  const seen = await open("lab", "/user/admin/lab/hello");
  assert.equal(seen.status, 200, seen.text);
  assert.deepEqual(seen.json(), {
    path: "/user/admin/lab/hello",
    base: "/user/admin/lab/",
    uid: 1000,
    user: "admin",
    starts: 1,
    data: true,
    map: "hello",
    client: true,
    environment: "hello",
  });
  assert.equal((await deployment.send("admin--lab.application-hub", "/")).status, 403);
  const pod = await find("pod", "jupyter-admin-lab");
  assert.equal(pod.metadata.annotations["hub.jupyter.org/username"], "admin");
  const variables = pod.spec.containers.flatMap(({ env = [] }: { env?: { name: string }[] }) =>
    env.map(({ name }) => name),
  );
  assert.ok(!variables.includes("JUPYTERHUB_API_TOKEN"), "it is in a Secret, not in the pod's description");
  for (const container of ["server", "swath"]) {
    assert.deepEqual(await readConfinement("ws-admin", "jupyter-admin-lab", container), CONFINED, container);
  }
  await attackPod("ws-admin", "jupyter-admin-lab", "server");
  assert.equal((await find("pvc", "jupyter-home")).spec.storageClassName, "standard");
  assert.deepEqual((await find("networkpolicy", "jupyter-admin-lab")).spec.policyTypes, ["Ingress", "Egress"]);
  const allowed = (verb: string) =>
    kubectl(["auth", "can-i", verb, "pods", "-n", "ws-admin", "--as=system:serviceaccount:ws-admin:default"]);
  assert.deepEqual([(await allowed("list")).status, (await allowed("delete")).status], [0, 1]);
  const elsewhere = ["auth", "can-i", "list", "secrets", "--as=system:serviceaccount:proc:application-hub"];
  assert.equal((await kubectl([...elsewhere, "-n", "ws-admin"])).status, 1, "it lists no secrets, even there");
  assert.equal((await kubectl(["auth", "can-i", "get", "secrets", ...elsewhere.slice(4), "-n", "um"])).status, 1);
});

test("two pods of each service, with a disruption budget", { skip }, async () => {
  const budgets = await mustKubectl(["get", "poddisruptionbudgets", "-n", "um", "-o", "name"]);
  assert.match(budgets, /gatekeeper/);
  const replicas = ["get", "deployment", "gatekeeper", "-n", "um", "-o", "jsonpath={.status.readyReplicas}"];
  assert.equal(await mustKubectl(replicas), "2");
});

test("a hub that starts again finds its pods; a killed one is told", { skip }, async () => {
  const { uid } = (await find("pod", "jupyter-admin-lab")).metadata;
  const readHub = () =>
    kubectl(["get", "pod", "application-hub-0", "-n", "proc", "-o", "jsonpath={.metadata.uid} {.status.phase}"]).then(
      ({ stdout }) => stdout.split(" "),
    );
  const [earlier] = await readHub();
  // Whom the proxy lets in it has asked the hub about lately.
  assert.equal((await open("lab", "/user/admin/lab/")).status, 200);
  await mustKubectl([
    "delete",
    "pod",
    "-n",
    "proc",
    "-l",
    "app.kubernetes.io/name=application-hub",
    "--grace-period=0",
    "--force",
  ]);
  const visit = await open("lab", "/user/admin/lab/");
  assert.equal(visit.status, 200, `the proxy needs no hub for whom it knows: ${visit.text}`);
  // The rollout's status is that of the old pod for a moment, and a node that copies an image takes its time under load.
  await waitUntil(
    "there is another pod of the hub",
    async () => {
      const [now, phase] = await readHub();
      return now !== undefined && now !== "" && now !== earlier && phase === "Running";
    },
    400,
  );
  await mustKubectl(["rollout", "status", "-n", "proc", "statefulset/application-hub", "--timeout=300s"]);
  await waitUntil("the hub answers", async () => {
    const { status, headers, text } = await api("GET", "/");
    // What was answered last, and by whom, is told with the failure.
    assert.equal(status, 200, `${status} ${JSON.stringify(headers)} ${text}`);
    return true;
  });
  assert.equal(await stateOf("lab"), "ready");
  assert.equal((await find("pod", "jupyter-admin-lab")).metadata.uid, uid);
  await mustKubectl([
    "delete",
    "pod",
    "-n",
    "ws-admin",
    "jupyter-admin-lab",
    "--wait=false",
    "--grace-period=0",
    "--force",
  ]);
  await waitUntil("its end is seen", async () => (await stateOf("lab")) === "stopped");
  assert.match(await progressOf("lab"), /pod is gone/);
});

test("its home and lasting volumes stay, the rest goes with it", { skip }, async () => {
  assert.equal(await start("web", "lab"), "ready", await progressOf("lab"));
  assert.equal((await open("lab", "/user/admin/lab/")).json().starts, 2);
  assert.equal((await api("DELETE", "/users/admin/servers/lab")).status, 204);
  assert.equal(await find("pod", "jupyter-admin-lab"), undefined);
  for (const [kind, name] of [
    ["secret", "jupyter-admin-lab"],
    ["networkpolicy", "jupyter-admin-lab"],
    ["configmap", "greeting"],
    ["configmap", "jupyter-admin-lab-files"],
    ["rolebinding", "reader"],
    ["pvc", "scratch"],
  ] as const) {
    await waitUntil(`${kind} ${name} is gone`, async () => (await find(kind, name)) === undefined);
  }
  assert.ok(await find("pvc", "jupyter-home"));
  assert.ok(await find("pvc", "data"));
});

test("a program that fails says so, and leaves nothing behind", { skip }, async () => {
  assert.equal(await start("broken", "b"), "stopped");
  assert.match(await progressOf("b"), /ended with status 3.*no such model/s);
  await waitUntil("its pod is gone", async () => (await find("pod", "jupyter-admin-b")) === undefined);
});
