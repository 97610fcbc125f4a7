import { CONTAINER_FILTER, type EngineReport, findContainerEngine } from "@swath/isolation";
import { execFile } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { type ProcessId, findProcess, isRunning, measureTree } from "../../process/proc.ts";
import type { Profile } from "../../profiles/model.ts";
import { overrideOf } from "../../profiles/quantities.ts";
import { shareAuthorities } from "../authorities.ts";
import type { HubFolders } from "../folders.ts";
import { PROXY_PORT, HUB_PORT, STORAGE_PORT, insideEnvironment } from "../inside-environment.ts";
import type { Handle, Launch, Spawner, Unavailable } from "../spawner.ts";
import { EXAMPLES, SEEN, showHost } from "./show-host.ts";

const run = promisify(execFile);
const COMMAND_MS = 120_000;
const PULL_MS = 15 * 60_000;
const DEFAULT_PORT = 8888;
const HOME = "/home/jovyan";
/** Who the images of the Jupyter project are made for. */
const USER = { uid: 1000, gid: 100 };
const STOP_SECONDS = 8;
const BESIDE_MS = 30_000;
const SEALED = ["--cap-drop", "all", "--security-opt", "no-new-privileges", CONTAINER_FILTER];

interface ContainerOptions {
  readonly folders: HubFolders;
  /** auto, none, podman, docker, or the path of one. */
  readonly engine: string;
  /** Whether ~/workspace is kept the same as the bucket of the workspace. */
  readonly hasStorage: boolean;
  /** Certificate of the platform's own authority, where it has one. */
  readonly authorityFile: string | undefined;
}

/** What a server is found by: the engine knows it by its name, this machine by its first process. */
interface ContainerHandle {
  readonly id: string;
  readonly pid?: number;
  readonly startedAt?: string;
  /** The first process of the container beside it. */
  readonly beside?: ProcessId;
}

/**
 * Servers as containers of podman or docker: images of profiles where the platform is one machine. Each has a network with nobody
 * in it; a second container with the same network leads its port out, and the hub, the object storage and the way out in.
 */
