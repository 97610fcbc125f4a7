// The table of rights in docs/how-to/kubernetes.md is what is rendered. On a cluster, deployment.kubernetes.test.ts asks the API server.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubernetesObject } from "@swath/kubernetes";

import { resolveConfig } from "../../cli/config/resolve.ts";
import { components } from "../../cli/platform/components.ts";
import { createPlan } from "../../cli/platform/plan.ts";
import { renderPlan } from "../../cli/targets/kubernetes/render/render-plan.ts";
import { type Rights, readDocumentedRights, toRights } from "./support/documented-rights.ts";

const WORKSPACE = "ws-eric";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

test("the documented rights of service accounts are those that are rendered", () => {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", OPEN_INGRESS: "true", REQUIRE_DUMMY_SERVICE: "true" },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true },
  });
  const objects = renderPlan({ ...createPlan(config, components), cluster: { minor: 20 } });
  const accounts = objects.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata);
  const rendered: Record<string, Rights> = {};
  for (const { name, namespace = "" } of accounts) {
    for (const where of ["kube-system", namespace, WORKSPACE]) {
      rendered[`${namespace}:${name} in ${where}`] = toRights([
        ...listBound(objects, { name, namespace }, where),
        // The namespace binder makes this binding.
        ...(where === WORKSPACE ? textsOf(objects, "ClusterRole", `swath-${namespace}-${name}-own-namespaces`) : []),
      ]);
    }
  }
  assert.deepEqual(rendered, readDocumentedRights(WORKSPACE));
});

function listBound(
  objects: readonly KubernetesObject[],
  account: { readonly name: string; readonly namespace: string },
  where: string,
): readonly string[] {
  return objects
    .filter(
      ({ kind, metadata }) => kind === "ClusterRoleBinding" || (kind === "RoleBinding" && metadata.namespace === where),
    )
    .filter((object) =>
      (object["subjects"] as { name: string; namespace: string }[]).some(
        ({ name, namespace }) => name === account.name && namespace === account.namespace,
      ),
    )
    .flatMap((object) => {
      const { kind, name } = object["roleRef"] as { kind: string; name: string };
      return textsOf(objects, kind, name, kind === "Role" ? where : undefined);
    });
}

function textsOf(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
  namespace?: string,
): readonly string[] {
  const role = objects.find(
    (each) => each.kind === kind && each.metadata.name === name && each.metadata.namespace === namespace,
  );
  return ((role?.["rules"] ?? []) as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames = [] }) =>
    apiGroups.flatMap((group) =>
      resources.map((resource) =>
        [group === "" ? resource : `${resource}.${group}`, ...verbs, ...resourceNames].join(" "),
      ),
    ),
  );
}
