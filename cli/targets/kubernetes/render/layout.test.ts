import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubernetesObject } from "@swath/kubernetes";
import { parse } from "yaml";

import { LAYOUT_MARK, renderLayout } from "./layout.ts";

const objects: readonly KubernetesObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "um" } },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "x", namespace: "um" },
    data: { text: "{{ .Values.x }} and {{{" },
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "um", annotations: { own: "1" } },
    spec: {},
  },
];
const options = { name: "swath", version: "0.1.0", notes: "# a note\n" };

test("kustomize: each object is a file, listed in the order in which a cluster can take them", () => {
  const files = renderLayout("kustomize", objects, options);
  const main = files.get("kustomization.yaml") ?? "";
  assert.ok(main.startsWith(`${LAYOUT_MARK}# a note\n`));
  const { resources } = parse(main) as { resources: string[] };
  assert.deepEqual(resources, [
    "objects/cluster/namespace-um.yaml",
    "objects/um/configmap-x.yaml",
    "objects/um/persistentvolumeclaim-data.yaml",
  ]);
  assert.deepEqual([...files.keys()].toSorted(), [...resources, "kustomization.yaml"].toSorted());
  assert.deepEqual(parse(files.get("objects/um/configmap-x.yaml") ?? ""), objects[1]);
});

test("what holds data is not taken from the cluster with its file", () => {
  for (const layout of ["kustomize", "helm"] as const) {
    const files = renderLayout(layout, objects, options);
    const folder = layout === "helm" ? "templates" : "objects";
    const claim = parse(files.get(`${folder}/um/persistentvolumeclaim-data.yaml`) ?? "") as KubernetesObject;
    assert.deepEqual(claim.metadata.annotations, {
      own: "1",
      "argocd.argoproj.io/sync-options": "Prune=false",
      "helm.sh/resource-policy": "keep",
      "kustomize.toolkit.fluxcd.io/prune": "disabled",
    });
  }
});

test("helm: nothing in a value is taken for a template", () => {
  const files = renderLayout("helm", objects, options);
  const text = files.get("templates/um/configmap-x.yaml") ?? "";
  // As Go's templates print it.
  const printed = text.replaceAll('{{ "{{" }}', "{{");
  assert.deepEqual(parse(printed), objects[1]);
  assert.doesNotMatch(text.replaceAll('{{ "{{" }}', ""), /\{\{/);
  const chart = parse(files.get("Chart.yaml") ?? "") as Record<string, string>;
  assert.deepEqual([chart["apiVersion"], chart["name"], chart["version"]], ["v2", "swath", "0.1.0"]);
});
