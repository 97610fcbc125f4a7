import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

function render(env: Readonly<Record<string, string>>) {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...env },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true },
  });
  return renderPlan(createPlan(config, components));
}

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const find = (objects: ReturnType<typeof render>, kind: string, name: string): any =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

const STEP_PODS = {
  namespaceSelector: {},
  podSelector: { matchExpressions: [{ key: "swath.io/cwl-run", operator: "Exists" }] },
};

test("files of steps go by the volume unless the operator says otherwise", () => {
  const objects = render({});
  assert.equal(find(objects, "DaemonSet", "ades-blobs"), undefined);
  assert.doesNotMatch(JSON.stringify(find(objects, "StatefulSet", "ades")), /POD_FILES|STEP_FILES/);
  assert.equal(find(objects, "NetworkPolicy", "tools-without-network").spec.egress, undefined);
});

test("what the operator says of where pods of jobs run reaches the service", () => {
  const { env } = find(
    render({
      PROCESSING_NODE_SELECTOR: "disk=ssd",
      PROCESSING_TOLERATIONS: "nvidia.com/gpu:NoSchedule",
      PROCESSING_PRIORITY_CLASS: "jobs",
      PROCESSING_QUEUE: "eo",
    }),
    "StatefulSet",
    "ades",
  ).spec.template.spec.containers[0];
  const valueOf = (name: string) => env.find((each: { name: string }) => each.name === name)?.value;
  assert.deepEqual(["POD_NODE_SELECTOR", "POD_TOLERATIONS", "POD_PRIORITY_CLASS", "POD_QUEUE"].map(valueOf), [
    "disk=ssd",
    "nvidia.com/gpu:NoSchedule",
    "jobs",
    "eo",
  ]);
});

const peerOf = (name: string, namespace: string, ...ports: number[]) => ({
  pods: {
    namespaceSelector: { matchLabels: { "swath.io/namespace": namespace } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": name } },
  },
  ports: ports.map((port) => ({ port, protocol: "TCP" })),
});
const variablesOf = (objects: ReturnType<typeof render>, kind: string, name: string): readonly string[] =>
  find(objects, kind, name).spec.template.spec.containers[0].env.map((each: { name: string }) => each.name);

test("agents reach the object storage and the cluster's API, and nothing else", () => {
  const objects = render({ PROCESSING_STEP_FILES: "object-store" });
  const storage = peerOf("objstore", "rm", 9000, 9001);
  assert.deepEqual(find(objects, "NetworkPolicy", "allow-ades-blobs").spec.egress, [
    { to: [storage.pods], ports: storage.ports },
    { ports: [443, 6443, 8443].map((port) => ({ port, protocol: "TCP" })) },
  ]);
  const callers = find(objects, "NetworkPolicy", "allow-objstore").spec.ingress[0].from;
  assert.ok(
    callers.some((each: object) => JSON.stringify(each) === JSON.stringify(peerOf("ades-blobs", "zoo").pods)),
    JSON.stringify(callers),
  );
});

test("service and agents have keys of one bucket each, made by a task that is there before them", () => {
  const objects = render({ PROCESSING_STEP_FILES: "object-store" });
  const root = ["OBJSTORE_ROOT_PASSWORD", "OBJSTORE_ROOT_USER", "S3_ACCESS_KEY", "STEP_FILES_S3_ACCESS_KEY"];
  for (const [kind, name] of [
    ["DaemonSet", "ades-blobs"],
    ["StatefulSet", "ades"],
  ] as const) {
    const variables = variablesOf(objects, kind, name);
    assert.deepEqual(
      root.filter((each) => variables.includes(each)),
      [],
    );
  }
  const generated = (name: string) => find(objects, "Secret", name).metadata.annotations["swath.io/generate"];
  const [agents, service, task] = ["ades-blobs-settings", "ades-settings", "ades-buckets-settings"].map(generated);
  assert.match(agents, /"S3_SECRET_KEY":[^}]*ades-step-files-key/);
  assert.match(service, /"S3_SECRET_KEY":[^}]*ades-results-key/);
  assert.match(service, /"STEP_FILES_S3_SECRET_KEY":[^}]*ades-step-files-key/);
  assert.match(task, /"STEP_FILES_KEY":[^}]*ades-step-files-key/);
  assert.ok(variablesOf(render({}), "StatefulSet", "ades").includes("S3_ACCESS_KEY"));
});

