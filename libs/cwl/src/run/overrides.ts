import type { Process, Requirement, Step } from "../model/process.ts";
import { fragmentOf, withoutFragment } from "../load/uri.ts";

/** Requirements that the caller adds to a process or step (`cwltool:overrides`). They go before its own. */
export interface Override {
  /** URI of the process, or of the step: `file.cwl#step`. */
  readonly target: string;
  readonly requirements: readonly Requirement[];
}

/** The process with the requirements of overrides in it, and in all that it runs. */
export function applyOverrides(process: Process, overrides: readonly Override[]): Process {
  return overrides.length === 0 ? process : override(process, overrides, new Map());
}

function override(process: Process, overrides: readonly Override[], known: Map<Process, Process>): Process {
  let changed = known.get(process);
  if (changed === undefined) {
    const requirements = [...process.requirements, ...requirementsFor(process.id, overrides)];
    changed =
      process.class === "Workflow"
        ? {
            ...process,
            requirements,
            steps: process.steps.map((step) => overrideStep(step, process.id, overrides, known)),
          }
        : { ...process, requirements };
    known.set(process, changed);
  }
  return changed;
}

function overrideStep(
  step: Step,
  workflow: string,
  overrides: readonly Override[],
  known: Map<Process, Process>,
): Step {
  const prefix = fragmentOf(workflow);
  const id = `${withoutFragment(workflow)}#${prefix === "" ? "" : `${prefix}/`}${step.name}`;
  // What is added to a step would lose against its process's own, so it goes to the process.
  const added = requirementsFor(id, overrides);
  const run = override(step.run, overrides, known);
  return { ...step, run: added.length === 0 ? run : { ...run, requirements: [...run.requirements, ...added] } };
}

function requirementsFor(id: string, overrides: readonly Override[]): Requirement[] {
  return overrides.flatMap((item) => (item.target === id ? item.requirements : []));
}
