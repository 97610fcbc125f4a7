// Jobs of the service whose steps are pods of a real cluster: that of KUBECONFIG.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { mustKubectl } from "@swath/testing/kubernetes";

import { hasStarted } from "../execution/kubernetes/pod-types.ts";
import {
  IMAGE,
  type PodFixture,
  startPodFixture,
  findPodsSkipReason,
} from "../execution/kubernetes/test/pod-fixture.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const skip = (await findPodsSkipReason()) ?? false;
let fixture: PodFixture;
let ades: TestAdes;
before(async () => {
  if (skip === false) {
    fixture = await startPodFixture();
    ades = await startAdes({
      dataFolder: fixture.volume,
      env: {
        EXECUTOR: "pods",
        KUBERNETES_API: fixture.server,
        KUBERNETES_ACCOUNT: fixture.account,
        POD_VOLUME_CLAIM: fixture.claim,
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
  await fixture?.close();
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
  const deployed = await ades.send("/eric/ogc-api/processes", { text: cwl, type: "application/cwl" });
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  const started = await ades.send(`/eric/ogc-api/processes/${id}/execution`, {
    json: { inputs: {} },
    headers: { prefer: "respond-async" },
  });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  return String(started.body.jobID);
}

const podOf = async (job: string) =>
  (await fixture.pods()).find(({ metadata }) => metadata.labels?.["swath.io/job"] === job);
const startedAt = (job: string) =>
  waitUntil(
    `the pod of ${job} runs`,
    async () => {
      const { body } = await ades.send(`/eric/ogc-api/jobs/${job}`);
      assert.ok(["accepted", "running"].includes(body.status), body.message);
      const pod = await podOf(job);
      return pod !== undefined && hasStarted(pod) ? pod : undefined;
    },
    120,
  );

test("a step goes on in its pod while the service is stopped, killed and started again", { skip }, async () => {
  const job = await execute("patient");
  const pod = await startedAt(job);
  const { pid } = ades;
  process.kill(pid(), "SIGTERM");
  await waitUntil("the service has stopped", () => !isAlive(pid()));
  assert.equal((await podOf(job))?.metadata.uid, pod.metadata.uid);
  await ades.start();
  const joined = (times: number) =>
    waitUntil(
      `joined ${times} times`,
      async () => {
        const { body } = await ades.send(`/eric/ogc-api/jobs/${job}/logs`);
        return JSON.stringify(body).split("joined the pod").length > times;
      },
      120,
    );
  await joined(1);
  await ades.kill();
  await ades.start();
  await joined(2);
  assert.equal((await podOf(job))?.metadata.uid, pod.metadata.uid);
  await mustKubectl(["exec", "-n", fixture.namespace, pod.metadata.name, "--", "touch", "/var/spool/cwl/go"]);
  const ended = await ades.ended(`/eric/ogc-api/jobs/${job}`);
  assert.equal(ended.status, "successful", ended.message);
  const { body } = await ades.send(`/eric/ogc-api/jobs/${job}/results`);
  assert.match(JSON.stringify(body), /"1\\n"/);
  await waitUntil("the pod is gone", async () => (await podOf(job)) === undefined);
});

test("dismissing a job ends its pod at once", { skip }, async () => {
  const job = await execute("unwanted");
  await startedAt(job);
  assert.equal((await ades.send(`/eric/ogc-api/jobs/${job}`, { method: "DELETE" })).status, 200);
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
