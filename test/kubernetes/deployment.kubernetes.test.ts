// The platform on a real cluster: deployed, used, changed under load, broken, removed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type TestContext, after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { kubectl, mustKubectl } from "@swath/testing/kubernetes";

import {
  DOMAIN,
  type Deployment,
  NAME,
  openDeployment,
  readPodNames,
  readVersions,
  whyNoDeployment,
} from "./support/deployment.ts";
import { startLoad } from "./support/load.ts";
import { testPackage } from "./support/package.ts";

const missing = await whyNoDeployment();
const image = process.env["SWATH_IMAGE"] ?? "";
/** As the simple wrapper deploys: everything, open, without TLS. */
const VARIABLES = {
  OPEN_INGRESS: "true",
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "true",
  STAGEOUT_TARGET: "objstore",
};
const json = { "content-type": "application/json", accept: "application/json" };

let deployment: Deployment;

before(async () => {
  if (missing === undefined) {
    deployment = await openDeployment(VARIABLES);
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    process.stdout.write(`${/Ready after.*/.exec(stdout)?.[0]}\n`);
  }
});
after(() => deployment?.close());

const check = (title: string, run: (t: TestContext) => Promise<void>) => test(title, { skip: missing ?? false }, run);

async function password(what: string): Promise<string> {
  const { stdout } = await deployment.swath("credentials", "-o", "json", NAME);
  const rows = JSON.parse(stdout) as { what: string; password: string }[];
  return rows.find((row) => row.what === what)?.password ?? "";
}

