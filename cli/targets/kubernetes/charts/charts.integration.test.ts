import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { runCommand } from "@swath/testing";
import { parse } from "yaml";

import { resolveConfig } from "../../../config/resolve.ts";
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

test("versions are pinned, the context is named, and values are in no argument", async () => {
  const helm = installHelm();
  const config = resolve({ REQUIRE_SEALED_SECRETS: "true", USE_LOADBALANCER_ADDON: "true" });
  const values: Record<string, unknown> = {};
  for (const chart of listCharts(config)) {
    await installChart(chart, config, helm);
    values[chart.name] = parse(readFileSync(join(folder, "values"), "utf8"));
  }
  const made = readFileSync(calls, "utf8").trim().split("\n");
  assert.equal(made.length, charts.length);
  for (const [index, { name, version, repository, namespace }] of charts.entries()) {
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
    await installChart(chart, config, helm);
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
    installChart(first, config, { ...helm, env: { PATH: "/nonexistent" } }),
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
        REQUIRE_SEALED_SECRETS: "true",
        USE_LOADBALANCER_ADDON: "true",
      },
    },
  );
  assert.equal(status, 0, stderr);
  for (const { name, version, repository, namespace } of charts) {
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
