// The platform on a real cluster: deployed, used, changed under load, broken, removed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, before, test } from "node:test";

import { runCommand, waitUntil } from "@swath/testing";
import { applyObjects, kubectl, mustKubectl } from "@swath/testing/kubernetes";

import {
  DOMAIN,
  type Deployment,
  NAME,
  openDeployment,
  readPodNames,
  readVersions,
  findDeploymentSkipReason,
} from "./support/deployment.ts";
import { openAccess } from "./support/access.ts";
import { compareWithLive } from "./support/compare-live.ts";
import { leavePullPod } from "./support/leave-pull-pod.ts";
import { readDocumentedRights } from "./support/documented-rights.ts";
import { listAllRights } from "./support/list-rights.ts";
import { startLoad } from "./support/load.ts";
import { checkAuditTrail } from "./support/check-audit-trail.ts";
import { attackPod, checkHasNoToken } from "./support/attack-pod.ts";
import { CONFINED, readConfinement } from "./support/read-confinement.ts";
import { openProcedure } from "./support/procedure.ts";
import { patientPackage, testPackage } from "./support/package.ts";

const missing = await findDeploymentSkipReason();
const image = process.env["SWATH_IMAGE"] ?? "";
/** As the simple wrapper deploys: everything, open, without TLS. */
const VARIABLES = {
  OPEN_INGRESS: "true",
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "true",
  IDENTITY_SERVICE_TEST_USERS: "true",
  STAGEOUT_TARGET: "objstore",
};
const json = { "content-type": "application/json", accept: "application/json" };

let deployment: Deployment;
const { readObject, takeToken } = openAccess(() => deployment);
const { send, bucketOf, deployPackage, execute, ended } = openProcedure(() => deployment);
const readResult = async (job: string) =>
  readObject(await bucketOf(job), `processing-results/${job}/${job}/made/made.txt`);

before(async () => {
  if (missing === undefined) {
    deployment = await openDeployment(VARIABLES);
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    process.stdout.write(`${/Ready after.*/.exec(stdout)?.[0]}\n`);
  }
});
after(() => (process.env["SWATH_TEST_KEEP_DEPLOYMENT"] === undefined ? deployment?.close() : deployment?.leave()));

const check = (title: string, run: (t: TestContext) => Promise<void>) => test(title, { skip: missing ?? false }, run);

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
  assert.match((await deployment.swath("logs", "identity", "--tail", "10000", NAME)).stdout, /listening/);
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

check("every live object is what was rendered, field by field", async () => {
  const { compared, differences } = await compareWithLive(await deployment.template());
  assert.deepEqual(differences, []);
  assert.ok(compared > 60, String(compared));
});

check("the quick procedure: list, deploy, details, execute, status, result, list of jobs", async () => {
  const listed = await send("/eric/wps3/processes");
  assert.equal(listed.status, 200, listed.text);
  await deployPackage(testPackage(image));
  const details = await send("/eric/wps3/processes/write-item");
  assert.deepEqual(Object.keys(details.json().inputs), ["title"]);
  const location = await execute("write-item", "made on a cluster");
  const job = await ended(location);
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

check("the audit trail is verified through the API server; a missing line is found", () => checkAuditTrail(deployment));

check("each service account may do what docs/how-to/kubernetes.md says and nothing else", async () => {
  const documented = readDocumentedRights("ws-eric");
  assert.ok(Object.keys(documented).length >= 15, "the table is read");
  assert.deepEqual(await listAllRights(NAME, "ws-eric"), documented);
});

check("a hub that was taken over gets into no namespace but those of workspaces", async (t) => {
  const as = "--as=system:serviceaccount:proc:application-hub";
  const binding = ["create", "rolebinding", "taken", "--clusterrole=swath-proc-application-hub-own-namespaces"];
  const bind = await kubectl([...binding, "--serviceaccount=proc:application-hub", "-n", "kube-system", as]);
  assert.match(bind.stderr, /cannot create resource "rolebindings"/);
  const label = await kubectl(["label", "namespace", "kube-system", "swath.io/workspace=kube-system", as]);
  assert.match(label.stderr, /cannot patch resource "namespaces"/);
  // It may make namespaces, and choose their labels.
  const labels = { "swath.io/workspace": "ws-taken", "swath.io/deployment": NAME };
  const make = (more: object) =>
    kubectl(
      ["create", "-f", "-", as],
      JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "ws-taken", labels: more } }),
    );
  t.after(() => kubectl(["delete", "namespace", "ws-taken", "--wait=false", "--ignore-not-found"]));
  const made = await make({ ...labels, "pod-security.kubernetes.io/enforce": "privileged" });
  assert.equal(made.status, 0, made.stderr);
  await waitUntil("the binder says that it gave no rights", async () =>
    /ws-taken.*enforce is not restricted/.test((await deployment.swath("logs", "namespace-binder", NAME)).stdout),
  );
  const privileged = await kubectl(["auth", "can-i", "create", "pods", "-n", "ws-taken", as]);
  assert.equal(privileged.stdout.trim(), "no");
});

