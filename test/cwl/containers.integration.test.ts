// Containers for real: podman as root and as an ordinary user, docker with a daemon of its own, images from a registry
// that asks for credentials.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findFreePort, waitUntil } from "@swath/testing";
import { createContainerExecutor, CwlError, loadDocument, runProcess } from "../../libs/cwl/src/index.ts";
import type { ContainerOptions, FileValue, RunEvent, RunOptions } from "../../libs/cwl/src/index.ts";
import { prepareContainers, findContainersSkipReason } from "../conformance/cwl-images.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-containers-")));
const processes: ChildProcess[] = [];
let environment: Record<string, string> = {};
/** Of this test alone, so that removing it bothers nobody. */
const image = "localhost/swath-cwl-containers:1";
const base = "docker.io/library/bash:4.4";

after(async () => {
  for (const child of processes) {
    child.kill("SIGTERM");
    await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(undefined)));
  }
  if (findContainersSkipReason() === undefined) {
    podman("rmi", "--force", image);
  }
  rmSync(scratch, { recursive: true, force: true });
});

function podman(...args: string[]): string {
  return execFileSync("podman", args, {
    encoding: "utf8",
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "ignore"],
  });
}

const tool = (name: string, command: string, more = ""): string => `cwlVersion: v1.2
class: CommandLineTool
requirements: {DockerRequirement: {dockerPull: "${name}"}, ${more}}
baseCommand: [sh, -c, ${JSON.stringify(command)}]
inputs: {}
outputs: {out: stdout}
stdout: out.txt
`;

const ulimits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"];
let counter = 0;

async function run(text: string, options: Partial<ContainerOptions>, more: Partial<RunOptions> = {}): Promise<string> {
  counter += 1;
  const outputs = await runProcess({
    document: await loadDocument("https://example.org/tool.cwl", { text }),
    inputs: {},
    executors: {
      container: createContainerExecutor({
        command: "/usr/bin/podman",
        kind: "podman",
        env: { PATH: process.env["PATH"], ...environment },
        ...options,
      }),
    },
    outDir: join(scratch, `out-${counter}`),
    limits: { infrastructureRetries: 0 },
    ...more,
  });
  return readFileSync(new URL((outputs["out"] as FileValue).location ?? ""), "utf8");
}

