import { CwlError, type Executor, type JobSpec } from "@swath/cwl";
import { SEALED, findProgram, installCommand, showSystem, noBubblewrapReason } from "@swath/isolation";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

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

const found = new WeakMap<object, Isolation | undefined>();

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
export function noHostToolsReason(settings: AdesSettings): string | undefined {
  const { HOST_TOOLS: requested, EXECUTOR: executor } = settings;
  if (executor === "pods" || requested === "open") {
    return undefined;
  }
  if (requested === "refused") {
    return "the operator lets only tools in containers run here (HOST_TOOLS=refused)";
  }
  return findIsolation(settings) === undefined
    ? `tools that name no container need bubblewrap here, which is missing or does not work; install it: ${installCommand()}`
    : undefined;
}

function lookForIsolation(settings: AdesSettings): Isolation | undefined {
  const { HOST_TOOLS: requested, EXECUTOR: executor, BUBBLEWRAP: program } = settings;
  if (executor === "pods" || requested === "open" || requested === "refused") {
    return undefined;
  }
  const command = findProgram([program]);
  const isolation =
    command === undefined ? undefined : { command, system: showSystem({ folders: placesOf(toolPath(settings)) }) };
  const why = isolation === undefined ? "it is not installed" : noBubblewrapReason(isolation.command, isolation.system);
  if (why !== undefined && requested === "isolated") {
    throw new Error(
      `HOST_TOOLS is isolated, and bubblewrap (bwrap) cannot be used: ${why}. Install it (${installCommand()}) and allow user ` +
        "namespaces, or set HOST_TOOLS=refused, so that only tools in containers run.",
    );
  }
  return why === undefined ? isolation : undefined;
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
    const exists = program.includes("/") && existsSync(program);
    throw new CwlError(
      "process-failed",
      `${name}: the command ${JSON.stringify(command)} ${exists ? "may not be executed" : "was not found on this machine"}`,
      { exitCode: exists ? 126 : 127 },
    );
  }
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
