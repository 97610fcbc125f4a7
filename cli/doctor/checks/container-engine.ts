import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { CONTAINER_ENGINES, type ContainerEngine, findContainerEngine, findProgram } from "@swath/isolation";

import type { Check, Finding } from "../finding.ts";

const TIMEOUT_MS = 20_000;
const SUBJECT = "containers";
const LIMITS = ["memory", "processes", "CPU"];
const LIMITS_ADVICE =
  "Let the kernel's control groups (version 2) limit them: for a user without root, systemd's Delegate=memory pids cpu of user@.service.";
const REFUSED =
  "Application packages whose tools require a container (DockerRequirement) are refused; the examples also run without.";

/** Whether tools of application packages can run in containers here. */
export const checkContainerEngine: Check = async ({ plan }) =>
  plan.settings.variables.REQUIRE_ADES ? [await examineEngine(plan.settings.variables.CONTAINER_ENGINE)] : [];

/** Tries the engine that services would use, which is the one that `CONTAINER_ENGINE` means, whether it works or not. */
export async function examineEngine(requested: string, path?: string): Promise<Finding> {
  const report = findContainerEngine(requested, path);
  if (report.outcome === "unwanted") {
    return { verdict: "good", subject: SUBJECT, found: "none are wanted (CONTAINER_ENGINE=none)", meaning: REFUSED };
  }
  if (report.outcome === "missing") {
    return report.wasRequested
      ? {
          verdict: "bad",
          subject: SUBJECT,
          found: report.reason.split(";")[0] ?? "",
          meaning: "The processing service will not start.",
          advice: "Install it, or set CONTAINER_ENGINE to auto, none, podman, docker or the path of one.",
        }
      : {
          verdict: "limited",
          subject: SUBJECT,
          found: report.reason,
          meaning: REFUSED,
          advice: "apt-get install podman",
        };
  }
  const { command, kind } = report.engine;
  const answer = await callEngine(report.engine);
  if ("version" in answer) {
    const missing = LIMITS.filter((limit) => !answer.limits.includes(limit));
    return missing.length === 0
      ? { verdict: "good", subject: SUBJECT, found: `${kind} ${answer.version}` }
      : {
          verdict: "limited",
          subject: SUBJECT,
          found: `${kind} ${answer.version}, without limits of ${missing.join(", ")}`,
          meaning: "A program in a container can use more of them than it may, and slow this machine down for all.",
          advice: LIMITS_ADVICE,
        };
  }
  const other = CONTAINER_ENGINES.find((name) => name !== kind && findProgram([name], path) !== undefined);
  const useOther = requested === "auto" && other !== undefined ? `, or set CONTAINER_ENGINE=${other}` : "";
  return {
    verdict: requested === "auto" ? "limited" : "bad",
    subject: SUBJECT,
    found: `${kind} does not work: ${answer.reason}`,
    meaning: "Tools that run in containers will not run.",
    advice: `${command} info says more${useOther}`,
  };
}

/** What an engine says of itself. */
interface EngineInfo {
  readonly version: string;
  /** Of what the kernel limits in containers here. */
  readonly limits: readonly string[];
}

/** The parts of `podman info` and of `docker info` that are looked at. */
interface PodmanInfo {
  readonly version: { readonly Version: string };
  readonly host: { readonly cgroupControllers?: readonly string[] | null };
}
interface DockerInfo {
  readonly ServerVersion: string;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
}

async function callEngine({ command, kind }: ContainerEngine): Promise<EngineInfo | { readonly reason: string }> {
  const format = kind === "docker" ? "{{json .}}" : "json";
  try {
    const { stdout } = await promisify(execFile)(command, ["info", "--format", format], { timeout: TIMEOUT_MS });
    return kind === "docker" ? readDocker(JSON.parse(stdout)) : readPodman(JSON.parse(stdout));
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    return { reason: (stderr?.trim() || message).split("\n").at(-1) ?? "" };
  }
}

function readPodman({ version, host }: PodmanInfo): EngineInfo {
  const has = (name: string) => host.cgroupControllers?.includes(name) === true;
  return { version: version.Version, limits: pick({ memory: has("memory"), processes: has("pids"), CPU: has("cpu") }) };
}

function readDocker({ ServerVersion, MemoryLimit, PidsLimit, CpuCfsQuota }: DockerInfo): EngineInfo {
  return {
    version: ServerVersion,
    limits: pick({ memory: MemoryLimit === true, processes: PidsLimit === true, CPU: CpuCfsQuota === true }),
  };
}

const pick = (limits: Readonly<Record<string, boolean>>): readonly string[] =>
  Object.keys(limits).filter((name) => limits[name]);
