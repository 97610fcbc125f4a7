import type { Command, Sandbox, View } from "@swath/isolation";
import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Embedded } from "../profiles/model.ts";
import type { Authorities } from "./authorities.ts";
import { SEEN } from "./containers/show-host.ts";
import { HUB_PORT, PROXY_PORT, STORAGE_PORT, insideEnvironment } from "./inside-environment.ts";
import type { Launch } from "./spawner.ts";

/** Where a server's programs are found. */
export const PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin";
const DEFAULT_PORT = 8888;
/** Processes and threads of one server: notebooks with many kernels have some hundred. */
export const MAX_PROCESSES = 1024;
const MAX_OPEN_FILES = 8192;
/** Address space that a program may take without using it. */
const RESERVED_BYTES = 2 ** 30;
/** Temporary files where a server's memory has no limit. */
const SCRATCH_BYTES = 2 ** 30;
/** The platform's own commands, for who writes packages: `swath cwl`, `swath run`. Code alone, as everybody may read it. */
const COMMANDS = ["bin", "cli", "components", "libs", "node_modules", "package.json", "package-lock.json", "tools"];
const ROOT = join(import.meta.dirname, "../../..");

export type Program = Extract<Embedded, { kind: "program" }>;

export interface ServerFolders {
  /** What the server's user keeps. */
  readonly home: string;
  /** Socket, log and end of the server: nothing of it is seen inside. */
  readonly folder: string;
  /** Sockets that all servers see. */
  readonly shared: string;
}

interface ServerOptions extends ServerFolders {
  readonly launch: Launch;
  readonly program: Program;
  readonly authorities: Authorities | undefined;
  /** Whether ~/workspace is kept the same as the bucket of the workspace. */
  readonly hasStorage: boolean;
}

/** What a server sees and may use. */
export function describeServer({ launch, home, folder, shared, authorities }: Omit<ServerOptions, "program">): Sandbox {
  const egress = launch.profile.egress ?? "platform";
  const { memoryBytes } = launch.size;
  const bring = (source: string, name: string): View => ({ kind: "read-only", source, target: `${SEEN}/${name}` });
  return {
    // Counted as memory of the server, too.
    scratch: { bytes: memoryBytes > 0 ? memoryBytes / 2 : SCRATCH_BYTES },
    view: [
      { kind: "writable", source: home, target: homeOf(launch) },
      bring(process.execPath, "node"),
      bring(join(import.meta.dirname, "../process/inside.cjs"), "inside.cjs"),
      bring(join(import.meta.dirname, "../process/sync.mjs"), "sync.mjs"),
      bring(join(import.meta.dirname, "../clients/python"), "clients"),
      bring(join(import.meta.dirname, "../clients/javascript"), "javascript"),
      bring(join(import.meta.dirname, "../notebooks"), "examples"),
      ...COMMANDS.map((name) => join(ROOT, name))
        .filter((path) => existsSync(path))
        .map((path) => bring(path, `platform${path.slice(ROOT.length)}`)),
      ...(authorities === undefined
        ? []
        : [{ kind: "read-only", source: authorities.folder, target: authorities.target } as const]),
      // The sockets come and go with the hub and the proxy; their folders stay.
      bring(join(shared, "hub"), "hub"),
      ...(egress === "none" ? [] : [bring(join(shared, egress), "net")]),
    ],
    workdir: homeOf(launch),
    limits: {
      processes: MAX_PROCESSES,
      openFiles: MAX_OPEN_FILES,
      // Of one process: programs reserve more than they use (Node.js 200 MB), and the hub counts what all of them use.
      ...(memoryBytes > 0 && { dataBytes: RESERVED_BYTES + 2 * memoryBytes }),
    },
    file: join(folder, "sandbox"),
  };
}

/** What runs within: the ways in and out, then the program. Its first descriptor is the socket that leads in. */
export function describeProgram({
  launch,
  program,
  hasStorage,
  authorities,
}: Omit<ServerOptions, keyof ServerFolders>): Command {
  const port = program.port ?? DEFAULT_PORT;
  const home = homeOf(launch);
  const egress = launch.profile.egress ?? "platform";
  const values: Readonly<Record<string, string>> = {
    port: String(port),
    base: launch.base,
    home,
    user: launch.user,
    origin: launch.origin,
  };
  return {
    command: [
      `${SEEN}/node`,
      "--max-old-space-size=32",
      "--max-semi-space-size=1",
      `${SEEN}/inside.cjs`,
      `in:0=${port}`,
      ...(hasStorage ? ["sync", `out:${STORAGE_PORT}=${SEEN}/hub/storage`] : []),
      `out:${HUB_PORT}=${SEEN}/hub/sock`,
      ...(egress === "none" ? [] : [`out:${PROXY_PORT}=${SEEN}/net/sock`]),
      "--",
      ...program.command.map((part) => part.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)),
    ],
    // Secrets go by the environment: arguments can be read by every user of the machine.
    environment: {
      PATH: `${PROGRAM_PATH}:${SEEN}/platform/bin`,
      HOME: home,
      USER: launch.user,
      LANG: "C.UTF-8",
      SHELL: "/bin/bash",
      TMPDIR: "/tmp",
      PYTHONPATH: `${SEEN}/clients`,
      SWATH_EXAMPLES: `${SEEN}/examples`,
      ...authorities?.env,
      ...launch.env,
      ...insideEnvironment(launch, `http://127.0.0.1:${port}`),
    },
  };
}

const homeOf = ({ user }: Launch): string => `/home/${/^[a-z0-9][a-z0-9_-]{0,30}$/.test(user) ? user : "user"}`;