export function createContainerSpawner({ folders, engine, hasStorage, authorityFile }: ContainerOptions): Spawner {
  const report = findContainerEngine(engine);
  const command = report.outcome === "found" ? report.engine.command : undefined;
  const call = async (args: readonly string[], timeout = COMMAND_MS): Promise<string> => {
    if (command === undefined) {
      throw new Error("there is no container engine");
    }
    try {
      const { stdout } = await run(command, [...args], { timeout, maxBuffer: 4 * 2 ** 20, cwd: "/" });
      return stdout.trim();
    } catch (error) {
      // What the engine says; not the command, which is long and says nothing to the user of a server.
      const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
      throw new Error(`the container engine refused "${args[0]}": ${(stderr?.trim() || message).slice(-400)}`, {
        cause: error,
      });
    }
  };
  const nameOf = ({ id }: ContainerHandle) => `swath-hub-${id}`;
  const besideOf = (handle: ContainerHandle) => `${nameOf(handle)}-beside`;
  const exists = async (kind: "image" | "container", name: string) =>
    (await call([kind, "inspect", "--format", "{{.Id}}", name]).catch(() => "")) !== "";
  const readLog = (name: string) =>
    run(command ?? "", ["logs", "--tail", "200", name], { timeout: COMMAND_MS, cwd: "/" }).then(
      ({ stdout, stderr }) => `${stdout}${stderr}`,
      () => "",
    );
  const findFirst = async (name: string) =>
    findProcess(Number(await call(["inspect", "--format", "{{.State.Pid}}", name])));

  const whyNot = async (profile: Profile): Promise<Unavailable | undefined> => {
    const image = overrideOf(profile, {}).image;
    if (image === undefined || image === null || image === "") {
      return { reason: "the profile names neither a program nor an image (kubespawner_override.image)" };
    }
    switch (report.outcome) {
      case "found":
        return undefined;
      case "unwanted":
        return { reason: "it is a container, and CONTAINER_ENGINE=none wants none" };
      case "missing":
        return { reason: `it is a container, and ${report.reason}`, command: "apt-get install podman" };
    }
  };

  const stop = async (handle: ContainerHandle) => {
    // The server first: it has the other's network. That one brings what was changed last to the bucket before it ends.
    for (const name of [nameOf(handle), besideOf(handle)]) {
      if (await exists("container", name)) {
        await call(["stop", "--time", String(STOP_SECONDS), name]).catch(() => {});
        await call(["rm", "--force", name]);
      }
    }
    rmSync(join(folders.serverOf(handle.id), "io"), { recursive: true, force: true });
  };

  return {
    whyNot,
    plan: ({ id }) => ({ kind: "container", id }),
    start: async (launch, planned, onEvent) => {
      const handle = toHandle(planned);
      const image = overrideOf(launch.profile, launch.options).image ?? "";
      const port = portOf(launch);
      await stop(handle);
      if (!(await exists("image", image))) {
        onEvent(`pulling ${image}`);
        await call(["pull", "--quiet", image], PULL_MS);
      }
      const folder = folders.serverOf(launch.id);
      const io = join(folder, "io");
      const home = folders.containerHomeOf(launch.user);
      for (const each of [io, home]) {
        mkdirSync(each, { recursive: true, mode: 0o700 });
        if (process.getuid?.() === 0) {
          chownSync(each, USER.uid, USER.gid);
        }
      }
      chmodSync(folder, 0o711);
      // Secrets go by a file that only the engine's user reads: arguments can be read by every user of the machine.
      const file = join(folder, "env");
      const authorities = shareAuthorities(folders.shared, authorityFile);
      writeFileSync(file, toEnvFile(launch, port, authorities?.env), { mode: 0o600 });
      const who = toUser(report);
      try {
        const egress = launch.profile.egress ?? "platform";
        // First, so that the hub is there when the server asks for it.
        await call(
          [
            ["run", "--detach", "--name", besideOf(handle), "--env-file", file, "--network", "none", ...who],
            ["--memory", "160m", "--pids-limit", "64", "--read-only"],
            SEALED,
            ["--volume", `${home}:${HOME}`, "--volume", `${io}:${SEEN}/io`],
            ["--volume", `${join(folders.shared, "hub")}:${SEEN}/hub:ro`],
            egress === "none" ? [] : ["--volume", `${join(folders.shared, egress)}:${SEEN}/net:ro`],
            showHost(),
            ["--entrypoint", `${SEEN}/node`, image, "--max-old-space-size=48", "--max-semi-space-size=1"],
            [`${SEEN}/inside.cjs`, ...(hasStorage ? ["sync", `out:${STORAGE_PORT}=${SEEN}/hub/storage`] : [])],
            `out:${HUB_PORT}=${SEEN}/hub/sock`,
            egress === "none" ? [] : [`out:${PROXY_PORT}=${SEEN}/net/sock`],
            // The last that is listened on: it says that the others are.
            [`in:${SEEN}/io/app=${port}`, "--"],
          ].flat(),
        );
        await untilThere(join(io, "app"), () => readLog(besideOf(handle)));
        await call(
          [
            ["run", "--detach", "--name", nameOf(handle), "--env-file", file, ...who],
            ["--network", `container:${besideOf(handle)}`, "--volume", `${home}:${HOME}`, "--workdir", HOME],
            ["--volume", `${EXAMPLES.clients}:${SEEN}/clients:ro`],
            ["--volume", `${EXAMPLES.javascript}:${SEEN}/javascript:ro`],
            ["--volume", `${EXAMPLES.notebooks}:${SEEN}/examples:ro`],
            authorities === undefined ? [] : ["--volume", `${authorities.folder}:${authorities.target}:ro`],
            ["--cpus", String(launch.size.cores), "--memory", String(launch.size.memoryBytes), "--pids-limit", "4096"],
            SEALED,
            toCommand(launch, image, port),
          ].flat(),
        );
      } finally {
        rmSync(file, { force: true });
      }
      onEvent(`${image} was started`);
      const found = await findFirst(nameOf(handle));
      const beside = await findFirst(besideOf(handle));
      const { embedded } = launch.profile;
      const ready = embedded?.kind === "container" ? (embedded.ready_path ?? "") : launch.base === "/" ? "" : "api";
      return {
        handle: { ...planned, ...found, ...(beside && { beside }) },
        target: { url: `http+unix://${encodeURIComponent(join(io, "app"))}` },
        readyPath: `${launch.base}${ready}`,
      };
    },
    poll: async (provided) => {
      const handle = toHandle(provided);
      const { pid, startedAt = "", beside } = handle;
      if (beside !== undefined && !isRunning(beside)) {
        return { alive: false, reason: "The program that connects it with the hub ended." };
      }
      // Without the engine where it can be: it is asked for every server every two seconds.
      if (pid !== undefined && isRunning({ pid, startedAt })) {
        return { alive: true };
      }
      const state = await call([
        "inspect",
        "--format",
        "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}",
        nameOf(handle),
      ]).catch(() => "");
      const [status = "", code = "", oom] = state.split(" ");
      if (status === "running" || status === "created" || status === "initialized") {
        return { alive: true };
      }
      if (oom === "true") {
        return { alive: false, reason: "It used more memory than it may; start a larger one." };
      }
      const log = (await readLog(nameOf(handle))).trim().split("\n").slice(-3).join(" ").slice(-400);
      const said = log === "" ? "" : ` It last wrote: ${log}`;
      return {
        alive: false,
        reason:
          status === ""
            ? "Its container is gone: somebody removed it, or the machine was started again."
            : `${code === "137" ? "It was killed." : code === "0" ? "It ended by itself." : `It ended with status ${code}.`}${said}`,
      };
    },
    stop: (handle) => stop(toHandle(handle)),
    usage: async (handle) => {
      const { pid, startedAt = "" } = toHandle(handle);
      return pid !== undefined && isRunning({ pid, startedAt }) ? measureTree(pid, () => false, true) : undefined;
    },
    log: (handle) => readLog(nameOf(toHandle(handle))),
  };
}

