import { OgcError, invalidParameter } from "../errors.ts";
import type { PackageFacts } from "../packages/package-facts.ts";
import type { JobNeeds } from "../store/jobs.ts";
import { readCapacity } from "./capacity.ts";
import { runsContainers } from "./executors.ts";
import { noHostToolsReason } from "./isolation.ts";
import { readNetworkRule } from "./tool-network/network-rule.ts";
import { type InputSource, readInputs } from "./read-inputs.ts";
import type { AdesSettings } from "./storage.ts";

/**
 * Looks at an execute request before it becomes a job: inputs that do not fit, a package that can never run here.
 * @returns what the job will ask the machine for, and what it will fetch
 * @throws {OgcError} 400 with what is wrong and what is allowed
 */
export function checkExecution(
  settings: AdesSettings,
  facts: PackageFacts,
  { owner, process, inputs }: ExecutionRequest,
): { readonly needs: JobNeeds; readonly sources: readonly InputSource[] } {
  const { sources } = readInputs(facts, inputs);
  if (facts.network && !readNetworkRule(settings)(owner, process)) {
    throw new OgcError(
      403,
      "NetworkNotAllowed",
      "A tool of this process asks for the network (NetworkAccess), which the operator has not allowed: " +
        `PROCESSING_TOOL_NETWORK names users and processes, such as ${owner}/${process}.`,
    );
  }
  const obstacle = findObstacle(settings, facts);
  if (obstacle !== undefined) {
    throw obstacle;
  }
  return { needs: checkNeeds(settings, facts), sources };
}

interface ExecutionRequest {
  readonly owner: string;
  /** Its id. */
  readonly process: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/**
 * What a package asks of the machine.
 * @throws {OgcError} 400 for what can never be had here
 */
export function checkNeeds(settings: AdesSettings, { resources, resourceMistakes }: PackageFacts): JobNeeds {
  const { cores, ramMiB, togetherRamMiB: totalRamMiB } = resources;
  if (resourceMistakes.length > 0) {
    throw invalidParameter(`A ResourceRequirement of the package cannot be met: ${resourceMistakes.join("; ")}.`);
  }
  const most = readCapacity(settings).perJob;
  if (cores > most.cores || ramMiB > most.ramMiB) {
    throw new OgcError(
      400,
      "NotEnoughCapacity",
      `A tool of this process asks for ${cores} cores and ${ramMiB} MiB of memory; a job may have ${most.cores} cores and ` +
        `${most.ramMiB} MiB here. Lower coresMin and ramMin of its ResourceRequirement, or ask the operator for more.`,
    );
  }
  return { cores, ramMiB, wishRamMiB: totalRamMiB ?? null };
}

/** What this machine lacks for a package; an operator can mend it. */
export function findObstacle(
  settings: AdesSettings,
  { hostTool, resources: { demandedImage } }: PackageFacts,
): OgcError | undefined {
  const refused = hostTool ? noHostToolsReason(settings) : undefined;
  if (refused !== undefined) {
    return new OgcError(400, "HostToolsRefused", `A tool of this process names no container, and ${refused}.`);
  }
  if (demandedImage !== undefined && !runsContainers(settings)) {
    return new OgcError(
      400,
      "NoContainerEngine",
      `This process demands the container ${demandedImage}, and no container engine is used here. The operator can install podman ` +
        "or docker; a package whose tools are on this machine can name the container as a hint (hints: DockerRequirement).",
    );
  }
  return undefined;
}
