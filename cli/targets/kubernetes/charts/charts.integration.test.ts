import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { runCommand } from "@swath/testing";
import { parse } from "yaml";

import { resolveConfig } from "../../../config/resolve.ts";
import { requireRelease, selectRelease } from "./chart.ts";
import { charts, listCharts } from "./charts.ts";
import { installChart, uninstallChart } from "./helm.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-helm-"));
const calls = join(folder, "calls");
after(() => rmSync(folder, { recursive: true, force: true }));

/** Stands in for helm: writes down how it was called and what it was given. */
const STAND_IN = `#!/bin/sh
echo "$*" >>${calls}
cat >${folder}/values
env >${folder}/environment
case $2 in broken) echo "Error: no such chart" >&2; exit 1 ;; gone) echo "Error: uninstall: Release not loaded: gone: release: not found" >&2; exit 1 ;; esac
`;

function installHelm() {
  writeFileSync(join(folder, "helm"), STAND_IN);
  chmodSync(join(folder, "helm"), 0o755);
  rmSync(calls, { force: true });
  return { env: { PATH: `${folder}:/usr/bin:/bin` }, context: "lab" };
}

const SECRETS = {
  OBJSTORE_ROOT_PASSWORD: "hidden-root-password",
  IDENTITY_SERVICE_DEFAULT_SECRET: "hidden-default-secret",
  REGISTRY_ADMIN_PASSWORD: "hidden-registry-password",
};

function resolve(variables: Record<string, string>) {
  const { config, mistakes } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...SECRETS, ...variables },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: undefined, wildcardDnsResolves: true },
  });
  assert.deepEqual(mistakes, []);
  return config;
}

const names = (variables: Record<string, string>) => listCharts(resolve(variables)).map(({ name }) => name);

test("a chart is installed only where its switch asks for it", () => {
  assert.deepEqual(names({}), ["ingress-nginx", "cert-manager"]);
  assert.deepEqual(names({ USE_TLS: "false", REQUIRE_INGRESS_CONTROLLER: "false" }), []);
  assert.deepEqual(names({ USE_TLS: "false" }), ["ingress-nginx"]);
  assert.deepEqual(names({ USE_INGRESS_CONTROLLER_HELM: "false", REQUIRE_CERTIFICATE_MANAGER: "false" }), []);
  const all = { REQUIRE_SEALED_SECRETS: "true", USE_LOADBALANCER_ADDON: "true" };
  assert.deepEqual(names(all), ["ingress-nginx", "cert-manager", "sealed-secrets", "metallb"]);
  assert.deepEqual(names({ ...all, REQUIRE_LOCALCLUSTER: "true", LOCALCLUSTER_TOOL: "minikube" }), [
    "cert-manager",
    "sealed-secrets",
  ]);
});

test("the cluster's version chooses the release; one that is too old for all of them is refused", () => {
  const versions = (minor: number) => charts.map((chart) => selectRelease(chart, minor)?.version);
  assert.deepEqual(versions(34), ["4.15.1", "v1.21.1", "2.18.5", "0.16.1"]);
  assert.deepEqual(versions(31), ["4.15.1", "v1.19.6", "2.18.5", "0.16.1"]);
  assert.deepEqual(versions(29), ["4.13.9", "v1.18.6", "2.18.5", "0.16.1"]);
  assert.deepEqual(versions(22), [undefined, "v1.12.17", "2.18.5", "0.16.1"]);
  assert.deepEqual(versions(99), versions(36).with(0, "4.15.1"), "a cluster newer than all");
  const [ingress] = charts;
  assert.ok(ingress);
  assert.throws(
    () => requireRelease(ingress, 22),
    /no maintained release of the chart ingress-nginx .* 1\.22; the oldest it supports is 1\.26\. .*REQUIRE_INGRESS_CONTROLLER=false/,
  );
});

test("no chart's newest release is older than a year before this version of Swath, and none is from before 2025", () => {
  for (const { name, releases } of charts) {
    assert.ok((releases[0]?.released ?? "") >= "2025-11-22", name);
    for (const { version, released } of releases) {
      assert.ok(released >= "2025-01-01", `${name} ${version}`);
    }
  }
});