/** @throws {Error} with what was said instead */
async function untilThere(path: string, readLog: () => Promise<string>): Promise<void> {
  for (const until = Date.now() + BESIDE_MS; !existsSync(path); await sleep(20)) {
    if (Date.now() > until) {
      throw new Error(
        `the program that connects it with the hub did not start: ${(await readLog()).trim().slice(-300)}`,
      );
    }
  }
}

const toHandle = (handle: Handle): ContainerHandle => handle as unknown as ContainerHandle;

function portOf({ profile, options }: Launch): number {
  const own = profile.embedded?.kind === "container" ? profile.embedded.port : undefined;
  return own ?? overrideOf(profile, options).port ?? DEFAULT_PORT;
}

/** The image, and what runs in it where that is not the image's own command. */
function toCommand(launch: Launch, image: string, port: number): readonly string[] {
  const { profile, options, base } = launch;
  const { cmd, args } = overrideOf(profile, options);
  const own = profile.embedded?.kind === "container" ? profile.embedded.command : undefined;
  const fill = (part: string) =>
    part
      .replaceAll("{port}", String(port))
      .replaceAll("{base}", base)
      .replaceAll("{home}", HOME)
      .replaceAll("{user}", launch.user)
      .replaceAll("{origin}", launch.origin);
  // As on Kubernetes: a command takes the place of the image's entry point, arguments that of its command.
  const [entry, ...rest] = cmd ?? [];
  return [
    ...(entry === undefined ? [] : ["--entrypoint", fill(entry)]),
    image,
    ...[...rest, ...(own ?? args ?? [])].map(fill),
  ];
}

/** The user of the container is who owns the home on this machine. */
function toUser(report: EngineReport): readonly string[] {
  const [uid, gid] = [process.getuid?.() ?? USER.uid, process.getgid?.() ?? USER.gid];
  if (uid === 0) {
    return ["--user", `${USER.uid}:${USER.gid}`];
  }
  return report.outcome === "found" && report.engine.kind === "podman"
    ? ["--userns", `keep-id:uid=${USER.uid},gid=${USER.gid}`, "--user", `${USER.uid}:${USER.gid}`]
    : ["--user", `${uid}:${gid}`];
}

function toEnvFile(launch: Launch, port: number, trust: Readonly<Record<string, string>> = {}): string {
  const all: Record<string, string> = {
    ...overrideOf(launch.profile, launch.options).environment,
    ...trust,
    ...launch.env,
    SWATH_EXAMPLES: `${SEEN}/examples`,
    HOME,
    USER: launch.user,
    PYTHONPATH: `${SEEN}/clients`,
    ...insideEnvironment(launch, `http://0.0.0.0:${port}`),
  };
  return Object.entries(all)
    .flatMap(([name, value]) => (/[\n\r]/.test(value) ? [] : [`${name}=${value}\n`]))
    .join("");
}
