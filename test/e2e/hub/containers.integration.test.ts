// Servers as containers of podman: images of profiles where the platform is one machine.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { readProcesses, runCommand } from "@swath/testing";

import { attackContainer } from "../../sandbox/attack-container.ts";
import { type HubFixture, skipReason, startHub } from "./hub-fixture.ts";

const IMAGE = "localhost/swath-test-web:1";
const skip =
  process.getuid?.() === 0
    ? skipReason(["/usr/bin/podman", "podman"], ["/usr/sbin/runc", "runc"], ["/bin/busybox", "busybox-static"])
    : "needs root, to run containers where limits cannot be raised";

/** A web server that shows its home and what it finds of the network. */
const SERVE = [
  "mkdir -p www; id -u > www/uid; ls /sys/class/net > www/net; ls / > www/root",
  'wget -Y off -q -O www/user --header "Authorization: token $JUPYTERHUB_API_TOKEN" $JUPYTERHUB_API_URL/user',
  "echo kept > kept; exec httpd -f -p {port} -h {home}/www",
].join("; ");
const PROFILES = `profiles:
  - id: web
    groups: ["*"]
    definition:
      { display_name: Web, slug: web, kubespawner_override: { image: "${IMAGE}", cpu_limit: 1, mem_limit: 128M, cmd: [sh, -c, ${JSON.stringify(SERVE)}] } }
    embedded: { kind: container, port: 8080, base: root }
  - id: broken
    groups: ["*"]
    definition:
      { display_name: Broken, slug: broken, kubespawner_override: { image: "${IMAGE}", mem_limit: 64M, cmd: [sh, -c, "echo no such model; exit 3"] } }
    embedded: { kind: container, port: 8080, base: root }
  - id: nothing
    groups: ["*"]
    definition: { display_name: Nothing, slug: nothing, kubespawner_override: { image: "localhost/no-such-image:1" } }
`;

let folder: string;
let podman: string;
let hub: HubFixture;
before(async () => {
  if (skip !== false) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "swath-hub-containers-"));
  podman = writeEngine();
  buildImage();
  hub = await startHub({ CONTAINER_ENGINE: podman });
  const put = await hub.api("admin", "PUT", "/swath/profiles", { text: PROFILES });
  assert.equal(put.status, 200, put.text);
  await hub.api("eric", "GET", "/user");
});
after(async () => {
  if (skip === false) {
    for (const id of containers()) {
      execFileSync(podman, ["rm", "--force", "--time", "0", id]);
    }
    await hub?.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Podman with images and containers of this test alone, as it works where limits cannot be raised. */
function writeEngine(): string {
  const conf = join(folder, "containers.conf");
  writeFileSync(
    conf,
    '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\nevents_logger = "none"\ncgroup_manager = "cgroupfs"\n',
  );
  const path = join(folder, "podman");
  const places = `--storage-driver vfs --root ${join(folder, "storage")} --runroot ${join(folder, "run")}`;
  writeFileSync(path, `#!/bin/sh\nCONTAINERS_CONF=${conf} exec /usr/bin/podman ${places} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

function buildImage(): void {
  const root = join(folder, "root");
  for (const name of ["bin", "tmp", "etc", "home/jovyan", "run"]) {
    mkdirSync(join(root, name), { recursive: true });
  }
  chmodSync(join(root, "tmp"), 0o1777);
  copyFileSync("/bin/busybox", join(root, "bin/busybox"));
  for (const name of ["sh", "httpd", "wget", "id", "ls", "mkdir", "sleep"]) {
    symlinkSync("busybox", join(root, "bin", name));
  }
  execFileSync("tar", ["-C", root, "-cf", join(folder, "root.tar"), "."]);
  execFileSync(podman, ["import", "--change", "ENV PATH=/bin", join(folder, "root.tar"), IMAGE], { stdio: "pipe" });
}

const containers = (): readonly string[] =>
  existsSync(podman)
    ? execFileSync(podman, ["ps", "--all", "--format", "{{.Names}}"], { encoding: "utf8" }).split("\n").filter(Boolean)
    : [];

const open = async (path: string) =>
  hub.send("GET", `http://eric--c.${hub.hubHost}${path}`, {
    headers: { authorization: `Bearer ${await hub.tokenOf("eric")}` },
  });

async function start(profile: string, name: string): Promise<string> {
  const { status, text } = await hub.api("eric", "POST", `/users/eric/servers/${name}`, { profile });
  assert.ok(status === 201 || status === 202, `${status} ${text}`);
  await hub.until(`${name} has started or ended`, async () => !(await progress(name)).endsWith("starting"));
  return progress(name);
}

async function progress(name: string): Promise<string> {
  const { body } = await hub.api("eric", "GET", "/users/eric");
  const server = body.servers?.[name];
  return server === undefined ? "stopped" : server.ready ? "ready" : "starting";
}

const reasonOf = async (name: string) => (await hub.api("eric", "GET", `/users/eric/servers/${name}/progress`)).text;

test("an image runs with a network of its own, as nobody in particular, and reaches the hub", { skip }, async () => {
  assert.equal(await start("web", "c"), "ready", await reasonOf("c"));
  assert.equal((await open("/uid")).text.trim(), "1000");
  assert.equal((await open("/net")).text.trim(), "lo");
  assert.equal((await open("/user")).body.name, "eric");
  assert.equal((await hub.send("GET", `http://eric--c.${hub.hubHost}/uid`)).status, 403);
  const args = readProcesses()
    .map((each) => each.args)
    .join("\n");
  assert.doesNotMatch(args, /JUPYTERHUB_API_TOKEN=/);
});

test("a program in a container is held by everything that a sandbox holds it by", { skip }, async () => {
  const name = containers().find((each) => !each.endsWith("-beside")) ?? "";
  const exec = async (command: readonly string[]) => {
    const { stdout, stderr } = await runCommand(podman, ["exec", name, ...command], { env: { PATH: "/usr/bin:/bin" } });
    return `${stdout}${stderr}`;
  };
  await attackContainer(exec, { busybox: "/bin/busybox", around: folder });
});

test("a container outlives the hub, and is killed with its reason told", { skip }, async () => {
  const killed = (await hub.cluster.pod("application-hub")).pid ?? 0;
  process.kill(killed, "SIGKILL");
  assert.equal((await open("/uid")).status, 200);
  await hub.until("the hub is back", async () => (await hub.send("GET", "/hub/api/")).status === 200);
  assert.equal(await progress("c"), "ready");
  execFileSync(podman, ["kill", containers().find((name) => !name.endsWith("-beside")) ?? ""]);
  await hub.until("its end is seen", async () => (await progress("c")) === "stopped");
  assert.match(await reasonOf("c"), /It was killed/);
  await hub.until("nothing is left of it", async () => containers().length === 0);
});

test("what its home holds is there the next time; a stopped one leaves nothing behind", { skip }, async () => {
  assert.equal(await start("web", "c"), "ready", await reasonOf("c"));
  assert.equal((await hub.api("eric", "DELETE", "/users/eric/servers/c")).status, 204);
  assert.deepEqual(containers(), []);
  assert.ok(existsSync(join(hub.cluster.directory, "volumes/proc/application-hub/container-homes/eric/kept")));
});

test("an image that fails and one that is not to be had say so", { skip }, async () => {
  assert.equal(await start("broken", "b"), "stopped");
  assert.match(await reasonOf("b"), /ended with status 3.*no such model/s);
  assert.equal(await start("nothing", "n"), "stopped");
  assert.match(await reasonOf("n"), /container engine refused \\?"pull/);
});
