// What is installed from charts, with a helm that only records: its releases come before what needs them and go after it.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { kubectl, mustKubectl } from "@swath/testing/kubernetes";

import { NAME, openDeployment, readVersions, whyNoDeployment } from "./support/deployment.ts";

const missing = await whyNoDeployment();

/** Components that have nothing to do with it. */
const OTHERS = [
  "IDENTITY_SERVICE",
  "ADES",
  "APPLICATION_HUB",
  "RESOURCE_CATALOGUE",
  "DATA_ACCESS",
  "REGISTRATION_API",
  "WORKSPACE_API",
  "REGISTRY",
  "PORTAL",
  "OBJSTORE",
];

/** The kind that the certificate manager's chart brings. */
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "clusterissuers.cert-manager.io" },
  spec: {
    group: "cert-manager.io",
    scope: "Cluster",
    names: {
      kind: "ClusterIssuer",
      listKind: "ClusterIssuerList",
      plural: "clusterissuers",
      singular: "clusterissuer",
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

test(
  "charts and issuers are installed before the rest and go with the deployment",
  { skip: missing ?? false },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "swath-charts-"));
    const calls = join(folder, "calls");
    writeFileSync(join(folder, "definition.json"), JSON.stringify(DEFINITION));
    writeFileSync(
      join(folder, "helm"),
      `#!/bin/sh
echo "$*" >>${calls}
cat >/dev/null
case "$1 $3" in
  "upgrade cert-manager")
    kubectl apply -f ${folder}/definition.json && kubectl wait --for=condition=established crd/clusterissuers.cert-manager.io ;;
esac
`,
    );
    chmodSync(join(folder, "helm"), 0o755);
    const deployment = await openDeployment({
      PATH: `${folder}:${process.env["PATH"]}`,
      USE_TLS: "true",
      REQUIRE_SEALED_SECRETS: "true",
      REQUIRE_STORAGE: "false",
      REQUIRE_DUMMY_SERVICE: "true",
      REQUIRE_DUMMY_SERVICE_PROTECTION: "false",
      OPEN_INGRESS: "true",
      ...Object.fromEntries(
        [
          ...["IDENTITY_SERVICE", "ADES", "APPLICATION_HUB", "RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API"],
          ...["WORKSPACE_API", "REGISTRY", "PORTAL", "OBJSTORE"],
        ].map((name) => [`REQUIRE_${name}`, "false"]),
      ),
    });
    after(async () => {
      await deployment.close();
      await kubectl(["delete", "crd", "clusterissuers.cert-manager.io", "--ignore-not-found"]);
      rmSync(folder, { recursive: true, force: true });
    });
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    const read = () =>
      readFileSync(calls, "utf8")
        .trim()
        .split("\n")
        .map((call) => call.split(" ").filter((word) => !word.startsWith("--")));
    assert.deepEqual(read(), [
      ["upgrade", "cert-manager", "cert-manager"],
      ["upgrade", "sealed-secrets", "sealed-secrets"],
    ]);
    assert.deepEqual((await mustKubectl(["get", "clusterissuers", "-o", "name"])).trim().split("\n"), [
      "clusterissuer.cert-manager.io/letsencrypt-production",
      "clusterissuer.cert-manager.io/letsencrypt-staging",
    ]);
    const ingress = await mustKubectl(["get", "ingress", "-n", "um", "dummy-service", "-o", "json"]);
    assert.match(ingress, /"cert-manager.io\/cluster-issuer": "letsencrypt-staging"/);

    const deleted = await deployment.swath("deploy", "delete", NAME);
    assert.equal(deleted.status, 0, deleted.stderr);
    assert.deepEqual(read().slice(2), [
      ["uninstall", "sealed-secrets"],
      ["uninstall", "cert-manager"],
    ]);
    assert.equal(await mustKubectl(["get", "clusterissuers", "-o", "name"]), "");
    await deployment.swath("clean", NAME);
    assert.deepEqual(await readVersions(), {});
  },
);
