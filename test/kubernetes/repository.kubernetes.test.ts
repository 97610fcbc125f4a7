// A deployment that is kept in a repository: what template prints, applied by kubectl, taken over by apply, then upgraded under load.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { applyObjects, kubectl, mustKubectl } from "@swath/testing/kubernetes";

import {
  DOMAIN,
  type Deployment,
  NAME,
  openDeployment,
  readPodNames,
  findDeploymentSkipReason,
} from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { openAccess } from "./support/access.ts";
import { startLoad } from "./support/load.ts";

const missing = whyLeftOut() ?? (await findDeploymentSkipReason());
const skip = missing ?? false;
const image = process.env["SWATH_IMAGE"] ?? "";
/** The same image by another name, as a new version would have. */
const next = process.env["SWATH_NEXT_IMAGE"];
const OFF = ["APPLICATION_HUB", "RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "REGISTRY", "PORTAL"];
const CONTROLLERS = ["get", "deployments,statefulsets", "-A", "-l", `swath.io/deployment=${NAME}`];
const APPLY = ["--server-side", "--force-conflicts", "--field-manager=swath", "-f", "-"];

let deployment: Deployment;
const { takeToken } = openAccess(() => deployment);

before(async () => {
  if (missing === undefined) {
    deployment = await openDeployment({
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      REQUIRE_DUMMY_SERVICE: "true",
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
  }
});
after(() => deployment?.close());

test("template, applied by kubectl with Secrets that were made apart, runs", { skip }, async () => {
  await mustKubectl(["apply", ...APPLY], await deployment.template("--secrets", "only"));
  await mustKubectl(["apply", ...APPLY], await deployment.template("--secrets", "none"));
  const path = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.namespace}{"\\n"}{end}';
  const controllers = (await mustKubectl([...CONTROLLERS, "-o", `jsonpath=${path}`])).trim().split("\n");
  assert.ok(controllers.length > 6, controllers.join());
  for (const line of controllers) {
    const [controller = "", namespace = ""] = line.split(" ");
    await mustKubectl(["rollout", "status", controller.toLowerCase(), "-n", namespace, "--timeout=400s"]);
  }
});

test("apply takes it over and restarts nothing; passwords are those that were made", { skip }, async () => {
  const pods = await readPodNames();
  const { status, stdout, stderr } = await deployment.apply();
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(await readPodNames(), pods);
  assert.match(await takeToken(), /^ey/);
});

test("kubectl diff finds nothing", { skip }, async () => {
  const server = await kubectl(["diff", ...APPLY], await deployment.template("--secrets", "none"));
  assert.deepEqual([server.status, server.stdout], [0, ""], server.stderr);
  const client = await kubectl(["diff", "-f", "-"], await deployment.template());
  assert.deepEqual([client.status, client.stdout], [0, ""], client.stderr);
});

test("replicas are left alone where an autoscaler decides on them", { skip }, async (t) => {
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "dummy-service" };
  const metadata = { name: "somebodys-own", namespace: "um" };
  t.after(() => kubectl(["delete", "horizontalpodautoscaler", metadata.name, "-n", metadata.namespace]));
  await applyObjects([
    {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { scaleTargetRef: target, minReplicas: 2, maxReplicas: 3 },
    },
  ]);
  await mustKubectl(["scale", "-n", "um", "deployment/dummy-service", "--replicas=2"]);
  const { status, stderr } = await deployment.apply();
  assert.equal(status, 0, stderr);
  const path = "jsonpath={.spec.replicas}";
  assert.equal(await mustKubectl(["get", "deployment", "dummy-service", "-n", "um", "-o", path]), "2");
});

test(
  "a second object storage refuses the volume, a second processing service joins; apply brings both back to one",
  { skip },
  async () => {
    await mustKubectl(["scale", "statefulset", "objstore", "-n", "rm", "--replicas=2"]);
    await mustKubectl(["scale", "statefulset", "ades", "-n", "zoo", "--replicas=2"]);
    await waitUntil("the second object storage says why it does not start", async () => {
      const logs = await Promise.all(
        [[], ["--previous"]].map((more) => kubectl(["logs", "-n", "rm", "objstore-1", ...more])),
      );
      return logs.some(({ stdout }) => stdout.includes("Another process has the volume"));
    });
    await mustKubectl(["rollout", "status", "statefulset/ades", "-n", "zoo", "--timeout=400s"]);
    assert.equal((await deployment.send("objstore", "/")).status, 403, "the first one serves");
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    for (const [name, namespace] of [
      ["objstore-1", "rm"],
      ["ades-1", "zoo"],
    ] as const) {
      await mustKubectl(["wait", "--for=delete", `pod/${name}`, "-n", namespace, "--timeout=120s"]);
    }
  },
);

const noNext = next === undefined ? "SWATH_NEXT_IMAGE names no second image that the cluster has" : false;

test(
  "a new image under load: no request to what has no data of its own fails, PostgreSQL stays",
  { skip: missing ?? noNext },
  async (t) => {
    const earlier = await readPodNames();
    const own = (service: string, url: string) => ({ url, host: `${service}.${DOMAIN}` });
    const owners = ["objstore", "ades-open"].map((service) => `${service}.${DOMAIN}`);
    const load = await startLoad(t, image, [
      own("dummy-service-open", "http://dummy-service.um.svc.cluster.local:8080/x"),
      own("identity", "http://identity.um.svc.cluster.local:8080/realms/master/protocol/openid-connect/certs"),
      own("identity-api", "http://gatekeeper.um.svc.cluster.local:3000/docs/"),
      own("workspace-api-open", "http://workspace-api.rm.svc.cluster.local:8080/probe"),
      own("objstore", "http://objstore.rm.svc.cluster.local:9000/"),
      own("ades-open", "http://ades.zoo.svc.cluster.local:8080/eric/wps3/processes"),
    ]);
    const { status, stdout, stderr } = await deployment.apply({ SWATH_IMAGE: next ?? "" });
    assert.equal(status, 0, stdout + stderr);
    const { sent, failures, gaps } = await load.stop();
    const present = await readPodNames();
    const same = Object.keys(present).filter((name) => present[name] === earlier[name]);
    // What owns a volume keeps its pod, and its container alone is started again.
    assert.deepEqual(same.toSorted(), ["ades", "objstore", "postgres"]);
    assert.deepEqual(await readImages(["ades", "objstore"]), [next, next]);
    process.stdout.write(`${sent} requests during an upgrade; milliseconds of failures: ${JSON.stringify(gaps)}\n`);
    assert.deepEqual(
      failures.filter((failure) => !owners.some((host) => failure.startsWith(host))),
      [],
    );
    assert.ok(sent > 100, String(sent));
    // What was kept is kept by the next apply too.
    const again = await deployment.apply({ SWATH_IMAGE: next ?? "" });
    assert.equal(again.status, 0, again.stderr);
    assert.deepEqual(await readPodNames(), present);
  },
);

/** The images of the pods of workloads, as they were named. */
async function readImages(workloads: readonly string[]): Promise<readonly string[]> {
  const path = "jsonpath={.items[*].spec.containers[0].image}";
  return Promise.all(
    workloads.map((name) => mustKubectl(["get", "pods", "-A", "-l", `app.kubernetes.io/name=${name}`, "-o", path])),
  );
}
