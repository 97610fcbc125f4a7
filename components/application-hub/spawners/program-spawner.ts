import { SEALED, findProgram, installCommand, showSystem, noBubblewrapReason } from "@swath/isolation";
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Embedded, Profile } from "../profiles/model.ts";
import { findProcess, isRunning, listDescendants, measureTree, readCommand, signal } from "../process/proc.ts";
import { type Authorities, shareAuthorities } from "./authorities.ts";
import { SEEN } from "./containers/show-host.ts";
import type { HubFolders } from "./folders.ts";
import { HUB_PORT, PROXY_PORT, STORAGE_PORT, insideEnvironment } from "./inside-environment.ts";
import type { Handle, Launch, Liveness, Spawner, Unavailable } from "./spawner.ts";

const DEFAULT_PORT = 8888;
/** Minutes that servers outlive the hub. */
const LEASE_MINUTES = 5;
const STOP_MS = 8000;
const MAX_LOG_BYTES = 64 * 1024;
const PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin";
/** The platform's own commands, for who writes packages: `swath cwl`, `swath run`. Code alone, as everybody may read it. */
const COMMANDS = ["bin", "cli", "components", "libs", "node_modules", "package.json", "package-lock.json", "tools"];
const ROOT = join(import.meta.dirname, "../../..");

type Program = Extract<Embedded, { kind: "program" }>;

/** What a kept server is found by. */
interface ProgramHandle {
  readonly kind: "program";
  readonly id: string;
  readonly pid?: number;
  readonly startedAt?: string;
}

interface ProgramOptions {
  readonly folders: HubFolders;
  /** Whether ~/workspace is kept the same as the bucket of the workspace. */
  readonly hasStorage: boolean;
  /** Certificate of the platform's own authority, where it has one. */
  readonly authorityFile: string | undefined;
}

/**
 * Programs of this machine, isolated as tools of jobs are: their own processes, home and network. They are no children of the
 * hub: a keeper of each (`process/keep.sh`) writes down how it ended and ends it when the hub stays away.
 */