/** A registry with one user, and the tool's image in it. */
async function startRegistry(): Promise<{ name: string; authFile: string }> {
  const folder = join(scratch, "registry");
  mkdirSync(folder);
  const port = await findFreePort();
  const host = `127.0.0.1:${port}`;
  const hash = execFileSync("perl", ["-e", 'print crypt("opensesame", q($2y$05$abcdefghijklmnopqrstuu))'], {
    encoding: "utf8",
  });
  writeFileSync(join(folder, "htpasswd"), `alice:${hash}\n`);
  writeFileSync(
    join(folder, "config.yml"),
    `version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: ${folder}/data}}
http: {addr: "${host}"}
auth: {htpasswd: {realm: test, path: ${folder}/htpasswd}}
`,
  );
  processes.push(spawn("docker-registry", ["serve", join(folder, "config.yml")], { stdio: "ignore" }));
  await waitUntil("the registry answers", async () => (await fetch(`http://${host}/v2/`)).status === 401);
  const authFile = join(folder, "auth.json");
  const auth = Buffer.from("alice:opensesame").toString("base64");
  writeFileSync(authFile, JSON.stringify({ auths: { [host]: { auth } } }), { mode: 0o600 });
  const name = `${host}/tools/bash:1`;
  podman("tag", base, name);
  podman("push", "--tls-verify=false", `--authfile=${authFile}`, name);
  podman("rmi", name);
  writeFileSync(join(folder, "registries.conf"), `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
  environment["CONTAINERS_REGISTRIES_CONF"] = join(folder, "registries.conf");
  return { name, authFile };
}

describe("containers", { skip: findContainersSkipReason() }, () => {
  before(() => {
    environment = prepareContainers(join(scratch, "containers"));
    // Anybody may enter the root of this one.
    const root = join(scratch, "root");
    mkdirSync(root);
    execFileSync(
      "sh",
      [
        "-c",
        `c=$(podman create ${base} true) && podman export $c | tar -x -C ${root} && podman rm $c && chmod 755 ${root} && tar -C ${root} -c . | podman import - ${image}`,
      ],
      { env: { ...process.env, ...environment }, stdio: "ignore" },
    );
  });

  test("variables are not on a command line, whatever is in them", async () => {
    const value = "a b  #'\"$HOME`id`\\n ";
    const text = tool(image, 'printf "%s|%s|%s" "$ONE" "$TWO" "$HOME"; cat /proc/1/cmdline > /dev/null').replace(
      "inputs: {}",
      `inputs: {}
hints: {EnvVarRequirement: {envDef: {ONE: ${JSON.stringify(value)}, TWO: "x #y \\\\z"}}}`,
    );
    assert.equal(
      await run(text.replaceAll("$HOME`", "\\\\$HOME`"), {}),
      `${value.replaceAll("$HOME`", "\\$HOME`")}|x #y \\z|/var/spool/cwl`,
    );
  });

  test("a container of a run that died is found and removed", async () => {
    const code = `
      import { createContainerExecutor, loadDocument, runProcess } from ${JSON.stringify(join(import.meta.dirname, "../../libs/cwl/src/index.ts"))};
      const container = createContainerExecutor({ command: "/usr/bin/podman", kind: "podman", env: process.env });
      await runProcess({
        document: await loadDocument("https://example.org/tool.cwl", { text: ${JSON.stringify(tool(image, "exec sleep 300"))} }),
        inputs: {}, executors: { container }, outDir: ${JSON.stringify(join(scratch, "dead-out"))}, journal: ${JSON.stringify(join(scratch, "dead"))},
      });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      env: { ...process.env, ...environment },
      stdio: "ignore",
    });
    const running = (): string =>
      podman("ps", "--quiet", "--filter", "label=swath.cwl.run", "--filter", `ancestor=${image}`);
    await waitUntil("the container runs", () => running() !== "");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    assert.notEqual(running(), "", "the container outlives the engine");
    const text = tool(image, "echo again");
    assert.equal(await run(text, {}, { journal: join(scratch, "dead") }), "again\n");
    assert.equal(running(), "");
  });

  const built = (dockerFile: string, more = ""): string =>
    tool(image, 'echo "$WHICH"').replace(`dockerPull: "${image}"`, `dockerFile: ${JSON.stringify(dockerFile)}${more}`);
  const images = (): string[] =>
    podman("images", "--format", "{{.Repository}}:{{.Tag}}")
      .split("\n")
      .filter((name) => name.startsWith("localhost/swath-cwl/"));

  test("an image is built for each dockerFile and each scope, whatever tools call it", async (t) => {
    const before = images();
    const made = (): string[] => images().filter((name) => !before.includes(name));
    t.after(() => made().forEach((name) => podman("rmi", "--force", name)));
    const [one, two] = ["one", "two"].map((which) => `FROM ${image}\nENV WHICH=${which}\n`) as [string, string];
    assert.equal(await run(built(one), { imageScope: "test-a" }), "one\n");
    assert.equal(await run(built(two), { imageScope: "test-a" }), "two\n");
    const named = ", dockerImageId: tool";
    assert.equal(await run(built(one, named), { imageScope: "test-a" }), "one\n");
    assert.equal(await run(built(two, named), { imageScope: "test-a" }), "two\n");
    assert.equal(made().length, 2);
    assert.equal(await run(built(one), { imageScope: "Test B@example.org" }), "one\n");
    assert.equal(made().length, 3);
    await assert.rejects(run(tool(made()[0] ?? "", "true"), {}), /was built for another tool/);
  });

  test("builds have limits, and may be refused", async () => {
    const endless = `FROM ${image}\nRUN while :; do sleep 1; done\n`;
    const options = [...ulimits, "--runtime=runc", "--isolation=chroot"];
    await assert.rejects(run(built(endless), { builds: { seconds: 2, options } }), /took longer than 2 s/);
    await assert.rejects(run(built(endless), { builds: { allowed: false } }), /not built here/);
    await assert.rejects(run(built(`#${"x".repeat(1024 * 1024)}`), {}), /more than 1048576 bytes/);
  });

  test("an archive of an image is loaded under the digest of its content, and passes the gate", async (t) => {
    const before = images();
    t.after(() =>
      images()
        .filter((name) => !before.includes(name))
        .forEach((name) => podman("rmi", name)),
    );
    const archive = join(scratch, "archive.tar");
    podman("save", "--output", archive, image);
    const text = tool(image, "echo loaded").replace(`dockerPull: "${image}"`, `dockerLoad: "file://${archive}"`);
    const document = await loadDocument(`file://${scratch}/tool.cwl`, { text });
    assert.equal(await run(text, {}, { document }), "loaded\n");
    await assert.rejects(run(text, {}, { document, inputRoots: [join(scratch, "root")] }), /outside the directories/);
  });

  test("cancelling removes the container", async () => {
    const stop = new AbortController();
    const onEvent = (event: RunEvent): void => {
      if (event.type === "step-log") {
        stop.abort();
      }
    };
    const text = tool(image, "trap '' TERM; echo up >&2; while :; do sleep 1; done");
    await assert.rejects(run(text, {}, { signal: stop.signal, onEvent }), /cancelled/);
    assert.equal(podman("ps", "--all", "--quiet", "--filter", `ancestor=${image}`), "");
  });

  const noRegistry = existsSync("/usr/bin/docker-registry") ? false : "needs Debian's docker-registry";
  test("an image is pulled with credentials, and not without", { skip: noRegistry }, async (t) => {
    const { name, authFile } = await startRegistry();
    const text = tool(name, "echo pulled");
    await assert.rejects(run(text, {}), (error: unknown) => {
      assert.ok(error instanceof CwlError && error.code === "infrastructure");
      assert.match(error.message, /cannot pull the image .*tools\/bash:1.*(unauthorized|authentication)/is);
      return true;
    });
    assert.equal(await run(text, { authFile }), "pulled\n");
    podman("rmi", name);
    await t.test("the same with docker", { skip: findDockerSkipReason() }, () => dockerToo(name, authFile));
  });

  async function dockerToo(name: string, authFile: string): Promise<void> {
    const folder = join(scratch, "docker");
    mkdirSync(folder);
    const socket = `unix://${folder}/socket`;
    const nothing = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-masq=false"];
    const places = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`];
    const options = [
      ...nothing,
      ...places,
      "--host",
      socket,
      "--storage-driver=vfs",
      "--default-ulimit=nofile=1024:1024",
    ];
    processes.push(spawn("dockerd", options, { stdio: "ignore" }));
    const env = { PATH: process.env["PATH"], DOCKER_HOST: socket };
    await waitUntil("docker answers", () => {
      execFileSync("/usr/bin/docker", ["info"], { env, stdio: "ignore" });
      return true;
    });
    const docker: Partial<ContainerOptions> = { command: "/usr/bin/docker", kind: "docker", env };
    const text = tool(name, "echo pulled by docker; id -u; touch /var/spool/cwl/mine");
    await assert.rejects(run(text, docker), /cannot pull the image/);
    assert.equal(await run(text, { ...docker, authFile }), `pulled by docker\n${process.getuid?.()}\n`);
    const stop = new AbortController();
    const waiting = tool(name, "echo up >&2; sleep 300");
    const onEvent = (event: RunEvent): void => {
      if (event.type === "step-log") {
        stop.abort();
      }
    };
    await assert.rejects(run(waiting, docker, { signal: stop.signal, onEvent }), /cancelled/);
    assert.equal(execFileSync("/usr/bin/docker", ["ps", "--all", "--quiet"], { env, encoding: "utf8" }), "");
  }

  test("an ordinary user runs containers without root", { skip: whyNotRootless() }, () => {
    const home = join(scratch, "home");
    mkdirSync(join(home, "run"), { recursive: true });
    writeFileSync(
      join(home, "containers.conf"),
      `[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\nevents_logger = "none"\ncgroup_manager = "cgroupfs"\n`,
    );
    writeFileSync(
      join(home, "storage.conf"),
      `[storage]\ndriver = "vfs"\ngraphroot = "${home}/storage"\nrunroot = "${home}/run/storage"\n`,
    );
    podman("save", "--output", join(home, "image.tar"), image);
    writeFileSync(
      join(home, "tool.cwl"),
      tool(image, "id -u; echo made > /var/spool/cwl/made; ls -ln /var/spool/cwl | wc -l"),
    );
    chmodSync(scratch, 0o755);
    execFileSync("chown", ["-R", "tester:", home]);
    chmodSync(join(home, "run"), 0o700);
    const as = (...command: string[]): string =>
      execFileSync("runuser", ["-u", "tester", "--", ...command], {
        cwd: home,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          TMPDIR: home,
          XDG_RUNTIME_DIR: join(home, "run"),
          CONTAINERS_CONF: join(home, "containers.conf"),
          CONTAINERS_STORAGE_CONF: join(home, "storage.conf"),
        },
      });
    try {
      as("podman", "load", "--input", join(home, "image.tar"));
      const main = join(import.meta.dirname, "../../libs/cwl/main.ts");
      const outputs = as(
        process.execPath,
        main,
        "run",
        "--quiet",
        "--outdir",
        join(home, "out"),
        join(home, "tool.cwl"),
      );
      const { out } = JSON.parse(outputs) as { out: FileValue };
      const uid = as("id", "-u");
      assert.match(readFileSync(new URL(out.location ?? ""), "utf8"), new RegExp(`^${uid.trim()}\n`));
    } finally {
      as("podman", "system", "reset", "--force");
    }
  });
});

function findDockerSkipReason(): string | false {
  return existsSync("/usr/sbin/dockerd") && existsSync("/usr/bin/docker") ? false : "needs Debian's docker.io";
}

function whyNotRootless(): string | false {
  try {
    execFileSync("id", ["tester"], { stdio: "ignore" });
    execFileSync("which", ["newuidmap"], { stdio: "ignore" });
    return process.getuid?.() === 0 ? false : "becoming another user needs root";
  } catch {
    return "needs a user called tester with subordinate ids (Debian: adduser tester; apt-get install uidmap)";
  }
}
