// Steps of jobs on every node of a cluster whose storage only one node can mount: their files go through the object storage. On
// demand: it needs a cluster of three nodes, such as `cluster up --nodes 3` makes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { mustKubectl, findKubernetesSkipReason } from "@swath/testing/kubernetes";
import { loadBusybox, setNodePower, findImagesSkipReason } from "@swath/testing/kubernetes-images";

import { type Pod, hasStarted } from "../../components/ades/execution/kubernetes/pod-types.ts";
import { openAccess } from "./support/access.ts";
import { NAME, type Deployment, openDeployment, root, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { openProcedure } from "./support/procedure.ts";
import { COMMON_BYTES, HOSTILE, PATIENT, PATIENT_SCATTER, PIPELINE, TOOL_IMAGE } from "./support/step-packages.ts";

const nodeNames =
  (await findKubernetesSkipReason()) === undefined
    ? (await mustKubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"])).trim().split(" ").sort()
    : [];
const nodes = nodeNames.length;
/** Has nothing of the platform but its agent, so that steps alone are lost with it. */
const victim = nodeNames.at(-1) ?? "";
const missing =
  whyLeftOut() ??
  (await findDeploymentSkipReason()) ??
  findImagesSkipReason(root) ??
  (nodes < 3 ? "the cluster has fewer than three nodes" : undefined);
const skip = missing ?? false;
const OFF = [
  "IDENTITY_SERVICE",
  "APPLICATION_HUB",
  "RESOURCE_CATALOGUE",
  "DATA_ACCESS",
  "REGISTRATION_API",
  "REGISTRY",
  "PORTAL",
  "WORKSPACE_API",
  "ADES_PROTECTION",
];
const WIDTH = 12;

let deployment: Deployment;
const { send, deployPackage } = openProcedure(() => deployment);
const { readObject } = openAccess(() => deployment);
before(async () => {
  if (missing === undefined) {
    await loadBusybox(root, TOOL_IMAGE);
    deployment = await openDeployment({
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      STAGEOUT_TARGET: "objstore",
      PROCESSING_STEP_FILES: "object-store",
      PROCESSING_MAX_DISK: "2Gi",
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
    await mustKubectl(["cordon", victim]);
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    await mustKubectl(["uncordon", victim]);
  }
});
after(async () => {
  if (missing === undefined) {
    await mustKubectl(["uncordon", victim]);
  }
  await (process.env["SWATH_TEST_KEEP_DEPLOYMENT"] === undefined ? deployment?.close() : deployment?.leave());
});

const listPods = async (selector: string) =>
  (
    JSON.parse(await mustKubectl(["get", "pods", "-n", "zoo", "-l", selector, "-o", "json"])) as {
      items: readonly Pod[];
    }
  ).items;
const stepPods = () => listPods("swath.io/cwl-run");

async function start(process: string, inputs: object = {}): Promise<string> {
  const path = `/eric/wps3/processes/${process}/execution`;
  const started = await send(path, { inputs, response: "raw" }, { prefer: "respond-async" });
  assert.equal(started.status, 201, started.text);
  return String(started.headers["location"]);
}

async function resultOf(location: string): Promise<string> {
  // Three nodes on one machine may take a minute for each container.
  const { status, message } = await waitUntil(
    "the job has ended",
    async () => {
      const response = await send(location);
      const found = response.status === 200 ? (response.json() as { status: string; message?: string }) : undefined;
      return found !== undefined && ["successful", "failed"].includes(found.status) ? found : undefined;
    },
    900,
  );
  assert.equal(status, "successful", message);
  return (await send(`${location.replace("/wps3/", "/ogc-api/")}/results`)).text;
}

let patient: Promise<void> | undefined;
/** For several tests, of which each may run alone. */
const deployPatient = () => (patient ??= deployPackage(PATIENT));
const untilBegun = (job: string, not?: string) =>
  waitUntil(
    "the step's tool runs",
    async () =>
      (await listPods(`swath.io/job=${job}`)).find(
        (pod) => hasStarted(pod) && pod.metadata.uid !== not && pod.metadata.deletionTimestamp === undefined,
      ),
    600,
  );
const execute = (pod: Pod, ...command: string[]) =>
  mustKubectl(["exec", "-n", "zoo", pod.metadata.name, "-c", "tool", "--", ...command]);
const jobOf = (location: string) => location.split("/").at(-1) ?? "";

/** Bytes that each agent has fetched from the object storage. */
async function readFetched(): Promise<ReadonlyMap<string, number>> {
  const agents = await listPods("app.kubernetes.io/name=ades-blobs");
  const read = async ({ metadata }: Pod) => {
    const path = `/api/v1/namespaces/zoo/pods/${metadata.name}:9090/proxy/metrics`;
    const metrics = await mustKubectl(["get", "--raw", path]);
    const bytes = /^processing_blob_fetched_bytes_total (\S+)$/m.exec(metrics)?.[1];
    return [metadata.name, Number(bytes)] as const;
  };
  return new Map(await Promise.all(agents.map(read)));
}

test("a scatter runs on every node, and a common input comes to each once", { skip }, async () => {
  await deployPackage(PIPELINE);
  const fetchedBefore = await readFetched();
  const location = await start("pipeline", { numbers: Array.from({ length: WIDTH }, (_, index) => index) });
  const places = new Map<string, string>();
  const watching = setInterval(() => {
    void stepPods()
      .then((pods) => pods.forEach(({ metadata, spec }) => spec?.nodeName && places.set(metadata.name, spec.nodeName)))
      .catch(() => {});
  }, 500);
  const text = await resultOf(location).finally(() => clearInterval(watching));
  assert.match(text, /number 0;number 1;number 2;.*number 11;/);
  assert.equal(new Set(places.values()).size, nodes, JSON.stringify([...places]));
  const claims = await mustKubectl(["get", "pvc", "ades", "-n", "zoo", "-o", "jsonpath={.spec.accessModes[*]}"]);
  assert.equal(claims, "ReadWriteOnce");
  const fetchedAfter = await readFetched();
  assert.equal(fetchedAfter.size, nodes);
  for (const [agent, bytes] of fetchedAfter) {
    const fetched = bytes - (fetchedBefore.get(agent) ?? 0);
    process.stdout.write(`${agent} fetched ${fetched} bytes\n`);
    assert.ok(fetched >= COMMON_BYTES && fetched < 2 * COMMON_BYTES, "the common input came once");
  }
});

test("nothing is left of a job that has ended", { skip }, async () => {
  await waitUntil(
    "its blobs are removed",
    async () => !/<Key>/.test(await readObject("processing-steps", "?list-type=2")),
    60,
  );
  assert.doesNotMatch(await mustKubectl(["get", "secrets", "-n", "zoo", "-o", "name"]), /ades-files-/);
  assert.deepEqual(await stepPods(), []);
});

test(
  "a step outlives the service and is joined again, and the loss of its pod repeats the step alone",
  { skip },
  async () => {
    await deployPatient();
    const location = await start("patient");
    const pod = await untilBegun(jobOf(location));
    await mustKubectl(["delete", "pod", "ades-0", "-n", "zoo", "--grace-period=0", "--force"]);
    await execute(pod, "touch", "/var/spool/cwl/go");
    assert.match(await resultOf(location), /1/);

    const second = await start("patient");
    const lost = await untilBegun(jobOf(second));
    await mustKubectl(["delete", "pod", lost.metadata.name, "-n", "zoo", "--grace-period=0", "--force"]);
    const again = await untilBegun(jobOf(second), lost.metadata.uid);
    await execute(again, "touch", "/var/spool/cwl/go");
    assert.match(await resultOf(second), /1/);
  },
);

const readSecret = (workload: string, entry: string) =>
  mustKubectl(["get", "secret", `${workload}-settings`, "-n", "zoo", "-o", `jsonpath={.data.${entry}}`]);

test("keys are changed while a step runs, whose outputs are stored by the new ones", { skip }, async () => {
  const keys = () =>
    Promise.all([readSecret("ades-blobs", "S3_SECRET_KEY"), readSecret("ades-blobs", "STEP_FILES_SECRET")]);
  const old = await keys();
  await deployPatient();
  const location = await start("patient");
  const pod = await untilBegun(jobOf(location));
  const { status, stdout, stderr } = await deployment.swath("credentials", "rotate", "services", NAME);
  assert.equal(status, 0, stdout + stderr);
  const changed = await keys();
  changed.forEach((key, index) => assert.notEqual(key, old[index]));
  await execute(pod, "touch", "/var/spool/cwl/go");
  assert.match(await resultOf(location), /1/, "it began once");
});

test("the loss of a node repeats what was lost with it, and nothing else", { skip, timeout: 1_200_000 }, async (t) => {
  const numbers = [0, 1, 2, 3, 4, 5];
  await deployPackage(PATIENT_SCATTER);
  const location = await start("patient-scatter", { numbers });
  const findBegun = async (isWanted: (pod: Pod) => boolean = () => true) =>
    (await listPods(`swath.io/job=${jobOf(location)}`)).filter(
      (pod) => hasStarted(pod) && pod.metadata.deletionTimestamp === undefined && isWanted(pod),
    );
  const untilAll = (isWanted?: (pod: Pod) => boolean) =>
    waitUntil(
      "every step's tool runs",
      async () => {
        const begun = await findBegun(isWanted);
        return begun.length === numbers.length ? begun : undefined;
      },
      600,
    );
  const first = await untilAll();
  const lost = first.filter(({ spec }) => spec?.nodeName === victim);
  t.diagnostic(`${lost.length} of ${first.length} steps are on ${victim}`);
  assert.ok(lost.length > 0 && lost.length < first.length, "some steps are there, and some are elsewhere");
  await setNodePower(root, victim, "fail");
  try {
    const second = await untilAll(({ spec }) => spec?.nodeName !== victim);
    const uids = (pods: readonly Pod[]) => new Set(pods.map(({ metadata }) => metadata.uid));
    const kept = uids(first.filter((pod) => !lost.includes(pod)));
    assert.ok(
      [...kept].every((uid) => uids(second).has(uid)),
      "steps elsewhere go on",
    );
    for (const pod of second) {
      await execute(pod, "touch", "/var/spool/cwl/go");
    }
    assert.match(await resultOf(location), /0;1;2;3;4;5;/, "each begins once in what is kept of it");
  } finally {
    await setNodePower(root, victim, "recover");
  }
});

test("a tool has no token, sees no other container, and the agent gives it nothing", { skip }, async () => {
  await deployPackage(HOSTILE);
  const text = await resultOf(await start("hostile"));
  assert.match(text, /401,401,401/);
  assert.match(text, /processes=1 secrets=false step=false variables=none/);
});