test("versions are pinned, the context is named, and values are in no argument", async () => {
  const helm = installHelm();
  const config = resolve({ REQUIRE_SEALED_SECRETS: "true", USE_LOADBALANCER_ADDON: "true" });
  const values: Record<string, unknown> = {};
  for (const chart of listCharts(config)) {
    await installChart(chart, requireRelease(chart, 34).version, config, helm);
    values[chart.name] = parse(readFileSync(join(folder, "values"), "utf8"));
  }
  const made = readFileSync(calls, "utf8").trim().split("\n");
  assert.equal(made.length, charts.length);
  for (const [index, chart] of charts.entries()) {
    const { name, repository, namespace } = chart;
    const { version } = requireRelease(chart, 34);
    assert.match(version, /^v?\d+\.\d+\.\d+$/);
    assert.equal(
      made[index],
      `upgrade --install ${name} ${name} --repo=${repository} --version=${version} --namespace=${namespace} ` +
        "--create-namespace --wait --timeout=5m --values=- --kube-context=lab",
    );
  }
  assert.deepEqual(values["cert-manager"], { installCRDs: true });
  const { controller } = values["ingress-nginx"] as {
    controller: { config: Record<string, string>; service: Record<string, unknown> };
  };
  assert.equal(controller.config["ssl-redirect"], "true");
  assert.equal(controller.config["use-forwarded-headers"], "false");
  assert.deepEqual(controller.service, { type: "LoadBalancer", externalIPs: ["203.0.113.7"] });
});

test("no chart is given a secret of the deployment", async () => {
  const helm = installHelm();
  const config = resolve({ REQUIRE_SEALED_SECRETS: "true", USE_LOADBALANCER_ADDON: "true" });
  for (const chart of listCharts(config)) {
    await installChart(chart, "1.2.3", config, helm);
    const seen = ["values", "environment", "calls"].map((name) => readFileSync(join(folder, name), "utf8")).join("");
    assert.ok(!seen.includes("hidden-"), chart.name);
  }
});

test("what helm says of a failure is passed on; a release that is gone is removed", async () => {
  const helm = installHelm();
  const config = resolve({});
  const [first] = listCharts(config);
  assert.ok(first);
  await uninstallChart({ ...first, name: "gone" }, helm);
  await assert.rejects(
    uninstallChart({ ...first, name: "broken" }, helm),
    /helm uninstall broken .*: Error: no such chart/,
  );
  await assert.rejects(
    installChart(first, "1.2.3", config, { ...helm, env: { PATH: "/nonexistent" } }),
    /helm could not be started/,
  );
});

test("the template shows each chart, its version and the values that it is given", async () => {
  const main = join(import.meta.dirname, "../../../main.ts");
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = await runCommand(
    process.execPath,
    [main, "deploy", "template", "swath", "eo.example.org", "203.0.113.7"],
    {
      env: {
        PATH,
        HOME,
        SWATH_STATE_DIR: folder,
        REQUIRE_LOCALCLUSTER: "false",
        LOCALCLUSTER_ORCH_VERSION: "v1.34.1",
        REQUIRE_SEALED_SECRETS: "true",
        USE_LOADBALANCER_ADDON: "true",
      },
    },
  );
  assert.equal(status, 0, stderr);
  for (const chart of charts) {
    const { name, repository, namespace } = chart;
    const { version } = requireRelease(chart, 34);
    assert.ok(
      stdout.includes(
        `# Chart ${name} ${version} of ${repository}, release ${name} in namespace ${namespace}, with the values:`,
      ),
      name,
    );
  }
  const section = stdout.split("# Chart ingress-nginx")[1]?.split("# Chart ")[0] ?? "";
  const shown = section.replace(/^.*\n/, "").replaceAll(/^# ?/gm, "");
  const config = resolve({});
  const [ingress] = listCharts(config);
  assert.deepEqual(parse(shown), ingress?.values(config));
  assert.match(stdout, /# kind: ClusterIssuer[\s\S]*acme-staging-v02/);
  assert.match(stdout, /# kind: IPAddressPool/);
});
