import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { findIsolation } from "@swath/isolation";
import { compiledCode, runCommand } from "@swath/testing";

import { examineEngine } from "../cli/doctor/checks/container-engine.ts";

interface Finding {
  readonly verdict: string;
  readonly subject: string;
  readonly found: string;
  readonly meaning?: string;
  readonly advice?: string;
}

const folder = mkdtempSync(join(tmpdir(), "swath-doctor-"));
chmodSync(folder, 0o711);
after(() => rmSync(folder, { recursive: true, force: true }));

/** Findings by their subject, without any program on the path. */
async function examine(env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = await runCommand(
    process.execPath,
    [join(import.meta.dirname, "../cli/main.ts"), "doctor", "-o", "json"],
    { env: { PATH: install({}), SWATH_STATE_DIR: join(folder, "state"), REQUIRE_ADES: "true", ...env } },
  );
  assert.equal(stderr, "");
  const findings = JSON.parse(stdout) as readonly Finding[];
  return { status, of: (subject: string) => findings.filter((finding) => finding.subject === subject) };
}

/** A folder of programs, each a shell script. */
function install(programs: Readonly<Record<string, string>>): string {
  const bin = mkdtempSync(join(folder, "bin-"));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return bin;
}

/** A podman that says which control groups it has. */
const podman = (...cgroupControllers: readonly string[]): string =>
  `echo '${JSON.stringify({ version: { Version: "5.0" }, host: { cgroupControllers } })}'`;
const DOCKER = `echo '{"ServerVersion":"27.1","MemoryLimit":true,"PidsLimit":true,"CpuCfsQuota":true}'`;

async function withTakenPort(work: (port: number) => Promise<void>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  try {
    await work(typeof address === "object" && address !== null ? address.port : 0);
  } finally {
    server.close();
  }
}

test("a machine without a container engine is told what does not work then", async () => {
  const containers = await examineEngine("auto", install({}));
  assert.equal(containers.verdict, "limited");
  assert.match(containers.meaning ?? "", /DockerRequirement/);
  assert.equal(containers.advice, "apt-get install podman");
});

test("the engine that is asked for is the one that is looked at", async () => {
  const none = await examine({ CONTAINER_ENGINE: "none" });
  assert.deepEqual([none.of("containers")[0]?.verdict, none.of("containers")[0]?.advice], ["good", undefined]);
  const missing = await examineEngine("docker", install({ podman: podman() }));
  assert.equal(missing.verdict, "bad");
  assert.match(missing.found, /^CONTAINER_ENGINE is docker, which is not installed$/);
  const path = install({ podman: podman("memory", "pids", "cpu"), docker: DOCKER });
  assert.equal((await examineEngine("docker", path)).found, "docker 27.1");
  assert.equal((await examineEngine("auto", path)).found, "podman 5.0");
});

test("names the limits that the kernel does not hold containers to", async () => {
  const delegated = await examineEngine("podman", install({ podman: podman("memory", "pids") }));
  assert.deepEqual([delegated.verdict, delegated.found], ["limited", "podman 5.0, without limits of CPU"]);
  const none = await examineEngine("docker", install({ docker: `echo '{"ServerVersion":"27.1"}'` }));
  assert.equal(none.found, "docker 27.1, without limits of memory, processes, CPU");
});

test("isolation is tried: what works is named, what does not comes with the command that mends it", async () => {
  const [found] = (await examine({})).of("isolation");
  if (findIsolation().works) {
    assert.match(found?.found ?? "", /run in (bubblewrap|util-linux); the services watch/);
    assert.equal(found?.advice, undefined);
  } else {
    assert.match(found?.meaning ?? "", /name no container are refused/);
    assert.notEqual(found?.advice ?? "", "");
    assert.equal((await examine({ PROCESSING_HOST_TOOLS: "isolated" })).of("isolation")[0]?.verdict, "bad");
  }
});

test("the C library is named", async () => {
  const [library] = (await examine({})).of("C library");
  assert.match(library?.found ?? "", /^glibc 2\.\d+$/);
});

