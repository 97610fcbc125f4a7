import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { CONTAINER_ENGINES, type ContainerEngine, findContainerEngine, findProgram } from "@swath/isolation";

import type { Check, Finding } from "../finding.ts";

const TIMEOUT_MS = 20_000;
const SUBJECT = "containers";
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
    return { verdict: "good", subject: SUBJECT, found: `${kind} ${answer.version}` };
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

async function callEngine({
  command,
  kind,
}: ContainerEngine): Promise<{ readonly version: string } | { readonly reason: string }> {
  const format = kind === "docker" ? "{{.ServerVersion}}" : "{{.Version.Version}}";
  try {
    const { stdout } = await promisify(execFile)(command, ["info", "--format", format], { timeout: TIMEOUT_MS });
    return { version: stdout.trim() };
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: string; readonly message: string };
    return { reason: (stderr?.trim() || message).split("\n").at(-1) ?? "" };
  }
}