export function createProgramSpawner({ folders, hasStorage, authorityFile }: ProgramOptions): Spawner {
  const bubblewrap = findProgram(["bwrap"]);
  const system = showSystem({ folders: [] });
  const broken = bubblewrap === undefined ? "it is not installed" : noBubblewrapReason(bubblewrap, system);

  const whyNot = async ({ embedded }: Profile): Promise<Unavailable | undefined> => {
    if (embedded?.kind !== "program") {
      return { reason: "it is not a program" };
    }
    if (broken !== undefined) {
      return { reason: `bubblewrap cannot be used: ${broken}`, command: installCommand() };
    }
    const [program = ""] = embedded.command;
    if (findProgram([program], PROGRAM_PATH) !== undefined) {
      return undefined;
    }
    return {
      reason: `${program} is not installed on this machine`,
      ...(embedded.install !== undefined && { command: embedded.install }),
    };
  };

  return {
    whyNot,
    plan: ({ id }) => ({ kind: "program", id }),
    start: async (launch, _handle, onEvent) => {
      const missing = await whyNot(launch.profile);
      if (missing !== undefined) {
        throw new Error(
          `${missing.reason}${missing.command === undefined ? "" : `; an operator can install it: ${missing.command}`}`,
        );
      }
      const program = launch.profile.embedded as Program;
      const folder = folders.serverOf(launch.id);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(join(folder, "io"), { recursive: true, mode: 0o700 });
      const home = folders.homeOf(launch.user);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const log = openSync(join(folder, "log"), "a", 0o600);
      const { command, env } = wrap(bubblewrap ?? "bwrap", system, {
        launch,
        program,
        home,
        folder,
        shared: folders.shared,
        hasStorage,
        authorities: shareAuthorities(folders.shared, authorityFile),
      });
      const keeper = spawn(
        "/bin/sh",
        [
          join(import.meta.dirname, "../process/keep.sh"),
          folders.lease,
          String(LEASE_MINUTES),
          join(folder, "exit"),
          ...command,
        ],
        // A session of its own, and nothing of the hub's environment.
        { detached: true, stdio: ["ignore", log, log], cwd: "/", env: { ...env, SWATH_SERVER: launch.id } },
      );
      closeSync(log);
      await new Promise<void>((resolve, reject) => {
        keeper.once("spawn", resolve);
        keeper.once("error", reject);
      });
      keeper.unref();
      const found = findProcess(keeper.pid ?? 0);
      onEvent(`${program.command[0]} was started`);
      return {
        handle: { kind: "program", id: launch.id, pid: keeper.pid ?? 0, startedAt: found?.startedAt ?? "" },
        target: { url: `http+unix://${encodeURIComponent(join(folder, "io/app"))}` },
        ...(program.listens !== false && { readyPath: `${launch.base}${program.ready_path ?? ""}` }),
      };
    },
    poll: async (handle) => pollKeeper(toHandle(handle), folders),
    stop: async (handle) => {
      const { id, pid, startedAt } = toHandle(handle);
      const keeper = pid === undefined ? findOrphan(id) : { pid, startedAt: startedAt ?? "" };
      if (keeper !== undefined && isRunning(keeper)) {
        writeFileSync(join(folders.serverOf(id), "exit"), "stopped");
        const family = listDescendants(keeper.pid);
        // The one that passes the signal on and brings what was changed last to the bucket; without it, all that there is.
        const bridge = family.find((each) => isBridge(readCommand(each)));
        (bridge === undefined ? family : [bridge]).forEach((each) => signal(each, "SIGTERM"));
        const deadline = Date.now() + STOP_MS;
        while (isRunning(keeper) && Date.now() < deadline) {
          await sleep(50);
        }
        for (const each of [...listDescendants(keeper.pid), ...(isRunning(keeper) ? [keeper.pid] : [])]) {
          signal(each, "SIGKILL");
        }
        while (isRunning(keeper) && Date.now() < deadline + STOP_MS) {
          await sleep(20);
        }
      }
      rmSync(join(folders.serverOf(id), "io"), { recursive: true, force: true });
    },
    usage: async (handle) => {
      const { pid, startedAt = "" } = toHandle(handle);
      return pid !== undefined && isRunning({ pid, startedAt }) ? measureTree(pid, isBridge) : undefined;
    },
    log: (handle) => readEnd(join(folders.serverOf(toHandle(handle).id), "log")),
  };
}

/** The program that leads ports in and out; not bubblewrap, whose arguments name it too. */
const isBridge = (command: string): boolean => command.startsWith(`${SEEN}/node\0`);

const toHandle = (handle: Handle): ProgramHandle => handle as unknown as ProgramHandle;

async function pollKeeper({ id, pid, startedAt = "" }: ProgramHandle, folders: HubFolders): Promise<Liveness> {
  if (pid !== undefined && isRunning({ pid, startedAt })) {
    return { alive: true };
  }
  const folder = folders.serverOf(id);
  let result = "";
  try {
    result = readFileSync(join(folder, "exit"), "utf8").trim();
  } catch {
    // Killed together with its keeper, or the machine started again.
  }
  const log = (await readEnd(join(folder, "log"))).trim().split("\n").slice(-3).join(" ").slice(-400);
  const said = log === "" ? "" : ` It last wrote: ${log}`;
  return { alive: false, reason: `${explain(result)}${said}` };
}

function explain(result: string): string {
  if (result === "lease") {
    return `The hub was away for more than ${LEASE_MINUTES} minutes.`;
  }
  if (result === "" || result === "137") {
    return "It was killed.";
  }
  return result === "0" ? "It ended by itself." : `It ended with status ${result}.`;
}

/** A keeper that was started just before the hub was killed, and never written down. */
function findOrphan(id: string): { readonly pid: number; readonly startedAt: string } | undefined {
  for (const pid of listDescendants(1)) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`SWATH_SERVER=${id}`)) {
        return findProcess(pid);
      }
    } catch {
      // Ended meanwhile, or not ours.
    }
  }
  return undefined;
}

interface WrapOptions {
  readonly launch: Launch;
  readonly program: Program;
  readonly home: string;
  readonly folder: string;
  readonly shared: string;
  readonly authorities: Authorities | undefined;
  /** Whether ~/workspace is kept the same as the bucket of the workspace. */
  readonly hasStorage: boolean;
}

