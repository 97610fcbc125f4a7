import type { Process } from "../model/process.ts";
import type { RawObject } from "./pack-scope.ts";
import { shortClass } from "./pack-scope.ts";

/** The newest version that a process and all it runs are written in. */
export function newestOf(process: Process, seen = new Set<Process>()): string {
  let newest: string = process.version;
  if (process.class === "Workflow" && !seen.has(process)) {
    seen.add(process);
    for (const step of process.steps) {
      const inner = newestOf(step.run, seen);
      newest = inner > newest ? inner : newest;
    }
  }
  return newest;
}

const cwltool = /^(?:cwltool:|http:\/\/commonwl\.org\/cwltool#)/;

/** Requirements that v1.1 took over from the reference runner. */
const adopted: { readonly [name: string]: string } = {
  LoadListingRequirement: "LoadListingRequirement",
  NetworkAccess: "NetworkAccess",
  TimeLimit: "ToolTimeLimit",
  WorkReuse: "WorkReuse",
  InplaceUpdateRequirement: "InplaceUpdateRequirement",
};

/** Says in the words of a newer version what an older one implied. Nothing is changed within one version. */
export function updateProcess(process: RawObject, from: string, to: string): RawObject {
  if (from === to) {
    return process;
  }
  const rename = (items: unknown): RawObject[] => ((items ?? []) as RawObject[]).map((item) => renamed(item));
  const requirements = rename(process["requirements"]);
  const hints = rename(process["hints"]);
  const has = (name: string): boolean => [...requirements, ...hints].some((item) => shortClass(item) === name);
  const implied: RawObject[] =
    from === "v1.0"
      ? [
          { class: "LoadListingRequirement", loadListing: "deep_listing" },
          { class: "NetworkAccess", networkAccess: true },
        ].filter((item) => !has(item.class))
      : [];
  return {
    ...process,
    ...(process["requirements"] === undefined ? {} : { requirements }),
    hints: [...hints, ...implied],
    inputs: (process["inputs"] as RawObject[]).map((item) => ("type" in item ? item : { ...item, type: "Any" })),
    outputs: (process["outputs"] as RawObject[]).map((item) => updateOutput(item, process["class"] === "Workflow")),
  };
}

function renamed(item: RawObject): RawObject {
  const name = String(item["class"]);
  const newer = cwltool.test(name) ? adopted[name.replace(cwltool, "")] : undefined;
  return newer === undefined ? item : { ...item, class: newer };
}

/** v1.0 let outputs of workflows have a binding, which did nothing. */
function updateOutput(item: RawObject, ofWorkflow: boolean): RawObject {
  const { outputBinding: binding, ...rest } = item;
  const typed = "type" in rest ? rest : { ...rest, type: "Any" };
  return ofWorkflow || binding === undefined ? typed : { ...typed, outputBinding: binding };
}
