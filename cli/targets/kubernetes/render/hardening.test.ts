// What the restricted Pod Security Standard asks, checked on every pod of the real components, since not every cluster enforces it.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubernetesObject } from "@swath/kubernetes";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
const SETTINGS: readonly Record<string, string>[] = [
  { REQUIRE_DUMMY_SERVICE: "true" },
  { REQUIRE_DUMMY_SERVICE: "true", OPEN_INGRESS: "true", USE_TLS: "false", SERVICE_REPLICAS: "3" },
  { PLATFORM_VARIANT: "B", REQUIRE_DUMMY_SERVICE: "true" },
];

const render = (env: Record<string, string>) => {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...env },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts,
  });
  return renderPlan(createPlan(config, components));
};

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const podOf = (object: KubernetesObject): any => (object as any).spec?.template?.spec;
const isWorkload = ({ kind }: KubernetesObject) => ["Deployment", "StatefulSet", "Job"].includes(kind);
const volumeTypes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

for (const settings of SETTINGS) {
  test(`restricted: every pod of ${JSON.stringify(settings)}`, () => {
    const objects = render(settings).filter(isWorkload);
    assert.ok(objects.length > 2);
    for (const object of objects) {
      const pod = podOf(object);
      const { name } = object.metadata;
      for (const field of ["hostNetwork", "hostPID", "hostIPC"]) {
        assert.ok(!pod[field], `${name} ${field}`);
      }
      assert.equal(pod.securityContext.runAsNonRoot, true, name);
      assert.ok(pod.securityContext.runAsUser > 0, name);
      assert.equal(pod.securityContext.seccompProfile.type, "RuntimeDefault", name);
      for (const volume of pod.volumes ?? []) {
        const types = Object.keys(volume).filter((key) => key !== "name");
        assert.ok(
          types.every((type) => volumeTypes.includes(type)),
          `${name} ${types.join()}`,
        );
      }
      for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
        const context = container.securityContext;
        assert.equal(context.allowPrivilegeEscalation, false, name);
        assert.deepEqual(context.capabilities, { drop: ["ALL"] }, name);
        assert.ok(!context.privileged && context.readOnlyRootFilesystem, name);
        assert.ok(container.resources.requests.cpu && container.resources.requests.memory, name);
        assert.ok(container.resources.limits.memory, name);
        for (const port of container.ports ?? []) {
          assert.equal(port.hostPort, undefined, name);
        }
      }
    }
  });

  test(`every namespace of pods enforces it and starts with no network: ${JSON.stringify(settings)}`, () => {
    const objects = render(settings);
    const namespaces = new Set(objects.filter(isWorkload).map(({ metadata }) => metadata.namespace));
    for (const name of namespaces) {
      const namespace = objects.find((object) => object.kind === "Namespace" && object.metadata.name === name);
      assert.equal(namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"], "restricted", name);
      const deny = objects.find(
        ({ kind, metadata }) =>
          kind === "NetworkPolicy" && metadata.namespace === name && metadata.name === "default-deny",
      );
      assert.ok(deny, name);
      assert.deepEqual((deny["spec"] as { policyTypes: string[] }).policyTypes, ["Ingress", "Egress"], name);
    }
  });
}

test("only programs that ask for rights have an account's token, and no right is a wildcard", () => {
  const objects = render({});
  for (const object of objects.filter(isWorkload)) {
    const pod = podOf(object);
    assert.equal(pod.automountServiceAccountToken, pod.serviceAccountName !== undefined, object.metadata.name);
  }
  const rules = objects.filter(({ kind }) => kind.endsWith("Role")).flatMap((role) => role["rules"]);
  assert.ok(!JSON.stringify(rules).includes('"*"'));
});

test("no secret that was given is in a command, an argument, a ConfigMap or a plain variable", () => {
  const secrets = {
    IDENTITY_SERVICE_DEFAULT_SECRET: "secret-one-of-tests",
    OBJSTORE_ROOT_PASSWORD: "secret-two-of-tests",
    IDENTITY_GATEKEEPER_ENCRYPTION_KEY: "secret-three-of-tests",
    IDENTITY_POSTGRES_PASSWORD: "secret-four-of-tests",
  };
  const text = JSON.stringify(render(secrets).filter(({ kind }) => kind !== "Secret"));
  assert.doesNotMatch(text, /secret-\w+-of-tests/);
});