interface Wrapped {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The whole command: limits, isolation, the ways in and out, the program. */
function wrap(
  bubblewrap: string,
  system: readonly string[],
  { launch, program, home, folder, shared, hasStorage, authorities }: WrapOptions,
): Wrapped {
  const port = program.port ?? DEFAULT_PORT;
  const seenHome = `/home/${/^[a-z0-9][a-z0-9_-]{0,30}$/.test(launch.user) ? launch.user : "user"}`;
  const egress = launch.profile.egress ?? "platform";
  const values: Readonly<Record<string, string>> = {
    port: String(port),
    base: launch.base,
    home: seenHome,
    user: launch.user,
    origin: launch.origin,
  };
  const command = program.command.map((part) =>
    part.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole),
  );
  const env: Record<string, string> = {
    PATH: `${PROGRAM_PATH}:${SEEN}/platform/bin`,
    HOME: seenHome,
    USER: launch.user,
    LANG: "C.UTF-8",
    SHELL: "/bin/bash",
    TMPDIR: "/tmp",
    PYTHONPATH: `${SEEN}/clients`,
    SWATH_EXAMPLES: `${SEEN}/examples`,
    ...authorities?.env,
    ...launch.env,
    ...insideEnvironment(launch, `http://127.0.0.1:${port}`),
  };
  const mounts = [
    ["--bind", home, seenHome],
    ["--tmpfs", "/tmp"],
    ["--bind", join(folder, "io"), `${SEEN}/io`],
    ["--ro-bind", process.execPath, `${SEEN}/node`],
    ["--ro-bind", join(import.meta.dirname, "../process/inside.cjs"), `${SEEN}/inside.cjs`],
    ["--ro-bind", join(import.meta.dirname, "../process/sync.mjs"), `${SEEN}/sync.mjs`],
    ["--ro-bind", join(import.meta.dirname, "../clients/python"), `${SEEN}/clients`],
    ["--ro-bind", join(import.meta.dirname, "../clients/javascript"), `${SEEN}/javascript`],
    ["--ro-bind", join(import.meta.dirname, "../notebooks"), `${SEEN}/examples`],
    COMMANDS.flatMap((name) => ["--ro-bind-try", join(ROOT, name), `${SEEN}/platform/${name}`]),
    authorities === undefined ? [] : ["--ro-bind", authorities.folder, authorities.target],
    // The sockets come and go with the hub and the proxy; their folders stay.
    ["--ro-bind", join(shared, "hub"), `${SEEN}/hub`],
    egress === "none" ? [] : ["--ro-bind", join(shared, egress), `${SEEN}/net`],
  ].flat();
  const whole = [
    ...limit(launch),
    bubblewrap,
    ...system,
    ...mounts,
    "--unshare-net",
    ...SEALED,
    "--chdir",
    seenHome,
    "--",
    `${SEEN}/node`,
    "--max-old-space-size=32",
    "--max-semi-space-size=1",
    `${SEEN}/inside.cjs`,
    `in:${SEEN}/io/app=${port}`,
    ...(hasStorage ? ["sync", `out:${STORAGE_PORT}=${SEEN}/hub/storage`] : []),
    `out:${HUB_PORT}=${SEEN}/hub/sock`,
    ...(egress === "none" ? [] : [`out:${PROXY_PORT}=${SEEN}/net/sock`]),
    "--",
    ...command,
  ];
  // Secrets go by the environment: arguments can be read by every user of the machine.
  return { command: whole, env };
}

/** Processors by number; memory is watched by the hub, which ends what exceeds it. */
function limit({ size }: Launch): readonly string[] {
  const taskset = findProgram(["taskset"]);
  const prlimit = findProgram(["prlimit"]);
  const count = Math.max(1, Math.ceil(size.cores));
  const isWhole = count >= availableParallelism();
  return [
    ...(prlimit === undefined ? [] : [prlimit, "--core=0", "--"]),
    ...(taskset === undefined || isWhole ? [] : [taskset, "--cpu-list", `0-${count - 1}`]),
  ];
}

async function readEnd(path: string): Promise<string> {
  if (!existsSync(path)) {
    return "";
  }
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MAX_LOG_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8");
  } finally {
    await file.close();
  }
}
