import { CwlError, type Executor, type JobSpec } from "@swath/cwl";
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { findProgram } from "./find-program.ts";
import type { ToolNetwork } from "./tool-network/tool-network.ts";
import { type ToolLimits, limitCommand, watchProcesses } from "./tool-limits.ts";
import type { AdesSettings } from "./storage.ts";
import { EXAMPLE_TOOLS, toolPath } from "./tool-path.ts";

/** How tools that run on this machine are kept from the rest of it. */
export interface Isolation {
  /** The program bubblewrap. */
  readonly command: string;
  /** Its arguments for everything that every tool sees. */
  readonly system: readonly string[];
}

/** Lists of names without much ado around each. */
const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(" "));

/** Of `/etc`, what programs need and that is no secret. */
const ETC = words(
  "alternatives ld.so.cache ld.so.conf ld.so.conf.d passwd group nsswitch.conf localtime hosts resolv.conf",
  "host.conf protocols services ssl/certs ssl/openssl.cnf ca-certificates ca-certificates.conf pki/tls/certs",
  "pki/ca-trust/extracted fonts mime.types magic crypto-policies",
);
/**
 * Of `/proc`, what is not of processes: to be read only, or not at all (the lists of the OCI run time specification). Where the
 * service is root, a tool has root's number outside its user name space, and without these root's switches of the kernel.
 */
const PROC_READ_ONLY = ["sys", "sysrq-trigger", "bus", "fs", "irq"];
const PROC_HIDDEN = words(
  "acpi asound kcore keys key-users kmsg kpagecgroup kpagecount kpageflags latency_stats sched_debug scsi",
  "timer_list timer_stats vmallocinfo slabinfo kallsyms mtrr interrupts",
);
/** Who tools are: nobody in particular, with no rights over anything but their own directories. */
const USER = "1000";

const found = new WeakMap<object, Isolation | undefined>();

/** Bytes of memory that programs may share through files (`/dev/shm`): as much as containers have. */
const SHARED_MEMORY_BYTES = 64 * 2 ** 20;

/**
 * What isolates tools that run on this machine; `undefined` where they run with the service's rights, or not at all.
 * @throws {Error} where isolation was asked for and cannot be had
 */
export function findIsolation(settings: AdesSettings): Isolation | undefined {
  if (!found.has(settings)) {
    found.set(settings, lookForIsolation(settings));
  }
  return found.get(settings);
}

/** Why tools without a container do not run here; `undefined` where they do. */
export function whyNoHostTools(settings: AdesSettings): string | undefined {
  const { HOST_TOOLS: wanted, EXECUTOR: executor } = settings;
  if (executor === "pods" || wanted === "open") {
    return undefined;
  }
  if (wanted === "refused") {
    return "the operator lets only tools in containers run here (HOST_TOOLS=refused)";
  }
  return findIsolation(settings) === undefined
    ? `tools that name no container need bubblewrap here, which is missing or does not work; install it: ${installCommand()}`
    : undefined;
}

/** The command that installs bubblewrap on this system. */
export function installCommand(): string {
  const commands = [
    ["apt-get", "apt-get install bubblewrap"],
    ["dnf", "dnf install bubblewrap"],
    ["apk", "apk add bubblewrap"],
    ["pacman", "pacman -S bubblewrap"],
    ["zypper", "zypper install bubblewrap"],
  ] as const;
  return commands.find(([program]) => findProgram([program]) !== undefined)?.[1] ?? "apt-get install bubblewrap";
}

function lookForIsolation(settings: AdesSettings): Isolation | undefined {
  const { HOST_TOOLS: wanted, EXECUTOR: executor, BUBBLEWRAP: program } = settings;
  if (executor === "pods" || wanted === "open" || wanted === "refused") {
    return undefined;
  }
  const command = findProgram([program]);
  const isolation = command === undefined ? undefined : { command, system: showSystem(toolPath(settings)) };
  const why = isolation === undefined ? "it is not installed" : tryOut(isolation);
  if (why !== undefined && wanted === "isolated") {
    throw new Error(
      `HOST_TOOLS is isolated, and bubblewrap (bwrap) cannot be used: ${why}. Install it (${installCommand()}) and allow user ` +
        "namespaces, or set HOST_TOOLS=refused, so that only tools in containers run.",
    );
  }
  return why === undefined ? isolation : undefined;
}

/** Why it does not work here, where it does not. */
function tryOut({ command, system }: Isolation): string | undefined {
  try {
    execFileSync(command, [...system, "--tmpfs", "/tmp", "--unshare-net", ...SEALED, "--", "/bin/sh", "-c", ":"], {
      env: {},
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 10_000,
    });
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: Buffer | null; readonly message: string };
    return (stderr?.toString().trim() || message).slice(0, 300);
  }
}