check("a job outlives the end of every component's pod and of the kubelet, and its step runs once", async (t) => {
  await deployPackage(patientPackage(image));
  const location = await execute("wait-for-it", "patient");
  const job = location.split("/").at(-1) ?? "";
  const readStep = async () => {
    const text = await mustKubectl(["get", "pods", "-n", "zoo", "-l", `swath.io/job=${job}`, "-o", "json"]);
    const { items } = JSON.parse(text) as {
      items: {
        metadata: { name: string; uid: string };
        spec: { containers: { name: string }[] };
        status: { phase?: string };
      }[];
    };
    return items;
  };
  const step = await waitUntil(
    "the step's pod runs",
    async () => (await readStep()).find(({ status }) => status.phase === "Running"),
    180,
  );
  const tool = step.spec.containers[0]?.name ?? "";
  assert.deepEqual(await readConfinement("zoo", step.metadata.name, tool), CONFINED);
  await attackPod("zoo", step.metadata.name, tool);
  await checkHasNoToken("zoo", step.metadata.name, tool);
  for (const namespace of ["zoo", "storage", "rm", "um", "demo"]) {
    const selector = "app.kubernetes.io/managed-by=swath";
    await mustKubectl(["delete", "pod", "-n", namespace, "-l", selector, "--grace-period=0", "--force"]);
  }
  await waitUntil("all pods are ready again", async () => (await deployment.swath("pods", NAME)).status === 0, 400);
  await killKubelet(t);
  assert.deepEqual(
    (await readStep()).map(({ metadata }) => metadata.uid),
    [step.metadata.uid],
    "the same pod as before",
  );
  assert.equal((await send(location)).json().status, "running");
  const touch = ["node", "-e", "require('fs').writeFileSync('go', '')"];
  await mustKubectl(["exec", "-n", "zoo", step.metadata.name, "--", ...touch]);
  const done = await ended(location);
  assert.equal(done.status, "successful", done.message);
  assert.match(await readResult(job), /^began 1 times$/);
  const logs = await send(`/eric/ogc-api/jobs/${job}/logs`);
  assert.match(logs.text, /joined the pod/);
  await waitUntil("the step's pod is gone", async () => (await readStep()).length === 0, 60);
});

/** Ends the node's kubelet, where a command is known that starts another one, which has to take all pods over as they are. */
async function killKubelet(t: TestContext): Promise<void> {
  const file = "/var/tmp/test-kubernetes/kubelet.pid";
  const start = process.env["SWATH_TEST_CLUSTER_START"];
  if (start === undefined || !existsSync(file)) {
    t.diagnostic("the kubelet was left alone: SWATH_TEST_CLUSTER_START names no command that starts it again");
    return;
  }
  const pods = await readPodNames();
  const kubelet = Number(readFileSync(file, "utf8"));
  process.kill(kubelet, "SIGKILL");
  // Services go on: what carries requests to pods is not the kubelet.
  const path = ["-o", "jsonpath={.spec.clusterIP}"];
  const address = await mustKubectl(["get", "service", "-n", "um", "dummy-service", ...path]);
  const url = `http://${address}:8080/`;
  const { status, stdout } = await runCommand("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", url]);
  assert.deepEqual([status, stdout], [0, "200"]);
  await waitUntil("the killed one is gone", () => !existsSync(`/proc/${kubelet}`));
  assert.equal(spawnSync("sh", ["-c", start], { stdio: "ignore" }).status, 0);
  assert.notEqual(Number(readFileSync(file, "utf8")), kubelet, "another kubelet");
  await waitUntil("all pods are ready", async () => (await deployment.swath("pods", NAME)).status === 0, 240);
  assert.deepEqual(await readPodNames(), pods);
}