test("agents reach an object storage of the operator's by the operator's key of the bucket", () => {
  const outside = {
    PROCESSING_STEP_FILES: "object-store",
    OBJSTORE_ENDPOINT: "https://s3.example.org",
    OBJSTORE_ROOT_USER: "everything",
    OBJSTORE_ROOT_PASSWORD: "everything-secret",
    PROCESSING_STEP_ACCESS_KEY: "steps",
    PROCESSING_STEP_SECRET_KEY: "steps-secret",
  };
  const objects = render(outside);
  const { env } = find(objects, "DaemonSet", "ades-blobs").spec.template.spec.containers[0];
  const valueOf = (name: string) => env.find((each: { name: string }) => each.name === name)?.value;
  assert.deepEqual([valueOf("S3_ENDPOINT"), valueOf("S3_ACCESS_KEY")], ["https://s3.example.org", "steps"]);
  assert.deepEqual(find(objects, "NetworkPolicy", "allow-ades-blobs").spec.egress, [{}]);
  assert.ok(!objects.some(({ metadata: { name } }) => name.startsWith("ades-buckets")));
});

test("where workspaces are in a cloud, files of steps are in the deployment's own object storage", () => {
  const { config } = resolveConfig({
    env: {
      REQUIRE_LOCALCLUSTER: "false",
      PLATFORM_VARIANT: "B",
      PROCESSING_STEP_FILES: "object-store",
      REQUIRE_BUCKET_OPERATOR: "true",
      REQUIRE_OBJSTORE: "true",
      STAGEOUT_TARGET: "workspace",
      CLOUD_S3_URL: "https://cloud.example.org",
      CLOUD_IDENTITY_URL: "https://identity.example.org",
      CLOUD_DOMAINNAME: "cloud",
    },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true },
  });
  const objects = renderPlan(createPlan(config, components));
  const { env } = find(objects, "DaemonSet", "ades-blobs").spec.template.spec.containers[0];
  assert.equal(env.find(({ name }: { name: string }) => name === "S3_ENDPOINT").value, "http://objstore.rm.svc:9000");
  const service = find(objects, "StatefulSet", "ades").spec.template.spec.containers[0].env;
  assert.equal(service.find(({ name }: { name: string }) => name === "S3_ENDPOINT").value, "https://cloud.example.org");
});

test("through the object storage each node has a blob agent, the only one that tools' pods reach", () => {
  const objects = render({
    PROCESSING_STEP_FILES: "object-store",
    POD_NODE_SELECTOR: "disk=ssd",
    SERVICE_REPLICAS: "2",
  });
  const { spec } = find(objects, "DaemonSet", "ades-blobs");
  assert.equal(spec.replicas, undefined);
  assert.equal(spec.template.spec.nodeSelector, undefined, "tools run on every node");
  assert.equal(spec.template.spec.securityContext.runAsNonRoot, true);
  assert.deepEqual(find(objects, "Role", "ades-blobs").rules, [
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  ]);
  const service = find(objects, "Service", "ades-blobs").spec;
  assert.equal(service.internalTrafficPolicy, "Local");
  assert.deepEqual(find(objects, "NetworkPolicy", "allow-ades-blobs").spec.ingress, [
    { from: [STEP_PODS], ports: [{ port: 8090, protocol: "TCP" }] },
  ]);
  const { egress } = find(objects, "NetworkPolicy", "tools-without-network").spec;
  assert.deepEqual(egress, [
    {
      to: [
        {
          namespaceSelector: { matchLabels: { "swath.io/namespace": "zoo" } },
          podSelector: { matchLabels: { "app.kubernetes.io/name": "ades-blobs" } },
        },
      ],
      ports: [{ port: 8090, protocol: "TCP" }],
    },
  ]);
  assert.equal(find(objects, "NetworkPolicy", "tools-with-network").spec.egress.length, 4);
  assert.equal(find(objects, "PodDisruptionBudget", "ades-blobs"), undefined);
  // The embedded cluster has no pods.
  assert.equal(
    find(render({ PROCESSING_STEP_FILES: "object-store", REQUIRE_LOCALCLUSTER: "true" }), "DaemonSet", "ades-blobs"),
    undefined,
  );
});