/** What one job's tools see and may use. */
interface JobIsolation extends Isolation {
  /** Folder of the job. */
  readonly folder: string;
  readonly limits: ToolLimits;
  /** Leads to the network, for tools that may use it. */
  readonly network: ToolNetwork | undefined;
}

/**
 * A tool sees the system's programs, those on its PATH, and the files of its own job; of these it may write its working and its
 * scratch directory, which is its `/tmp`, too. No other process, nobody else's files, no memory that is not counted, and of the
 * network only what the operator lets it have.
 */
export function isolate(executor: Executor, isolation: JobIsolation): Executor {
  return {
    ...executor,
    run: async (job, controls) => {
      checkCommand(job);
      const guard = watchProcesses(job, isolation, controls.signal);
      try {
        const result = await executor.run(
          { ...job, command: wrap(job, isolation, guard.pidFile) },
          { ...controls, signal: guard.signal },
        );
        return { ...result, usage: { ...result.usage, ...guard.usage() } };
      } catch (error) {
        throw guard.exceeded() ?? error;
      } finally {
        guard.stop();
      }
    },
  };
}

/** Nothing above the mounts can be written: what is written there is memory that nobody counts. */
const SEALED = words("--remount-ro /dev --remount-ro /");

function wrap(
  job: JobSpec,
  { command, system, folder, limits, network }: JobIsolation,
  pidFile: string,
): readonly string[] {
  const own = new Set([resolve(folder), realpathSync(folder)]);
  const writable = [job.outdir.host, job.tmpdir.host];
  const way = job.network ? network : undefined;
  return [
    // The process that all others of the tool descend from says who it is.
    "/bin/sh",
    "-c",
    'echo $$ > "$0"; exec "$@"',
    pidFile,
    command,
    ...system,
    ...["/tmp", "/var/tmp"].flatMap((path) => ["--bind", job.tmpdir.host, path]),
    ...[...own].flatMap((path) => ["--ro-bind", path, path]),
    ...writable.flatMap((path) => ["--bind", path, path]),
    "--unshare-net",
    ...(way?.mounts ?? []),
    ...SEALED,
    "--chdir",
    job.outdir.host,
    "--",
    ...limitCommand(limits),
    ...(way?.command ?? []),
    ...job.command,
  ];
}

/** Bubblewrap does not say in a way of its own that there is no such program. @throws {CwlError} */
function checkCommand({ name, command: [command = ""], environment, outdir }: JobSpec): void {
  const program = command.includes("/") ? resolve(outdir.host, command) : command;
  if (findProgram([program], environment["PATH"] ?? "") === undefined) {
    const isThere = program.includes("/") && existsSync(program);
    throw new CwlError(
      "process-failed",
      `${name}: the command ${JSON.stringify(command)} ${isThere ? "may not be executed" : "was not found on this machine"}`,
      { exitCode: isThere ? 126 : 127 },
    );
  }
}

function showSystem(path: string): readonly string[] {
  return [
    ...words(
      "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try",
      `--uid ${USER} --gid ${USER} --die-with-parent --new-session`,
      "--ro-bind /usr /usr --ro-bind-try /opt /opt --ro-bind-try /nix/store /nix/store",
    ),
    ...["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap(showTop),
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...words("--proc /proc"),
    ...PROC_READ_ONLY.flatMap(showProc),
    ...PROC_HIDDEN.flatMap(hideProc),
    ...words(`--dev /dev --size ${SHARED_MEMORY_BYTES} --tmpfs /dev/shm --dir /run --dir /var/tmp`),
    ...placesOf(path).flatMap((folder) => ["--ro-bind-try", folder, folder]),
  ];
}

/** Links into `/usr` on most systems, folders on some. */
function showTop(path: string): readonly string[] {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    return [];
  }
  return info.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

const showProc = (name: string): readonly string[] => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`];

function hideProc(name: string): readonly string[] {
  const path = `/proc/${name}`;
  const info = statSync(path, { throwIfNoEntry: false });
  if (info === undefined) {
    return [];
  }
  return info.isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** Folders of programs that are not the system's, with the libraries beside them. */
function placesOf(path: string): readonly string[] {
  return path
    .split(":")
    .filter((folder) => folder.startsWith("/") && !/^\/(?:usr|s?bin)(?:\/|$)/.test(folder))
    .flatMap((folder) => {
      if (EXAMPLE_TOOLS.some((tools) => folder.startsWith(`${tools}/`))) {
        return EXAMPLE_TOOLS;
      }
      const beside = ["lib", "lib64", "libexec", "share"].map((name) => join(dirname(folder), name));
      return basename(folder) === "bin" && dirname(folder) !== "/" ? [folder, ...beside] : [folder];
    });
}