check("portal and console of the object storage: page, script, the way to the login", async () => {
  for (const [host, login] of [
    ["portal", "/auth/login"],
    ["objstore-console", "/api/login"],
  ] as const) {
    const page = await deployment.send(host, "/");
    assert.equal(page.status, 200, page.text);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    const script = /<script type="module"[^>]+src="([^"]+\.js)"/.exec(page.text)?.[1] ?? "";
    const program = await deployment.send(host, new URL(script, `http://${host}/`).pathname);
    assert.equal(program.status, 200, script);
    assert.match(String(program.headers["content-type"]), /javascript/);
    assert.ok(program.text.length > 1000);
    // A kubelet that has just begun finds its pods ready once more, one by one; until then the identity service may be away.
    const redirect = await waitUntil(`${host}${login} leads to the login`, async () => {
      const response = await deployment.send(host, login);
      const isOnItsWay = String(response.headers["location"]).includes(`//identity.${DOMAIN}`);
      return [302, 303].includes(response.status) && isOnItsWay ? response : undefined;
    });
    const target = new URL(String(redirect.headers["location"]));
    assert.equal(target.host, `identity.${DOMAIN}`);
    assert.equal(target.searchParams.get("response_type"), "code");
    const form = await deployment.send("identity", target.pathname + target.search);
    assert.ok([200, 302, 303].includes(form.status), form.text);
  }
});

check("two applies at once: they wait for whoever is at work, and take over from one that died", async () => {
  const died = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "swath-apply", namespace: "swath" },
    spec: { holderIdentity: "somebody@elsewhere", leaseDurationSeconds: 15 },
  };
  await applyObjects([died]);
  const earlier = await readPodNames();
  const both = await Promise.all([deployment.apply(), deployment.apply()]);
  for (const { status, stdout, stderr } of both) {
    assert.equal(status, 0, stdout + stderr);
    assert.match(stderr, /waiting for the deployment lock held by somebody@elsewhere/);
  }
  assert.deepEqual(await readPodNames(), earlier);
  assert.equal(await readLeases(), "", "none is left");
});

check("an apply that is interrupted keeps nobody waiting", async () => {
  const interrupt = new AbortController();
  const applying = deployment.apply({}, interrupt.signal);
  await waitUntil("it has the right to change the deployment", async () => (await readLeases()) !== "");
  interrupt.abort();
  await applying;
  assert.equal(await readLeases(), "");
  const { status, stdout, stderr } = await deployment.apply();
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stderr, /waiting/);
});

/** Who has the right to change the deployment at present. */
const readLeases = () => mustKubectl(["get", "leases", "-n", "swath", "-o", "name"]);

check("X-Auth-* fields of a client reach nobody, though the ingress controller passes them on", async (t) => {
  const load = await startLoad(t, image, []);
  const claims = { "x-auth-username": "admin", "x-auth-roles": "admin" };
  const url = "http://dummy-service.um.svc.cluster.local:8080/x";
  const text = await load.send(url, { ...claims, host: `dummy-service-open.${DOMAIN}`, "x-other": "kept" });
  assert.match(text, /x-other/i);
  assert.doesNotMatch(text, /x-auth/i);
});

check("a changed setting rolls only what it affects, and no request fails", async (t) => {
  const pods = await readPodNames();
  const load = await startLoad(t, image, [
    { url: "http://dummy-service.um.svc.cluster.local:8080/x", host: `dummy-service.${DOMAIN}` },
    {
      url: "http://identity.um.svc.cluster.local:8080/realms/master/.well-known/openid-configuration",
      host: `identity.${DOMAIN}`,
    },
    { url: "http://gatekeeper.um.svc.cluster.local:3000/docs/", host: `identity-api.${DOMAIN}` },
    { url: "http://portal.demo.svc.cluster.local:8080/", host: `portal.${DOMAIN}` },
  ]);
  const { status, stdout, stderr } = await deployment.apply({
    IDENTITY_GATEKEEPER_ENCRYPTION_KEY: "another-key-of-cookies",
  });
  assert.equal(status, 0, stdout + stderr);
  const present = await readPodNames();
  const changed = Object.keys(present).filter((name) => present[name] !== pods[name]);
  // The portal shows administrators where each setting comes from.
  assert.deepEqual(changed.toSorted(), ["gatekeeper", "portal"]);
  const restarted = await deployment.swath("restart", "identity", NAME);
  assert.equal(restarted.status, 0, restarted.stderr);
  await mustKubectl(["rollout", "status", "-n", "um", "deployment/identity", "--timeout=180s"]);
  const { sent, failures } = await load.stop();
  process.stdout.write(`${sent} requests while pods were replaced\n`);
  assert.deepEqual(failures, []);
  assert.ok(sent > 50, String(sent));
});

