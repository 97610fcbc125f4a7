import { CwlError } from "../errors.ts";
import type { Problem } from "../errors.ts";
import { knownExtensions } from "../load/requirements.ts";
import type { Process, Requirement } from "../model/process.ts";
import { requirementTables } from "../load/tables.ts";
import type { Requirements } from "./requirements.ts";

const known = requirementTables("v1.2");

/** Refuses a process that demands what this engine does not have; hints are passed over. */
export function checkSupported(process: Process, requirements: Requirements): void {
  const strange = requirements.required().find(isUnsupported);
  if (strange !== undefined) {
    throw new CwlError("unsupported", [problemOf(strange, process.name)]);
  }
}

/** Everything that a process, its steps and what they run demand and this engine does not have. */
export function findUnsupported(process: Process, seen = new Set<Process>()): Problem[] {
  if (seen.has(process)) {
    return [];
  }
  seen.add(process);
  const steps = process.class === "Workflow" ? process.steps : [];
  return [
    ...[process, ...steps].flatMap(({ name, requirements }) =>
      requirements.filter(isUnsupported).map((item) => problemOf(item, name)),
    ),
    ...steps.flatMap(({ run }) => findUnsupported(run, seen)),
  ];
}

function isUnsupported({ required, class: name }: Requirement): boolean {
  const isOurs = known[name] !== undefined || knownExtensions.has(name);
  return required && (!isOurs || name === "SoftwareRequirement");
}

function problemOf(requirement: Requirement, name: string): Problem {
  return {
    severity: "error",
    message: `${name} requires "${requirement.class}", which this engine does not have`,
    hint:
      requirement.class === "SoftwareRequirement"
        ? "nothing is installed here: make it a hint, and name an image that has the software with DockerRequirement"
        : "make it a hint if the tool can do without",
    ...requirement.location,
  };
}
