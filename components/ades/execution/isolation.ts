import { CwlError, type Executor, type JobSpec } from "@swath/cwl";
import { type Command, type Isolation, type Sandbox, type View, findIsolation, findProgram } from "@swath/isolation";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import type { ToolNetwork } from "./tool-network/tool-network.ts";
import { type ToolLimits, watchProcesses } from "./tool-limits.ts";
import type { AdesSettings } from "./storage.ts";
import { EXAMPLE_TOOLS, isOfExamples, seenPath, showCompiledCode } from "./tool-path.ts";

/**
 * What isolates tools that run on this machine; `undefined` where they run with the service's rights, or not at all.
 * @throws {Error} where isolation was asked for and cannot be had
 */
export function findToolIsolation(settings: AdesSettings): Isolation | undefined {
  if (!isWanted(settings)) {
    return undefined;
  }
  const report = tryIsolation(settings);
  if (!report.works && settings.HOST_TOOLS === "isolated") {
    throw new Error(
      `HOST_TOOLS is isolated, and this machine cannot isolate tools (${report.reason}). Mend it (${report.command}), or set ` +
        "HOST_TOOLS=refused, so that only tools in containers run.",
    );
  }
  return report.works ? report.isolation : undefined;
}

/** Why tools without a container do not run here; `undefined` where they do. */
export function noHostToolsReason(settings: AdesSettings): string | undefined {
  if (settings.HOST_TOOLS === "refused" && settings.EXECUTOR !== "pods") {
    return "the operator lets only tools in containers run here (HOST_TOOLS=refused)";
  }
  if (!isWanted(settings)) {
    return undefined;
  }
  const report = tryIsolation(settings);
  return report.works
    ? undefined
    : `tools that name no container cannot be isolated here (${report.reason}); the operator can mend it: ${report.command}`;
}

const isWanted = ({ HOST_TOOLS: requested, EXECUTOR: executor }: AdesSettings): boolean =>
  executor !== "pods" && (requested === "auto" || requested === "isolated");

const tryIsolation = ({ BUBBLEWRAP: bubblewrap, SANDBOX: only }: AdesSettings) =>
  findIsolation({ bubblewrap, ...(only !== "auto" && { only: only as Isolation["kind"] }) });

/** What one job's tools see and may use. */
interface JobIsolation {
  readonly isolation: Isolation;
  /** The PATH of the service's settings. */
  readonly path: string;
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
          { ...job, ...wrap(job, isolation, guard.pidFile) },
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

function wrap(job: JobSpec, { isolation, path, folder, limits, network }: JobIsolation, pidFile: string): Command {
  const way = job.network ? network : undefined;
  const { command, environment } = isolation.wrap(describeSandbox(job, { path, folder, limits, way, pidFile }), {
    command: [...(way?.command ?? []), ...job.command],
    environment: { ...job.environment, PATH: seenPath(job.environment["PATH"] ?? "") },
  });
  return {
    // The process that all others of the tool descend from says who it is.
    command: ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', pidFile, ...command],
    // By these, left-over processes are found.
    environment: { ...environment, HOME: job.outdir.host, TMPDIR: job.tmpdir.host },
  };
}

interface ToolSandbox {
  readonly path: string;
  readonly folder: string;
  readonly limits: ToolLimits;
  readonly way: ToolNetwork | undefined;
  readonly pidFile: string;
}

/** The sandbox of a tool. */
export function describeSandbox(
  { outdir, tmpdir }: Pick<JobSpec, "outdir" | "tmpdir">,
  { path, folder, limits, way, pidFile }: ToolSandbox,
): Sandbox {
  return {
    scratch: { folder: tmpdir.host },
    view: [
      ...placesOf(path),
      ...[...new Set([resolve(folder), realpathSync(folder)])].map(showAt),
      ...[outdir.host, tmpdir.host].map((place): View => ({ kind: "writable", source: place, target: place })),
      ...(way?.view ?? []),
    ],
    workdir: outdir.host,
    limits,
    file: pidFile,
  };
}

const showAt = (path: string): View => ({ kind: "read-only", source: path, target: path });

/** The sandbox does not say in a way of its own that there is no such program. @throws {CwlError} */
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
function placesOf(path: string): readonly View[] {
  const folders = path
    .split(":")
    .filter((folder) => folder.startsWith("/") && !/^\/(?:usr|s?bin)(?:\/|$)/.test(folder));
  const own = folders.filter(isOfExamples);
  const others = folders
    .filter((folder) => !own.includes(folder))
    .flatMap((folder) => {
      const beside = ["lib", "lib64", "libexec", "share"].map((name) => join(dirname(folder), name));
      return basename(folder) === "bin" && dirname(folder) !== "/" ? [folder, ...beside] : [folder];
    });
  return [
    ...others.filter((each) => existsSync(each)).map(showAt),
    ...(own.length === 0 ? [] : [...EXAMPLE_TOOLS.filter(({ source }) => existsSync(source)), ...showCompiledCode()]),
  ];
}
