import type { LoadedDocument } from "./load/load.ts";
import type { Process } from "./model/process.ts";
import { containerRequest } from "./run/container-request.ts";
import { Requirements } from "./run/requirements.ts";

/** What a process will ask for, as far as its document says it in numbers; what only an expression knows counts as nothing said. */
export interface ResourceEstimate {
  /** Processors and MiB of its largest tool: with less it can never run. */
  readonly cores: number;
  readonly ramMiB: number;
  /** The most MiB of all its tools together: with that everything may run side by side. `undefined` where a step is scattered. */
  readonly togetherRamMiB: number | undefined;
  /** Image of a tool that demands a container, where there is one. */
  readonly demandedImage: string | undefined;
}

/** What a tool that says nothing asks for (CWL v1.2, ResourceRequirement). */
const DEFAULT_CORES = 1;
const DEFAULT_RAM_MIB = 256;

interface Sum {
  cores: number;
  ramMiB: number;
  together: number;
  scatters: boolean;
  image: string | undefined;
}

/** Reads the resource and container requirements of every tool of a process. */
export function estimateResources({ process }: LoadedDocument): ResourceEstimate {
  const sum: Sum = { cores: 0, ramMiB: 0, together: 0, scatters: false, image: undefined };
  add(process, new Requirements(), sum);
  return {
    cores: sum.cores,
    ramMiB: sum.ramMiB,
    togetherRamMiB: sum.scatters ? undefined : sum.together,
    demandedImage: sum.image,
  };
}

function add(process: Process, outer: Requirements, sum: Sum): void {
  const requirements = outer.inside(process);
  if (process.class === "Workflow") {
    for (const step of process.steps) {
      sum.scatters ||= step.scatter.length > 0;
      add(step.run, requirements.inside(step), sum);
    }
  } else if (process.class === "CommandLineTool") {
    const fields = requirements.find("ResourceRequirement")?.fields ?? {};
    const ramMiB = Math.ceil(numberOf(fields["ramMin"]) ?? numberOf(fields["ramMax"]) ?? DEFAULT_RAM_MIB);
    sum.cores = Math.max(sum.cores, numberOf(fields["coresMin"]) ?? numberOf(fields["coresMax"]) ?? DEFAULT_CORES);
    sum.ramMiB = Math.max(sum.ramMiB, ramMiB);
    sum.together += Math.max(ramMiB, Math.ceil(numberOf(fields["ramMax"]) ?? 0));
    const container = containerRequest(requirements);
    sum.image ??= container?.required === true ? container.image : undefined;
  }
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && number >= 0 ? number : undefined;
}
