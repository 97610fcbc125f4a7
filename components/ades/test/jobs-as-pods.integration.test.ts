// Jobs of the service whose steps are pods of a real cluster: that of KUBECONFIG.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { mustKubectl } from "@swath/testing/kubernetes";

import { hasBegun } from "../execution/kubernetes/pod-types.ts";
import { IMAGE, type PodRig, startPodRig, whyNoPods } from "../execution/kubernetes/test/pod-rig.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const skip = (await whyNoPods()) ?? false;
let rig: PodRig;
let ades: TestAdes;
before(async () => {
  if (skip === false) {
    rig = await startPodRig();
    ades = await startAdes({
      dataFolder: rig.volume,
      env: {
        EXECUTOR: "pods",
        KUBERNETES_API: rig.server,
        KUBERNETES_ACCOUNT: rig.account,
        POD_VOLUME_CLAIM: rig.claim,
        POD_PLACEMENT: "anywhere",
        // The only node of a test has few cores, and others use them too.
        POD_CPU_PERCENT: "1",
        MAX_RAM_MIB: "256",
      },
    });
  }
});
after(async () => {
  await ades?.close();
  await rig?.close();
});

/** Says when it has begun and waits to be let go. */
const PATIENT = `echo begun >> $HOME/starts; while [ ! -e $HOME/go ]; do sleep 0.2; done; wc -l < $HOME/starts`;

async function execute(id: string): Promise<string> {
  const cwl = JSON.stringify({
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    "s:softwareVersion": "1.0.0",
    $graph: [
      {
        class: "Workflow",
        id,
        inputs: {},
        steps: { wait: { run: "#wait", in: {}, out: ["starts"] } },
        outputs: { starts: { type: "string", outputSource: "wait/starts" } },
      },
      {
        class: "CommandLineTool",
        id: "wait",
        requirements: { DockerRequirement: { dockerPull: IMAGE }, InlineJavascriptRequirement: {} },
        baseCommand: ["sh", "-c", PATIENT],
        stdout: "starts.txt",
        inputs: {},
        outputs: {
          starts: {
            type: "string",
            outputBinding: { glob: "starts.txt", loadContents: true, outputEval: "$(self[0].contents)" },
          },
        },
      },
    ],
  });
  const deployed = await ades.ask("/eric/ogc-api/processes", { text: cwl, type: "application/cwl" });
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  const started = await ades.ask(`/eric/ogc-api/processes/${id}/execution`, {
    json: { inputs: {} },
    headers: { prefer: "respond-async" },
  });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return String(started.body.jobID);
}

const podOf = async (job: string) =>
  (await rig.pods()).find(({ metadata }) => metadata.labels?.["swath.io/job"] === job);
const begun = (job: string) =>
  waitUntil(
    `the pod of ${job} runs`,
    async () => {
      const pod = await podOf(job);
      return pod !== undefined && hasBegun(pod) ? pod : undefined;
    },
    120,
  );

test("a step goes on in its pod while the service is stopped, killed and started again", { skip }, async () => {
  const job = await execute("patient");
  const pod = await begun(job);
  const { pid } = ades;
  process.kill(pid(), "SIGTERM");
  await waitUntil("the service has stopped", () => !isAlive(pid()));
  assert.equal((await podOf(job))?.metadata.uid, pod.metadata.uid);
  await ades.start();
  const joined = (times: number) =>
    waitUntil(
      `joined ${times} times`,
      async () => {
        const { body } = await ades.ask(`/eric/ogc-api/jobs/${job}/logs`);
        return JSON.stringify(body).split("joined the pod").length > times;
      },
      120,
    );
  await joined(1);
  await ades.kill();
  await ades.start();
  await joined(2);
  assert.equal((await podOf(job))?.metadata.uid, pod.metadata.uid);
  await mustKubectl(["exec", "-n", rig.namespace, pod.metadata.name, "--", "touch", "/var/spool/cwl/go"]);
  const ended = await ades.ended(`/eric/ogc-api/jobs/${job}`);
  assert.equal(ended.status, "successful", ended.message);
  const { body } = await ades.ask(`/eric/ogc-api/jobs/${job}/results`);
  assert.match(JSON.stringify(body), /"1\\n"/);
  await waitUntil("the pod is gone", async () => (await podOf(job)) === undefined);
});

test("dismissing a job ends its pod at once", { skip }, async () => {
  const job = await execute("unwanted");
  await begun(job);
  assert.equal((await ades.ask(`/eric/ogc-api/jobs/${job}`, { method: "DELETE" })).status, 200);
  await waitUntil("the pod is gone", async () => (await podOf(job)) === undefined);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