async function takeToken(): Promise<string> {
  const form = new URLSearchParams({
    grant_type: "password",
    scope: "openid profile email",
    username: "admin",
    password: await password("identity service"),
    client_id: "admin-cli",
  });
  const answer = await deployment.send("identity", "/realms/master/protocol/openid-connect/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json().access_token as string;
}

check("every pod is Running or Completed, and the commands see them as they do on one machine", async () => {
  const { status, stdout } = await deployment.swath("pods", "-o", "json", NAME);
  assert.equal(status, 0, stdout);
  const pods = JSON.parse(stdout) as { workload: string; phase: string; ready: boolean }[];
  for (const name of ["postgres", "identity", "objstore", "ades", "workspace-api", "dummy-service"]) {
    assert.ok(
      pods.some(({ workload, ready }) => workload === name && ready),
      name,
    );
  }
  assert.match((await deployment.swath("urls", NAME)).stdout, /ades-open +http:\/\/ades-open\.eo\.example\.org\//);
  assert.match((await deployment.swath("logs", "identity", "--tail", "50", NAME)).stdout, /listening/);
});

check("a second apply changes nothing", async () => {
  const earlier = await readVersions();
  const pods = await readPodNames();
  const { status, stdout, stderr } = await deployment.apply();
  assert.equal(status, 0, stdout + stderr);
  const present = await readVersions();
  // The record of what was deployed is the same too.
  assert.deepEqual(present, earlier);
  assert.deepEqual(await readPodNames(), pods);
});

check("the quick procedure: list, deploy, details, execute, status, result, list of jobs", async () => {
  const send = (path: string, body?: unknown, headers = {}) =>
    deployment.send("ades-open", path, {
      headers: { ...json, ...headers },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
  const listed = await send("/eric/wps3/processes");
  assert.equal(listed.status, 200, listed.text);
  const href = `data:application/cwl;base64,${Buffer.from(testPackage(image)).toString("base64")}`;
  const deployed = await send("/eric/wps3/processes", { executionUnit: { href, type: "application/cwl" } });
  assert.equal(deployed.status, 201, deployed.text);
  const details = await send("/eric/wps3/processes/write-item");
  assert.deepEqual(Object.keys(details.json().inputs), ["title"]);
  const started = await send(
    "/eric/wps3/processes/write-item/execution",
    { inputs: { title: "made on a cluster" }, response: "raw" },
    { prefer: "respond-async" },
  );
  assert.equal(started.status, 201, started.text);
  const location = String(started.headers["location"]);
  assert.match(location, /^\/eric\/wps3\/jobs\/[0-9a-f-]{36}$/);
  const job = await waitUntil(
    "the job has ended",
    async () => {
      const found = (await send(location)).json();
      return ["successful", "failed"].includes(found.status) ? found : undefined;
    },
    300,
  );
  assert.equal(job.status, "successful", job.message);
  const result = await send(`${location}/result`);
  assert.equal(result.json().StacCatalogUri, `s3://results/processing-results/${job.jobID}/catalog.json`);
  const jobs = await send("/eric/wps3/jobs");
  assert.deepEqual(
    jobs.json().jobs.map(({ jobID }: { jobID: string }) => jobID),
    [job.jobID],
  );
});

check("the workspace procedure: a token, a workspace, its bucket", async () => {
  const authorization = `Bearer ${await takeToken()}`;
  const created = await deployment.send("workspace-api", "/workspaces", {
    method: "POST",
    headers: { ...json, authorization },
    body: JSON.stringify({ preferred_name: "eric", default_owner: "eric" }),
  });
  assert.ok([200, 201, 202].includes(created.status), created.text);
  const workspace = await waitUntil(
    "the workspace is ready",
    async () => {
      const found = await deployment.send("workspace-api", "/workspaces/ws-eric", { headers: { authorization } });
      return found.status === 200 && found.json().status === "ready" ? found.json() : undefined;
    },
    120,
  );
  assert.ok(workspace.storage.credentials.bucketname, JSON.stringify(Object.keys(workspace)));
});

check("X-Auth-* fields of a client reach nobody, though the ingress controller passes them on", async () => {
  const { ask, stop } = await startLoad(image, []);
  const claims = { "x-auth-username": "admin", "x-auth-roles": "admin" };
  const url = "http://dummy-service.um.svc.cluster.local:8080/x";
  const text = await ask(url, { ...claims, host: `dummy-service-open.${DOMAIN}`, "x-other": "kept" });
  assert.match(text, /x-other/i);
  assert.doesNotMatch(text, /x-auth/i);
  await stop();
});

check("a changed setting rolls only what it affects, and no request fails", async () => {
  const pods = await readPodNames();
  const load = await startLoad(image, [
    { url: "http://dummy-service.um.svc.cluster.local:8080/x", host: `dummy-service.${DOMAIN}` },
    {
      url: "http://identity.um.svc.cluster.local:8080/realms/master/.well-known/openid-configuration",
      host: `identity.${DOMAIN}`,
    },
    { url: "http://gatekeeper.um.svc.cluster.local:3000/docs/", host: `identity-api.${DOMAIN}` },
  ]);
  const { status, stdout, stderr } = await deployment.apply({
    IDENTITY_GATEKEEPER_ENCRYPTION_KEY: "another-key-of-cookies",
  });
  assert.equal(status, 0, stdout + stderr);
  const { gatekeeper, ...others } = await readPodNames();
  const { gatekeeper: earlier, ...earlierOthers } = pods;
  assert.notEqual(gatekeeper, earlier);
  assert.deepEqual(others, earlierOthers);
  const restarted = await deployment.swath("restart", "identity", NAME);
  assert.equal(restarted.status, 0, restarted.stderr);
  await mustKubectl(["rollout", "status", "-n", "um", "deployment/identity", "--timeout=180s"]);
  const { sent, failures } = await load.stop();
  process.stdout.write(`${sent} requests while pods were replaced\n`);
  assert.deepEqual(failures, []);
  assert.ok(sent > 50, String(sent));
});

check("protection turned on: open hosts go, protected ones lead to the gatekeeper", async () => {
  const protectedVariables = { OPEN_INGRESS: "false", SERVICE_REPLICAS: "2" };
  const { status, stdout, stderr } = await deployment.apply(protectedVariables);
  assert.equal(status, 0, stdout + stderr);
  const { stdout: urls } = await deployment.swath("urls", NAME);
  assert.doesNotMatch(urls, /-open/);
  assert.equal(await mustKubectl(["get", "ingress", "-A", "-o", "name"]).then((text) => /-open/.test(text)), false);
  assert.equal((await deployment.send("ades", "/eric/wps3/processes")).status, 401);
  const budgets = await mustKubectl(["get", "poddisruptionbudgets", "-n", "um", "-o", "name"]);
  assert.match(budgets, /gatekeeper/);
  const token = await takeToken();
  const asAdmin = await deployment.send("ades", "/admin/wps3/processes", {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.ok([200, 403].includes(asAdmin.status), asAdmin.text);
});

check("killed pods come back, and nothing that was committed is lost", async () => {
  await mustKubectl(["delete", "pod", "-n", "storage", "postgres-0", "--grace-period=0", "--force"]);
  await mustKubectl(["delete", "pod", "-n", "rm", "objstore-0", "--grace-period=0", "--force"]);
  await waitUntil("all pods are ready again", async () => (await deployment.swath("pods", NAME)).status === 0, 240);
  const authorization = `Bearer ${await waitUntil("a token", takeToken, 60)}`;
  const found = await deployment.send("workspace-api", "/workspaces/ws-eric", { headers: { authorization } });
  assert.equal(found.status, 200, found.text);
});

check("a pod that cannot start is explained, and a mended setting heals it", async () => {
  const { status, stderr } = await deployment.apply({ SWATH_IMAGE: "swath.invalid/none:1" });
  assert.equal(status, 1);
  assert.match(stderr, /ERROR: pod \S+ is not ready: ErrImagePull: .*swath\.invalid/);
  const mended = await deployment.apply();
  assert.equal(mended.status, 0, mended.stdout + mended.stderr);
});

check("the node's kubelet killed: services go on, and a new one takes the pods over", async (t) => {
  const file = "/var/tmp/test-kubernetes/kubelet.pid";
  const start = process.env["SWATH_TEST_CLUSTER_START"];
  if (start === undefined || !existsSync(file)) {
    t.skip("SWATH_TEST_CLUSTER_START names no command that starts a kubelet again");
    return;
  }
  const pods = await readPodNames();
  const kubelet = Number(readFileSync(file, "utf8"));
  process.kill(kubelet, "SIGKILL");
  const address = await mustKubectl([
    "get",
    "service",
    "-n",
    "um",
    "dummy-service",
    "-o",
    "jsonpath={.spec.clusterIP}",
  ]);
  const { status, stdout } = spawnSync(
    "curl",
    ["-s", "-o", "/dev/null", "-w", "%{http_code}", `http://${address}:8080/`],
    {
      encoding: "utf8",
    },
  );
  assert.deepEqual([status, stdout], [0, "200"]);
  await waitUntil("the killed one is gone", () => !existsSync(`/proc/${kubelet}`));
  assert.equal(spawnSync("sh", ["-c", start], { stdio: "ignore" }).status, 0);
  assert.notEqual(Number(readFileSync(file, "utf8")), kubelet, "another kubelet");
  await waitUntil("all pods are ready", async () => (await deployment.swath("pods", NAME)).status === 0, 120);
  assert.deepEqual(await readPodNames(), pods);
});

check("delete keeps volumes and secrets and nothing else; clean takes these away too", async () => {
  await kubectl(["create", "configmap", "somebody-elses", "-n", "default"]);
  const deleted = await deployment.swath("deploy", "delete", NAME);
  assert.equal(deleted.status, 0, deleted.stdout + deleted.stderr);
  assert.match(deleted.stdout, /volumes and generated secrets are kept in rm, storage, swath, zoo/);
  const left = Object.keys(await readVersions()).filter((name) => !/^(Namespace|PersistentVolumeClaim) /.test(name));
  assert.deepEqual(left, ["Secret swath/swath-generated-secrets"]);
  assert.equal((await deployment.swath("pods", NAME)).stdout.includes("no pods"), true);
  const cleaned = await deployment.swath("clean", NAME);
  assert.equal(cleaned.status, 0, cleaned.stdout + cleaned.stderr);
  assert.deepEqual(await readVersions(), {});
  const foreign = await kubectl(["delete", "configmap", "somebody-elses", "-n", "default"]);
  assert.equal(foreign.status, 0);
});
