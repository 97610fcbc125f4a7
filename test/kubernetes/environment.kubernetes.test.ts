// Values of settings reach a program of a pod as they are, whatever a cluster makes of dollars and parentheses.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { applyObjects, createNamespace, mustKubectl } from "@swath/testing/kubernetes";

import { escapeReferences } from "../../cli/targets/kubernetes/render/environment.ts";
import { AWKWARD_VALUES } from "../../cli/targets/kubernetes/render/test/expand-references.ts";
import { findDeploymentSkipReason } from "./support/deployment.ts";

const missing = await findDeploymentSkipReason();
const NAMESPACE = "swath-test-environment";

test("every value goes through a real cluster unchanged", { skip: missing ?? false }, async () => {
  const namespace = await createNamespace(NAMESPACE);
  after(() => namespace.close());
  const env = [
    { name: "HOME", value: "/root" },
    { name: "A", value: "a" },
    ...Object.entries(AWKWARD_VALUES).map(([name, value]) => ({ name, value: escapeReferences(value) })),
  ];
  await applyObjects([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "print", namespace: NAMESPACE },
      spec: {
        restartPolicy: "Never",
        containers: [
          {
            name: "print",
            image: process.env["SWATH_IMAGE"],
            imagePullPolicy: "IfNotPresent",
            command: ["node", "-p", "JSON.stringify(process.env)"],
            env,
          },
        ],
      },
    },
  ]);
  await mustKubectl([
    "wait",
    "-n",
    NAMESPACE,
    "--for=jsonpath={.status.phase}=Succeeded",
    "pod/print",
    "--timeout=300s",
  ]);
  const seen = JSON.parse(await mustKubectl(["logs", "-n", NAMESPACE, "print"])) as Record<string, string>;
  for (const [name, value] of Object.entries(AWKWARD_VALUES)) {
    assert.equal(seen[name], value, name);
  }
});
