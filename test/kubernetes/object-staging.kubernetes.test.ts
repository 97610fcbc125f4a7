// Steps of jobs on every node of a cluster whose storage only one node can mount: their files go through the object storage. On
// demand: it needs a cluster of three nodes, such as `cluster up --nodes 3` makes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { mustKubectl, findKubernetesSkipReason } from "@swath/testing/kubernetes";
import { loadBusybox, findImagesSkipReason } from "@swath/testing/kubernetes-images";

import { type Pod, hasStarted } from "../../components/ades/execution/kubernetes/pod-types.ts";
import { openAccess } from "./support/access.ts";
import { type Deployment, openDeployment, root, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { openProcedure } from "./support/procedure.ts";

/** Static busybox, for the tools. */
const TOOL_IMAGE = "localhost/swath-test-busybox:1";
const nodes =
  (await findKubernetesSkipReason()) === undefined
    ? (await mustKubectl(["get", "nodes", "-o", "name"])).trim().split("\n").length
    : 0;
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
const COMMON_BYTES = 30_000_000;
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
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
  }
});
after(() => (process.env["SWATH_TEST_KEEP_DEPLOYMENT"] === undefined ? deployment?.close() : deployment?.leave()));

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

const tool = (id: string, script: string, more: object) => ({
  class: "CommandLineTool",
  id,
  requirements: {
    DockerRequirement: { dockerPull: TOOL_IMAGE },
    InlineJavascriptRequirement: {},
    ResourceRequirement: { coresMin: 0.3, ramMin: 64 },
  },
  baseCommand: ["sh", "-c", script],
  ...more,
});
const document = (...graph: object[]) =>
  JSON.stringify({
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    "s:softwareVersion": "1.0.0",
    $graph: graph,
  });
const contents = (glob: string) => ({
  type: "string",
  outputBinding: { glob, loadContents: true, outputEval: "$(self[0].contents)" },
});

/** One step makes a large file with a secondary one and a directory, many read both, and one reads what all of those printed. */
const PIPELINE = document(
  {
    class: "Workflow",
    id: "pipeline",
    requirements: { ScatterFeatureRequirement: {} },
    inputs: { numbers: "int[]" },
    steps: {
      make: { run: "#make", in: {}, out: ["common", "tree"] },
      each: {
        run: "#each",
        scatter: "number",
        in: { number: "numbers", common: "make/common", tree: "make/tree" },
        out: ["printed"],
      },
      join: { run: "#join", in: { files: "each/printed" }, out: ["text"] },
    },
    outputs: { text: { type: "string", outputSource: "join/text" } },
  },
  tool(
    "make",
    `head -c ${COMMON_BYTES} /dev/urandom >common.bin; sha256sum <common.bin | cut -c1-64 >common.bin.sum
     mkdir -p tree/empty tree/sub; cp common.bin.sum tree/sub/; ln -s sub/common.bin.sum tree/link; printf run >tree/tool; chmod 755 tree/tool`,
    {
      inputs: {},
      outputs: {
        common: { type: "File", secondaryFiles: [".sum"], outputBinding: { glob: "common.bin" } },
        tree: { type: "Directory", outputBinding: { glob: "tree" } },
      },
    },
  ),
  tool(
    "each",
    `set -e; test "$(sha256sum <"$1" | cut -c1-64)" = "$(cat "$1.sum")"; cmp "$1.sum" "$2/link"; test -d "$2/empty"; test -x "$2/tool"
     if touch "$1" 2>/dev/null; then echo "an input can be written" >&2; exit 9; fi; sleep 2; echo "number $0"`,
    {
      inputs: {
        number: { type: "int", inputBinding: { position: 1 } },
        common: { type: "File", secondaryFiles: [".sum"], inputBinding: { position: 2 } },
        tree: { type: "Directory", inputBinding: { position: 3 } },
      },
      stdout: "printed.txt",
      outputs: { printed: { type: "stdout" } },
    },
  ),
  tool("join", 'cat "$0" "$@" | sort -k2n | tr "\\n" ";"', {
    inputs: { files: { type: "File[]", inputBinding: {} } },
    stdout: "all.txt",
    outputs: { text: contents("all.txt") },
  }),
);

/** Notes that it has begun, waits for a file, and says how often it has begun. */
const PATIENT = document(
  {
    class: "Workflow",
    id: "patient",
    inputs: {},
    steps: { wait: { run: "#wait", in: {}, out: ["starts"] } },
    outputs: { starts: { type: "string", outputSource: "wait/starts" } },
  },
  tool("wait", "echo begun >>starts; while [ ! -e go ]; do sleep 0.2; done; wc -l <starts >count", {
    inputs: {},
    outputs: { starts: contents("count") },
  }),
);

/** Looks for what the containers beside it have, and asks the agent without it. */
const HOSTILE_PROGRAM = `
const { existsSync, readdirSync, writeFileSync } = require("node:fs");
const { hostname } = require("node:os");
const base = "http://ades-blobs.zoo.svc:8090";
const paths = ["/jobs/job/steps/" + hostname() + "/inputs", "/jobs/job/blobs/" + "0".repeat(64), "/"];
Promise.all(paths.map(async (path) => (await fetch(base + path)).status)).then((statuses) => {
  const processes = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).length;
  const variables = Object.keys(process.env).filter((name) => name.startsWith("STEP_")).join() || "none";
  const found = ["secrets=" + existsSync("/var/run/secrets/swath.io"), "step=" + existsSync("/step"), "variables=" + variables];
  writeFileSync("seen", [statuses.join(), "processes=" + processes, ...found].join(" "));
});
`;
const HOSTILE = document(
  {
    class: "Workflow",
    id: "hostile",
    inputs: {},
    steps: { look: { run: "#look", in: {}, out: ["seen"] } },
    outputs: { seen: { type: "string", outputSource: "look/seen" } },
  },
  {
    ...tool("look", "", { inputs: {}, outputs: { seen: contents("seen") } }),
    requirements: {
      DockerRequirement: { dockerPull: process.env["SWATH_IMAGE"] ?? "" },
      InlineJavascriptRequirement: {},
      ResourceRequirement: { coresMin: 0.3, ramMin: 256 },
    },
    baseCommand: ["node", "-e", HOSTILE_PROGRAM],
  },
);

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
    await deployPackage(PATIENT);
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

test("a tool has no token, sees no other container, and the agent gives it nothing", { skip }, async () => {
  await deployPackage(HOSTILE);
  const text = await resultOf(await start("hostile"));
  assert.match(text, /401,401,401/);
  assert.match(text, /processes=1 secrets=false step=false variables=none/);
});
