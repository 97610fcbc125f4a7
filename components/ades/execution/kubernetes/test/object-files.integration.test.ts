// Tools as pods whose files go through an object storage: the same results, and nothing of the service's volume in the pods.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { openAccount } from "@swath/kubernetes/account";
import { type ClusterApi, openClusterApi } from "@swath/kubernetes/api";
import { waitUntil } from "@swath/testing";
import { kubectl, mustKubectl } from "@swath/testing/kubernetes";

import { hasStarted } from "../pod-types.ts";
import { type ObjectFiles, startObjectFiles, findObjectFilesSkipReason } from "./object-files.ts";
import { IMAGE, type PodFixture, USER, startPodFixture, findPodsSkipReason } from "./pod-fixture.ts";
import type { PodRun, PodRunResult } from "./run-tool.ts";

const skip = (await findPodsSkipReason()) ?? findObjectFilesSkipReason() ?? false;
/** Seconds for a pod on a machine that has much to do. */
const TIMEOUT = 300;
let fixture: PodFixture;
let api: ClusterApi;
let objects: { readonly files: ObjectFiles; readonly close: () => Promise<void> };
before(async () => {
  if (skip === false) {
    fixture = await startPodFixture();
    api = openClusterApi(openAccount(fixture.account, fixture.server));
    objects = await startObjectFiles(api);
  }
});
after(async () => {
  await objects?.close();
  await api?.close();
  await fixture?.close();
});

const toTool = (script: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    cwlVersion: "v1.2",
    class: "CommandLineTool",
    requirements: { DockerRequirement: { dockerPull: IMAGE } },
    inputs: {},
    baseCommand: ["sh", "-c", script],
    outputs: {},
    ...more,
  });

function start(job: string, document: string) {
  const { server, account, namespace, claim, volume } = fixture;
  const { files } = objects;
  const run: PodRun = { server, account, namespace, claim, volume, user: USER, document, inputs: {}, job, files };
  const child = spawn(process.execPath, [join(import.meta.dirname, "run-tool.ts"), JSON.stringify(run)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = { child, text: "" };
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (output.text += piece));
  return output;
}

async function endOf(running: { readonly child: ChildProcess; readonly text: string }): Promise<PodRunResult> {
  if (running.child.exitCode === null && running.child.signalCode === null) {
    await once(running.child, "close");
  }
  const last = running.text.trimEnd().split("\n").at(-1) ?? "";
  assert.match(last, /^\{/, running.text);
  return JSON.parse(last) as PodRunResult;
}

function pathOf(end: PodRunResult, name: string): string {
  const file = end.outputs?.[name] as { readonly location: string } | undefined;
  assert.ok(file, `no output ${name}: ${end.message}`);
  return fileURLToPath(file.location);
}

const podsOf = async (job: string) =>
  (await fixture.pods()).filter(({ metadata }) => metadata.labels?.["swath.io/job"] === job);
const untilBegun = (job: string) =>
  waitUntil(`the tool of ${job} runs`, async () => (await podsOf(job)).find((pod) => hasStarted(pod)), TIMEOUT);

test("streams, staged files and directories are as on a shared volume", { skip }, async () => {
  const document = toTool(
    'wc -c; id -u; mkdir -p made/empty; echo a >made/a; ln -s a made/link; mount | grep -c "/var/spool/cwl "',
    {
      requirements: {
        DockerRequirement: { dockerPull: IMAGE },
        InitialWorkDirRequirement: { listing: [{ entryname: "in.txt", entry: "eight by" }] },
      },
      stdin: "in.txt",
      stdout: "out.txt",
      outputs: {
        counted: { type: "File", outputBinding: { glob: "out.txt" } },
        made: { type: "Directory", outputBinding: { glob: "made" } },
      },
    },
  );
  const end = await endOf(start("plain", document));
  assert.deepEqual(readFileSync(pathOf(end, "counted"), "utf8").trim().split("\n"), ["8", String(USER), "1"]);
  assert.deepEqual(readdirSync(pathOf(end, "made")).sort(), ["a", "empty", "link"]);
  assert.deepEqual(await podsOf("plain"), []);
});

test("a pod that goes on alone stores its outputs, and the next attempt joins it", { skip }, async () => {
  const document = toTool("echo begun >>starts; while [ ! -e go ]; do sleep 0.2; done", {
    outputs: { starts: { type: "File", outputBinding: { glob: "starts" } } },
  });
  const first = start("killed", document);
  const pod = await untilBegun("killed");
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  await mustKubectl([
    "exec",
    "-n",
    fixture.namespace,
    pod.metadata.name,
    "-c",
    "tool",
    "--",
    "touch",
    "/var/spool/cwl/go",
  ]);
  const isOver = async () => (await podsOf("killed")).find(({ status }) => status?.phase === "Succeeded");
  await waitUntil("its outputs are stored", isOver, TIMEOUT);
  const again = start("killed", document);
  assert.equal(readFileSync(pathOf(await endOf(again), "starts"), "utf8"), "begun\n");
  assert.match(again.text, /joined the pod/);
  assert.deepEqual(await podsOf("killed"), []);
});

test(
  "a pod that is deleted, or cannot be ended because its node is lost, is no fault of the tool",
  { skip },
  async () => {
    const [deleted, lost] = [start("deleted", toTool("sleep 3000")), start("lost", toTool("trap '' TERM; sleep 3000"))];
    const [one, other] = [await untilBegun("deleted"), await untilBegun("lost")];
    // What a node that is gone leaves: a pod that was deleted and is there.
    const held = JSON.stringify({ metadata: { finalizers: ["swath.io/test"] } });
    await mustKubectl(["patch", "pod", other.metadata.name, "-n", fixture.namespace, "--type=merge", "-p", held]);
    for (const { metadata } of [one, other]) {
      await mustKubectl(["delete", "pod", metadata.name, "-n", fixture.namespace, "--wait=false"]);
    }
    try {
      for (const running of [deleted, lost]) {
        const { code, message } = await endOf(running);
        assert.equal(code, "infrastructure", message);
        assert.match(message ?? "", /its pod was deleted while it ran|its node was lost/);
      }
    } finally {
      const free = JSON.stringify({ metadata: { finalizers: null } });
      await kubectl(["patch", "pod", other.metadata.name, "-n", fixture.namespace, "--type=merge", "-p", free]);
    }
  },
);