test("reports the engine that services use, also when another one would work", async () => {
  const broken = await examineEngine("auto", install({ podman: "echo 'Error: no overlay here' >&2; exit 125" }));
  assert.deepEqual([broken.verdict, broken.found], ["limited", "podman does not work: Error: no overlay here"]);
  const second = await examineEngine("auto", install({ podman: "exit 125", docker: DOCKER }));
  assert.equal(second.verdict, "limited");
  assert.match(second.advice ?? "", /podman info says more, or set CONTAINER_ENGINE=docker$/);
});

test("a port that was asked for and is taken keeps the platform from working", async () => {
  await withTakenPort(async (port) => {
    const { status, of } = await examine({ LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${port}:80,${port + 1}:443` });
    assert.equal(status, 1);
    assert.match(of("ports")[0]?.found ?? "", new RegExp(`port ${port} is taken on 127.0.0.1`));
  });
});

test("mistakes of variables are found before apply finds them", async () => {
  const { status, of } = await examine({ USE_TLS: "perhaps" });
  assert.equal(status, 1);
  assert.match(of("variables")[0]?.found ?? "", /USE_TLS/);
});

test("more memory than there is, and a folder that cannot be used", async () => {
  const { of } = await examine({ PROCESSING_MAX_RAM: "900Ti" });
  assert.equal(of("memory")[0]?.verdict, "limited");
  writeFileSync(join(folder, "file"), "");
  const blocked = await examine({ SWATH_STATE_DIR: join(folder, "file", "state") });
  assert.equal(blocked.status, 1);
  assert.equal(blocked.of("state folder")[0]?.verdict, "bad");
});

test("programs are asked for only where the variables need them", async () => {
  const plain = await examine({});
  assert.deepEqual([...plain.of("helm"), ...plain.of("minikube")], []);
  const { status, of } = await examine({ LOCALCLUSTER_TOOL: "minikube" });
  assert.equal(status, 1);
  assert.equal(of("minikube")[0]?.verdict, "bad");
});

test("apply refuses what doctor calls bad, before it changes anything", async (t) => {
  const small = join(folder, "small");
  mkdirSync(small, { mode: 0o711 });
  const mounted = await runCommand("mount", ["-t", "tmpfs", "-o", "size=60m,mode=711", "tmpfs", small], {
    env: process.env,
  }).catch(() => undefined);
  if (mounted?.status !== 0) {
    t.skip("a small disk needs root and the right to mount");
    return;
  }
  try {
    const env = { PATH: process.env["PATH"], ...compiledCode, SWATH_STATE_DIR: small };
    const main = join(import.meta.dirname, "../cli/main.ts");
    const { status, stderr } = await runCommand(process.execPath, [main, "deploy", "apply", "small"], { env });
    assert.equal(status, 1);
    assert.match(stderr, /nothing was changed[\s\S]*ERROR: disk: 60\.0 MiB free[\s\S]*SWATH_STATE_DIR/);
    assert.deepEqual(readdirSync(small), []);
  } finally {
    await runCommand("umount", [small], { env: process.env });
  }
});

test("--public looks at names, ports, certificate and credentials of the public address, and says what to do", async () => {
  const run = (...args: readonly string[]) =>
    runCommand(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), "doctor", "--public", ...args], {
      env: {
        PATH: process.env["PATH"],
        ...compiledCode,
        SWATH_STATE_DIR: join(folder, "public"),
        OBJSTORE_ROOT_PASSWORD: "changeme",
        ACME_DIRECTORY_URL: "https://127.0.0.1:9/directory",
      },
    });
  const nowhere = await run();
  assert.equal(nowhere.status, 1);
  assert.match(nowhere.stderr, /for this machine alone; name its domain and public address/);
  // TEST-NET-1 (RFC 5737): nobody is there.
  const { status, stdout } = await run("pub", "eo.swath.invalid", "192.0.2.1", "-o", "json");
  assert.equal(status, 1);
  const findings = JSON.parse(stdout) as readonly Finding[];
  const of = (subject: string) => findings.find((finding) => finding.subject === subject);
  assert.match(of("names")?.found ?? "", /^\*\.eo\.swath\.invalid does not resolve$/);
  assert.match(of("names")?.advice ?? "", /record \*\.eo\.swath\.invalid A 192\.0\.2\.1/);
  assert.equal(of("credentials")?.verdict, "bad");
  assert.match(of("credentials")?.found ?? "", /OBJSTORE_ROOT_PASSWORD/);
  assert.match(of("clock")?.found ?? "", /127\.0\.0\.1:9 does not answer/);
});
