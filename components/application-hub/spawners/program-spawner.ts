import { type IsolationReport, findIsolation, findProgram, makePrivateFolder } from "@swath/isolation";
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Profile } from "../profiles/model.ts";
import {
  findProcess,
  isRunning,
  listDescendants,
  measureScratch,
  measureTree,
  readCommand,
  signal,
} from "../process/proc.ts";
import { shareAuthorities } from "./authorities.ts";
import { SEEN } from "./containers/show-host.ts";
import type { HubFolders } from "./folders.ts";
import { openSocket } from "./open-socket.ts";
import { PROGRAM_PATH, type Program, describeProgram, describeServer } from "./server-sandbox.ts";
import type { Handle, Launch, Liveness, Spawner, Unavailable } from "./spawner.ts";

/** Minutes that servers outlive the hub. */
const LEASE_MINUTES = 5;
const STOP_MS = 8000;
const MAX_LOG_BYTES = 64 * 1024;

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
  /** Looks for what isolates programs; a test asks for one way. */
  readonly isolation?: () => IsolationReport;
}

/**
 * Programs of this machine, isolated as tools of jobs are: their own processes, home and network. They are no children of the
 * hub: a keeper of each (`process/keep.sh`) writes down how it ended and ends it when the hub stays away.
 */
export function createProgramSpawner({
  folders,
  hasStorage,
  authorityFile,
  isolation = findIsolation,
}: ProgramOptions): Spawner {
  const whyNot = async ({ embedded }: Profile): Promise<Unavailable | undefined> => {
    if (embedded?.kind !== "program") {
      return { reason: "it is not a program" };
    }
    const report = isolation();
    if (!report.works) {
      return { reason: `this machine cannot isolate programs (${report.reason})`, command: report.command };
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
      const report = isolation();
      if (!report.works) {
        throw new Error(`this machine cannot isolate programs (${report.reason})`);
      }
      const program = launch.profile.embedded as Program;
      const folder = folders.serverOf(launch.id);
      rmSync(folder, { recursive: true, force: true });
      makePrivateFolder(join(folder, "io"));
      const home = folders.homeOf(launch.user);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const socket = await openSocket(join(folder, "io/app"));
      const log = openSync(join(folder, "log"), "a", 0o600);
      const authorities = shareAuthorities(folders.shared, authorityFile);
      const { command, environment } = report.isolation.wrap(
        describeServer({ launch, home, folder, shared: folders.shared, authorities, hasStorage }),
        describeProgram({ launch, program, hasStorage, authorities }),
      );
      const keeper = spawn(
        "/bin/sh",
        [
          join(import.meta.dirname, "../process/keep.sh"),
          folders.lease,
          String(LEASE_MINUTES),
          folder,
          ...limitCores(launch),
          ...command,
        ],
        // A session of its own, and nothing of the hub's environment.
        {
          detached: true,
          stdio: [socket.descriptor, log, log],
          cwd: "/",
          env: { ...environment, SWATH_SERVER: launch.id },
        },
      );
      closeSync(log);
      try {
        await new Promise<void>((resolve, reject) => {
          keeper.once("spawn", resolve);
          keeper.once("error", reject);
        });
      } catch (error) {
        socket.close();
        throw error;
      }
      socket.hand();
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
      for (const name of ["io", "sandbox.mounts"]) {
        rmSync(join(folders.serverOf(id), name), { recursive: true, force: true });
      }
    },
    usage: async (handle) => {
      const { pid, startedAt = "" } = toHandle(handle);
      if (pid === undefined || !isRunning({ pid, startedAt })) {
        return undefined;
      }
      const used = measureTree(pid, isBridge);
      return { ...used, memoryBytes: used.memoryBytes + measureScratch(pid, isBridge) };
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

/** Processors by number. */
function limitCores({ size }: Launch): readonly string[] {
  const taskset = findProgram(["taskset"]);
  const count = Math.max(1, Math.ceil(size.cores));
  return taskset === undefined || count >= availableParallelism() ? [] : [taskset, "--cpu-list", `0-${count - 1}`];
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
