// What is installed from charts, with a helm that only records: releases come before what needs them and go after it.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { mustKubectl } from "@swath/testing/kubernetes";

import { NAME, openDeployment, readVersions, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";

const missing = whyLeftOut() ?? (await findDeploymentSkipReason());

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

test("charts are installed before the rest and removed after it", { skip: missing ?? false }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-charts-"));
  const calls = join(folder, "calls");
  // Each call with the number of deployments that there are.
  writeFileSync(
    join(folder, "helm"),
    `#!/bin/sh\ncat >/dev/null\necho "$* $(kubectl get deployments -n um -o name | wc -l)" >>${calls}\n`,
  );
  chmodSync(join(folder, "helm"), 0o755);
  const deployment = await openDeployment({
    PATH: `${folder}:${process.env["PATH"]}`,
    USE_TLS: "false",
    REQUIRE_SEALED_SECRETS: "true",
    REQUIRE_STORAGE: "false",
    REQUIRE_DUMMY_SERVICE: "true",
    REQUIRE_DUMMY_SERVICE_PROTECTION: "false",
    OPEN_INGRESS: "true",
    ...Object.fromEntries(OTHERS.map((name) => [`REQUIRE_${name}`, "false"])),
  });
  after(async () => {
    await deployment.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { status, stdout, stderr } = await deployment.apply();
  assert.equal(status, 0, stdout + stderr);
  const readCalls = () =>
    readFileSync(calls, "utf8")
      .trim()
      .split("\n")
      .map((call) => {
        const words = call.split(" ").filter((word) => !word.startsWith("--"));
        return `${words[0]} ${words[1]}, ${words.at(-1)} deployed`;
      });
  assert.deepEqual(readCalls(), ["upgrade sealed-secrets, 0 deployed"]);
  const { serverVersion } = JSON.parse(await mustKubectl(["version", "-o", "json"])) as {
    serverVersion: { minor: string };
  };
  if (Number.parseInt(serverVersion.minor, 10) < 26) {
    const refused = await deployment.apply({ REQUIRE_INGRESS_CONTROLLER: "true" });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /nothing was changed[\s\S]*no maintained release of the chart ingress-nginx/);
    assert.equal(readCalls().length, 1, "no chart was installed");
  }

  const deleted = await deployment.swath("deploy", "delete", NAME);
  assert.equal(deleted.status, 0, deleted.stderr);
  assert.deepEqual(readCalls().slice(1), ["uninstall sealed-secrets, 0 deployed"]);
  await deployment.swath("clean", NAME, "--yes");
  assert.deepEqual(await readVersions(), {});
});