check("protection turned on: open hosts go, protected ones lead to the gatekeeper", async () => {
  const { status, stdout, stderr } = await deployment.apply({ OPEN_INGRESS: "false" });
  assert.equal(status, 0, stdout + stderr);
  const { stdout: urls } = await deployment.swath("urls", NAME);
  assert.doesNotMatch(urls, /-open/);
  assert.equal(await mustKubectl(["get", "ingress", "-A", "-o", "name"]).then((text) => /-open/.test(text)), false);
  assert.equal((await deployment.send("ades", "/eric/wps3/processes")).status, 401);
  const token = await takeToken();
  const asAdmin = await deployment.send("ades", "/admin/wps3/processes", {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.ok([200, 403].includes(asAdmin.status), asAdmin.text);
});

check("an image that cannot be pulled is explained and stops nothing, and a mended setting heals it", async () => {
  const { status, stderr } = await deployment.apply({ PROCESSING_ZOO_IMAGE: "swath.invalid/none:1" });
  assert.match(stderr, /ERROR: pod zoo\/ades-image is not ready: (ErrImagePull|ImagePullBackOff): .*swath\.invalid/);
  const isReady = ["-o", "jsonpath={.status.containerStatuses[0].ready}"];
  assert.deepEqual([status, await mustKubectl(["get", "pod", "ades-0", "-n", "zoo", ...isReady])], [1, "true"]);
  const left = await leavePullPod("ades", "zoo", "swath.invalid/none:1");
  assert.equal((await deployment.apply()).status, 0);
  assert.equal((await kubectl(left)).status, 1);
});

check(
  "backup while it runs; delete keeps volumes and secrets alone, clean nothing; after restore all is there, old tokens stay good",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "swath-backup-"));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const token = await takeToken();
    const jobs = (await send("/eric/wps3/jobs")).json().jobs as { jobID: string; processID: string }[];
    const made = jobs.find(({ processID }) => processID === "write-item")?.jobID ?? "";
    const readMade = () => readResult(made);
    assert.equal(await readMade(), "made on a cluster");
    const file = join(folder, "backup.tar.zst");
    const backup = await deployment.swath("backup", NAME, "-o", file);
    assert.equal(backup.status, 0, backup.stdout + backup.stderr);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const refused = await deployment.swath("restore", file);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /nothing was changed: .* something is deployed/);

    await kubectl(["create", "configmap", "somebody-elses", "-n", "default"]);
    const deleted = await deployment.swath("deploy", "delete", NAME);
    assert.equal(deleted.status, 0, deleted.stdout + deleted.stderr);
    assert.match(deleted.stdout, /volumes and generated secrets are kept in proc, rm, storage, swath, zoo/);
    const left = Object.keys(await readVersions()).filter((name) => !/^(Namespace|PersistentVolumeClaim) /.test(name));
    assert.deepEqual(left, ["Secret swath/swath-generated-secrets"]);
    assert.equal((await deployment.swath("pods", NAME)).stdout.includes("no pods"), true);
    assert.equal((await deployment.swath("clean", NAME, "--yes")).status, 0);
    assert.deepEqual(await readVersions(), {});
    await mustKubectl(["delete", "configmap", "somebody-elses", "-n", "default"]);
    const short = join(folder, "short.tar.zst");
    writeFileSync(short, readFileSync(file).subarray(0, statSync(file).size >> 1));
    const spoiled = await deployment.swath("restore", short);
    assert.equal(spoiled.status, 1);
    assert.match(spoiled.stderr, /nothing was changed: .*not whole/);
    assert.deepEqual(await readVersions(), {});

    const restored = await deployment.restore(file);
    assert.equal(restored.status, 0, restored.stdout + restored.stderr);
    assert.equal(await readMade(), "made on a cluster");
    assert.deepEqual((await send("/eric/wps3/jobs")).json().jobs, jobs);
    const headers = { authorization: `Bearer ${token}` };
    const user = await deployment.send("identity", "/realms/master/protocol/openid-connect/userinfo", { headers });
    assert.equal(user.status, 200, user.text);
    const workspace = await deployment.send("workspace-api", "/workspaces/ws-eric", { headers });
    assert.equal(workspace.status, 200, workspace.text);
  },
);
