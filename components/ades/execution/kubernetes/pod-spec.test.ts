import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { JobSpec } from "@swath/cwl";

import { digestOf } from "./invocation.ts";
import { explainEnd } from "./pod-wait-reason.ts";
import { type FileTransfer, type PodContext, createPodManifest } from "./pod-spec.ts";
import { type Pod, hasEnded } from "./pod-types.ts";

const root = mkdtempSync(join(tmpdir(), "swath-pod-spec-"));
after(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function createJob(change: Partial<JobSpec> = {}): JobSpec {
  count += 1;
  const work = join(root, "jobs", "j", "journal", "work", String(count));
  const scratch = join(root, `scratch-${count}`);
  mkdirSync(`${work}.stage`, { recursive: true });
  mkdirSync(work);
  mkdirSync(scratch);
  return {
    id: `swath-1f9ddc18-0c11-4f0d-8a3a-0f2d5f0f8f11-${count}`,
    name: "crop",
    command: ["crop", "a b", "$(HOME)", "$$"],
    environment: { HOME: "/var/spool/cwl", PRICE: "$$5" },
    outdir: { host: work, seen: "/var/spool/cwl" },
    tmpdir: { host: scratch, seen: "/tmp" },
    mounts: [],
    stdin: undefined,
    stdout: undefined,
    stderr: undefined,
    container: {
      image: "crop:1",
      required: true,
      pull: "crop:1",
      load: undefined,
      import: undefined,
      dockerfile: undefined,
      gpus: 0,
    },
    network: false,
    cores: 2,
    ramMiB: 512,
    ramLimitMiB: 1024,
    timeLimitSeconds: 0,
    ...change,
  };
}

const podContext: PodContext = {
  namespace: "zoo",
  claim: "ades",
  volumeRoot: root,
  beside: { "app.kubernetes.io/name": "ades" },
  user: { uid: 10_001, gid: 10_001 },
  placement: {},
  pullSecrets: ["registry"],
  cpuPercent: 50,
  maxRamMiB: 4096,
  labels: { "swath.io/job": "j" },
  owner: { apiVersion: "apps/v1", kind: "StatefulSet", name: "ades", uid: "u" },
};

// oxlint-disable-next-line typescript/no-explicit-any -- manifests are looked into freely
const render = (job: JobSpec, more: Partial<PodContext> = {}): any =>
  createPodManifest(job, { ...podContext, ...more }, { name: "p", annotations: { a: "b" } });

test("a pod passes the restricted standard, has no account and goes away with its service", () => {
  const { metadata, spec } = render(createJob());
  const [tool] = spec.containers;
  assert.equal(spec.automountServiceAccountToken, false);
  assert.equal(spec.enableServiceLinks, false);
  assert.equal(spec.restartPolicy, "Never");
  assert.deepEqual(spec.securityContext, {
    runAsNonRoot: true,
    runAsUser: 10_001,
    runAsGroup: 10_001,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assert.deepEqual(tool.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  assert.deepEqual(metadata.ownerReferences, [podContext.owner]);
  assert.deepEqual(spec.imagePullSecrets, [{ name: "registry" }]);
});

test("a pod has the resources that the tool asks for, and the network only on request", () => {
  const { metadata, spec } = render(createJob());
  assert.deepEqual(spec.containers[0].resources, {
    requests: { cpu: "1000m", memory: "512Mi" },
    limits: { cpu: "2000m", memory: "1024Mi" },
  });
  assert.equal(metadata.labels["swath.io/tool-network"], "none");
  const modest = render(createJob({ ramMiB: 0, ramLimitMiB: 0, cores: 0.5, network: true }));
  assert.deepEqual(modest.spec.containers[0].resources, {
    requests: { cpu: "250m", memory: "256Mi" },
    limits: { cpu: "1000m", memory: "4096Mi" },
  });
  assert.equal(modest.metadata.labels["swath.io/tool-network"], "open");
});

test("dollars reach the tool as they are", () => {
  const [tool] = render(createJob()).spec.containers;
  assert.deepEqual(tool.args, ["crop", "a b", "$$(HOME)", "$$$$"]);
  assert.deepEqual(tool.env.at(-1), { name: "PRICE", value: "$$$$5" });
});

test("redirected streams are opened by a shell that becomes the command", () => {
  const job = createJob();
  const input = join(root, "in.txt");
  writeFileSync(input, "");
  const [tool] = render({
    ...job,
    command: ["sort", "-r"],
    mounts: [{ source: input, target: "/var/lib/cwl/0/it's.txt", writable: false }],
    stdin: input,
    stdout: `${job.outdir.host}/out.txt`,
    stderr: `${job.outdir.host}/out.txt`,
  }).spec.containers;
  assert.deepEqual(tool.args, [
    "/bin/sh",
    "-c",
    `exec "$$@" <'/var/lib/cwl/0/it'\\''s.txt' >'/var/spool/cwl/out.txt' 2>&1`,
    "sh",
    "sort",
    "-r",
  ]);
});

test("only the job's own parts of the volume are mounted, inputs read-only; nothing else can be", () => {
  const input = join(root, "scene.tif");
  writeFileSync(input, "");
  const job = createJob({ mounts: [{ source: input, target: "/var/lib/cwl/0/scene.tif", writable: false }] });
  const [tool] = render(job).spec.containers;
  assert.deepEqual(tool.volumeMounts, [
    {
      name: "job",
      mountPath: "/var/spool/cwl",
      subPath: `jobs/j/journal/work/${job.id.split("-").at(-1)}`,
      readOnly: false,
    },
    { name: "job", mountPath: "/tmp", subPath: `scratch-${job.id.split("-").at(-1)}`, readOnly: false },
    { name: "job", mountPath: "/var/lib/cwl/0/scene.tif", subPath: "scene.tif", readOnly: true },
  ]);
  const outside = createJob({ mounts: [{ source: "/etc/passwd", target: "/x", writable: false }] });
  assert.throws(() => render(outside), /not in the volume/);
});

test("tools without an image get the default one, images cannot be built", () => {
  const plain = createJob({ container: undefined });
  assert.throws(() => render(plain), /names no container image/);
  assert.equal(render(plain, { defaultImage: "base:1" }).spec.containers[0].image, "base:1");
  const { container } = createJob();
  assert.ok(container);
  const built = createJob({ container: { ...container, dockerfile: "FROM x" } });
  assert.throws(() => render(built), /not built or loaded/);
});

test("the digest of an invocation does not depend on its directories, but on all else", () => {
  const withLiteral = (text: string) => {
    const job = createJob();
    const source = join(`${job.outdir.host}.stage`, "params.txt");
    writeFileSync(source, text);
    writeFileSync(join(job.outdir.host, "script.sh"), "echo");
    return { ...job, mounts: [{ source, target: "/var/lib/cwl/0/params.txt", writable: false }] };
  };
  const first = digestOf(withLiteral("a"), "crop:1");
  assert.equal(digestOf(withLiteral("a"), "crop:1"), first);
  assert.notEqual(digestOf(withLiteral("b"), "crop:1"), first);
  assert.notEqual(digestOf(withLiteral("a"), "crop:2"), first);
  assert.notEqual(digestOf({ ...withLiteral("a"), command: ["crop"] }, "crop:1"), first);
  const inPlace = createJob({ mounts: [{ source: root, target: "/x", writable: true }] });
  assert.equal(digestOf(inPlace, "crop:1"), undefined);
});

test("images of the platform's registry are asked for anew on every node, with the job's secret", () => {
  const context = { pullSecrets: ["ades-pull-j"], platformRegistry: "registry.example.org" };
  const podOf = (pull: string) => {
    const { container } = createJob();
    return render(createJob({ container: container && { ...container, image: pull, pull } }), context).spec;
  };
  const own = podOf("registry.example.org/eric/tools@sha256:1");
  assert.deepEqual(own.imagePullSecrets, [{ name: "ades-pull-j" }]);
  assert.equal(own.containers[0].imagePullPolicy, "Always");
  assert.equal(podOf("registry.example.org.evil.org/eric/tools:1").containers[0].imagePullPolicy, "IfNotPresent");
});

const transfer: FileTransfer = {
  files: {
    secretName: "ades-files-j",
    ensureSecret: async () => {},
    send: async () => 0,
    receive: async () => 0,
  },
  image: "swath:1",
  agentUrl: "http://ades-blobs.zoo.svc:8090",
  job: "j",
  maxDiskMiB: 2048,
};

test("a pod whose files go through the object storage mounts no claim, and the tool sees neither token nor agent", () => {
  const input = join(root, "scene-2.tif");
  writeFileSync(input, "");
  const job = createJob({
    mounts: [{ source: input, target: "/var/lib/cwl/0/scene.tif", writable: false }],
    outdirLimitMiB: 10,
  });
  const { metadata, spec } = render(job, { transfer });
  assert.equal(metadata.annotations["swath.io/files"], "object-store");
  assert.deepEqual(spec.volumes, [
    { name: "outdir", emptyDir: { sizeLimit: "10Mi" } },
    { name: "tmpdir", emptyDir: { sizeLimit: "2048Mi" } },
    { name: "inputs", emptyDir: { sizeLimit: "2048Mi" } },
    { name: "files-token", secret: { secretName: "ades-files-j" } },
  ]);
  const [tool, collect] = spec.containers;
  const [fetch] = spec.initContainers;
  assert.deepEqual(tool.volumeMounts, [
    { name: "outdir", mountPath: "/var/spool/cwl", subPath: "data", readOnly: false },
    { name: "tmpdir", mountPath: "/tmp", subPath: "data", readOnly: false },
    { name: "inputs", mountPath: "/var/lib/cwl/0/scene.tif", subPath: "0", readOnly: true },
  ]);
  assert.doesNotMatch(JSON.stringify(tool), /ades-blobs|files-token/);
  assert.equal(spec.shareProcessNamespace, undefined);
  for (const helper of [fetch, collect]) {
    assert.equal(helper.image, "swath:1");
    assert.deepEqual(helper.securityContext, tool.securityContext);
    assert.ok(helper.volumeMounts.some(({ name }: { name: string }) => name === "files-token"));
  }
  assert.ok(
    collect.volumeMounts.every(({ readOnly }: { readOnly: boolean }) => readOnly),
    "it changes nothing",
  );
  assert.ok(
    collect.env.some(
      ({ name, value }: { name: string; value: string }) => name === "STEP_COLLECT" && value === "outdir",
    ),
  );
  assert.doesNotMatch(JSON.stringify(spec), /persistentVolumeClaim/);
});

test("what a tool changes in place is brought back from the object storage", () => {
  const input = join(root, "updated.txt");
  writeFileSync(input, "");
  const job = createJob({ mounts: [{ source: input, target: "/var/lib/cwl/0/updated.txt", writable: true }] });
  const [, collect] = render(job, { transfer }).spec.containers;
  assert.ok(
    collect.env.some(
      ({ name, value }: { name: string; value: string }) => name === "STEP_COLLECT" && value === "outdir,inputs/0",
    ),
  );
});

test("pods run where the operator says, with that priority, and wait in that queue", () => {
  const dedicated = { key: "gpu", operator: "Exists" };
  const placement = { nodeSelector: { disk: "ssd" }, tolerations: [dedicated], priorityClass: "low", queue: "jobs" };
  const { metadata, spec } = render(createJob(), { placement });
  assert.equal(metadata.labels["kueue.x-k8s.io/queue-name"], "jobs");
  assert.deepEqual(
    [spec.nodeSelector, spec.tolerations, spec.priorityClassName],
    [{ disk: "ssd" }, [dedicated], "low"],
  );
  const ofLostNodes = render(createJob(), { transfer }).spec.tolerations;
  assert.equal(ofLostNodes.length, 2);
  assert.deepEqual(render(createJob(), { transfer, placement }).spec.tolerations, [...ofLostNodes, dedicated]);
  const plain = render(createJob());
  assert.equal(plain.metadata.labels["kueue.x-k8s.io/queue-name"], undefined);
  assert.deepEqual(
    [plain.spec.nodeSelector, plain.spec.tolerations, plain.spec.priorityClassName],
    Array(3).fill(undefined),
  );
});

test("a pod with containers of its own has ended when its outputs are stored", () => {
  const podOf = (tool: object, collect: object, phase = "Running") =>
    ({
      metadata: { annotations: { "swath.io/files": "object-store" } },
      status: {
        phase,
        containerStatuses: [
          { name: "tool", state: tool },
          { name: "collect", state: collect },
        ],
      },
    }) as unknown as Pod;
  const ended = (exitCode: number, message?: string) => ({ terminated: { exitCode, ...(message && { message }) } });
  const job = createJob();
  assert.equal(hasEnded(podOf(ended(0), { running: {} })), false);
  assert.equal(hasEnded(podOf(ended(0), ended(0))), true);
  assert.equal(explainEnd(podOf(ended(3), ended(0), "Failed"), job, ""), undefined);
  const failed = explainEnd(podOf(ended(0), ended(1, "the blob agent responds 503"), "Failed"), job, "");
  assert.equal(failed?.code, "infrastructure");
  assert.match(failed?.message ?? "", /outputs could not be stored: the blob agent responds 503/);
});
