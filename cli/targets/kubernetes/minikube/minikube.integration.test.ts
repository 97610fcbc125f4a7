import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { runCommand } from "@swath/testing";

import { resolveConfig } from "../../../config/resolve.ts";
import { installMinikube } from "./install-minikube.ts";
import { startMinikube } from "./start-minikube.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-minikube-"));
const calls = join(folder, "calls");
after(() => rmSync(folder, { recursive: true, force: true }));

/** Stands in for minikube: writes down how it was called; `status` says what the file `running` says. */
const STAND_IN = `#!/bin/sh
echo "$*" >>${calls}
case $1 in
  status) test -e ${folder}/running ;;
  start) test ! -e ${folder}/broken || { echo "no driver" >&2; exit 69; } ; touch ${folder}/running ;;
  ip) echo 192.168.49.2 ;;
esac
`;

function install(): NodeJS.ProcessEnv {
  writeFileSync(join(folder, "minikube"), STAND_IN);
  chmodSync(join(folder, "minikube"), 0o755);
  rmSync(calls, { force: true });
  return { PATH: `${folder}:/usr/bin:/bin` };
}

const readCalls = () => readFileSync(calls, "utf8").trim().split("\n");
const configOf = (variables: Record<string, string> = {}) =>
  resolveConfig({
    env: { LOCALCLUSTER_TOOL: "minikube", ...variables },
    args: { clusterName: "lab" },
    facts: { clusterIp: "192.168.49.2", wildcardDnsResolves: true },
  }).config;

test("a cluster that does not run is started with profile, version, memory, disk and options; then its addons", async () => {
  const env = install();
  const config = configOf({ LOCALCLUSTER_EXTRA_OPTIONS: "--ports=80:80,443:443 --driver=kvm2", USE_METALLB: "true" });
  const address = await startMinikube({ config, env, binFolder: "/nonexistent", print: () => {} });
  assert.equal(address, "192.168.49.2");
  assert.deepEqual(readCalls(), [
    "status --profile=lab",
    "start --profile=lab --kubernetes-version=v1.22.5 --cpus=max --memory=12g --disk-size=20g --interactive=false --ports=80:80,443:443 --driver=kvm2",
    "addons enable storage-provisioner --profile=lab",
    "addons enable default-storageclass --profile=lab",
    "addons enable ingress --profile=lab",
    "addons enable metallb --profile=lab",
    "ip --profile=lab",
  ]);
});

test("one that runs is left as it is; a chart instead of the ingress addon", async () => {
  const env = install();
  const config = configOf({ USE_INGRESS_CONTROLLER_HELM: "true" });
  await startMinikube({ config, env, binFolder: "/nonexistent", print: () => {} });
  assert.ok(!readCalls().some((call) => call.startsWith("start") || call.includes("ingress")));
});

test("what minikube says of a failure is passed on", async () => {
  const env = install();
  rmSync(join(folder, "running"), { force: true });
  writeFileSync(join(folder, "broken"), "");
  await assert.rejects(
    startMinikube({ config: configOf(), env, binFolder: "/nonexistent", print: () => {} }),
    /minikube start failed: no driver/,
  );
  rmSync(join(folder, "broken"));
});

test("apply starts the cluster first and takes its address for the domain", async () => {
  const env = {
    ...install(),
    SWATH_STATE_DIR: join(folder, "state"),
    LOCALCLUSTER_TOOL: "minikube",
    KUBECONFIG: "/nonexistent",
  };
  const main = join(import.meta.dirname, "../../../main.ts");
  const { status, stderr, stdout } = await runCommand(process.execPath, [main, "deploy", "apply", "lab"], { env });
  assert.equal(status, 1, stdout);
  assert.match(stderr, /KUBECONFIG names does not exist: \/nonexistent/);
  assert.deepEqual(
    readCalls().map((call) => call.split(" ")[0]),
    ["status", "start", "addons", "addons", "addons", "ip", "ip"],
  );
});

test("a missing minikube is fetched in the wanted version and checked against its digest", async () => {
  const digest = createHash("sha256").update(STAND_IN).digest("hex");
  let offered = digest;
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end(request.url?.endsWith(".sha256") ? `${offered}\n` : STAND_IN);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = join(folder, "bin");
  try {
    offered = "0".repeat(64);
    await assert.rejects(installMinikube({ version: "v1.32.0", folder: target, releases }), /nothing was installed/);
    assert.equal(existsSync(join(target, "minikube")), false);
    offered = digest;
    await installMinikube({ version: "v1.32.0", folder: target, releases });
    assert.equal(readFileSync(join(target, "minikube"), "utf8"), STAND_IN);
    assert.match(asked[0] ?? "", /^\/v1\.32\.0\/minikube-linux-(amd64|arm64)$/);
  } finally {
    server.close();
  }
});
