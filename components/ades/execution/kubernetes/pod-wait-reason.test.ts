import assert from "node:assert/strict";
import { test } from "node:test";

import type { JobSpec } from "@swath/cwl";

import { explainEnd, explainWait } from "./pod-wait-reason.ts";
import type { Pod, PodState } from "./pod-types.ts";

const job = {
  name: "crop",
  command: ["crop"],
  cores: 8,
  ramMiB: 512,
  ramLimitMiB: 512,
  stdin: undefined,
  stdout: undefined,
  stderr: undefined,
} as unknown as JobSpec;
const timeouts = { room: 60, start: 30 };
const pod = (status: PodState): Pod => ({
  metadata: { name: "p", uid: "u", resourceVersion: "1", creationTimestamp: "" },
  status,
});
const ended = (terminated: object, more: PodState = {}): Pod =>
  pod({ phase: "Failed", containerStatuses: [{ name: "tool", state: { terminated: terminated as never } }], ...more });
const waits = (reason: string, message = ""): Pod =>
  pod({ phase: "Pending", containerStatuses: [{ name: "tool", state: { waiting: { reason, message } } }] });

test("a tool that ended by itself needs no explanation", () => {
  assert.equal(explainEnd(ended({ exitCode: 3, reason: "Error" }), job, ""), undefined);
  assert.equal(explainEnd(ended({ exitCode: 0, reason: "Completed" }), job, ""), undefined);
});

test("memory, eviction, a lost node and a command that is not there are told in words", () => {
  const oom = explainEnd(ended({ exitCode: 137, reason: "OOMKilled" }), job, "last");
  assert.equal(oom?.code, "process-failed");
  assert.match(oom?.message ?? "", /used more memory than its limit of 512 MiB .* ramMin/);
  assert.equal(oom?.logTail, "last");
  const evicted = explainEnd(pod({ phase: "Failed", reason: "Evicted", message: "low on memory" }), job, "");
  assert.equal(evicted?.code, "infrastructure");
  assert.match(evicted?.message ?? "", /node ran short/);
  const disk = "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.";
  const filled = explainEnd(pod({ phase: "Failed", reason: "Evicted", message: disk }), job, "");
  assert.equal(filled?.code, "process-failed");
  assert.equal(explainEnd(pod({ phase: "Failed", reason: "NodeLost" }), job, "")?.code, "infrastructure");
  const missing = explainEnd(
    ended({ exitCode: 128, reason: "StartError", message: 'exec: "crop": executable file not found in $PATH' }),
    job,
    "",
  );
  assert.match(missing?.message ?? "", /"crop" was not found in its image/);
  assert.equal(missing?.exitCode, 127);
});

test("a pod that a queue holds back waits for as long as that takes", () => {
  const conditions = [{ type: "PodScheduled", status: "False", reason: "SchedulingGated", message: "gates" }];
  const gated = pod({ phase: "Pending", conditions });
  const labels = { "kueue.x-k8s.io/queue-name": "jobs" };
  const queued = { ...gated, metadata: { ...gated.metadata, labels } };
  const wait = explainWait(queued, job, "crop:1", timeouts);
  assert.equal(wait?.text, "waiting for its turn in the cluster's queue jobs");
  assert.equal(wait?.timeouts, Number.POSITIVE_INFINITY);
  const explained = explainWait(queued, job, "crop:1", timeouts, "LocalQueue jobs doesn't exist");
  assert.equal(explained?.text, "waiting for its turn in the cluster's queue jobs: LocalQueue jobs doesn't exist");
});

test("waiting for room names what is missing, and lasts as long as the operator says", () => {
  const message = "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.";
  const unschedulable = pod({
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
  });
  const wait = explainWait(unschedulable, job, "crop:1", timeouts);
  assert.equal(wait?.timeouts, 60);
  assert.match(wait?.text ?? "", /no node has enough free memory and processor cores; it asks for 8 cores and 512 MiB/);
  assert.equal(wait?.error("").code, "infrastructure");
});

test("an image that cannot be pulled is tried again for a while, a wrong name not at all", () => {
  const wait = explainWait(waits("ErrImagePull", "not found"), job, "crop:1", timeouts);
  assert.match(
    wait?.error("manifest unknown").message ?? "",
    /crop:1 cannot be pulled: manifest unknown.*DockerRequirement/,
  );
  assert.equal(wait?.timeouts, 30);
  assert.equal(explainWait(waits("InvalidImageName"), job, "Crop", timeouts)?.timeouts, 0);
  assert.equal(explainWait(waits("ContainerCreating"), job, "crop:1", timeouts), undefined);
});

test("what ended with a pod that was deleted is no fault of the tool", () => {
  const deleted = (exitCode: number): Pod => {
    const state = ended({ exitCode, reason: "Error" });
    return { ...state, metadata: { ...state.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  };
  assert.equal(explainEnd(deleted(137), job, "")?.code, "infrastructure");
  assert.equal(explainEnd(deleted(143), job, "")?.code, "infrastructure");
  assert.equal(explainEnd(deleted(1), job, ""), undefined, "its own exit");
});

test("a pod that the cluster ends says why, and whether something more important came", () => {
  const disrupted = (type: string, reason: string, message: string, exitCode: number): Pod =>
    ended({ exitCode, reason: "Error" }, { conditions: [{ type, status: "True", reason, message }] });
  // As Kueue 0.19 and Kubernetes 1.36 set them.
  const byKueue = disrupted(
    "TerminationTarget",
    "WorkloadEvictedDueToPreempted",
    "Preempted to accommodate a workload",
    143,
  );
  const preempted = explainEnd(byKueue, job, "");
  assert.equal(
    preempted?.message,
    "crop: its pod was preempted (WorkloadEvictedDueToPreempted): Preempted to accommodate a workload",
  );
  assert.deepEqual([preempted?.code, preempted?.isPreempted], ["infrastructure", true]);
  const drained = explainEnd(
    disrupted("DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting", 1),
    job,
    "",
  );
  assert.match(drained?.message ?? "", /was ended by the cluster \(EvictionByEvictionAPI\): Eviction API: evicting/);
  assert.deepEqual([drained?.code, drained?.isPreempted], ["infrastructure", false]);
  assert.equal(
    explainEnd(disrupted("DisruptionTarget", "PreemptionByScheduler", "", 0), job, ""),
    undefined,
    "it was done",
  );
});

test("inputs that cannot be brought are no fault of the tool", () => {
  const fetching = (state: object): PodState => ({
    phase: "Pending",
    initContainerStatuses: [{ name: "fetch", state: state as never }],
    containerStatuses: [{ name: "tool", state: { waiting: { reason: "PodInitializing" } } }],
  });
  assert.equal(explainWait(pod(fetching({ running: { startedAt: "" } })), job, "crop:1", timeouts), undefined);
  const wait = explainWait(
    pod(fetching({ waiting: { reason: "ErrImagePull", message: "no such image" } })),
    job,
    "crop:1",
    timeouts,
  );
  assert.match(wait?.text ?? "", /brings its inputs cannot be started \(ErrImagePull\): no such image/);
  assert.equal(wait?.error("").code, "infrastructure");
  const failed = {
    ...fetching({ terminated: { exitCode: 1, message: "the blob agent responds 404" } }),
    phase: "Failed",
  };
  const end = explainEnd(pod(failed as PodState), job, "");
  assert.equal(end?.code, "infrastructure");
  assert.match(end?.message ?? "", /inputs could not be brought to its node: the blob agent responds 404/);
});
