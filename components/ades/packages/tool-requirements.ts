import type { LoadedDocument } from "@swath/cwl";

type Process = LoadedDocument["process"];
type Requirement = Process["requirements"][number];

/** Numbers of a ResourceRequirement that say how much of something is wanted (CWL v1.2 §5.17). */
const AMOUNTS = ["cores", "ram", "tmpdir", "outdir"].flatMap((name) => [`${name}Min`, `${name}Max`]);

/** Amounts of resources that no machine has: below zero, or a minimum above its maximum. Expressions are not looked into. */
export function findResourceMistakes(process: Process): readonly string[] {
  return allRequirements(process).flatMap((requirement) =>
    requirement.class === "ResourceRequirement" ? checkAmounts(requirement.fields) : [],
  );
}

function checkAmounts(fields: Requirement["fields"]): readonly string[] {
  const numbers = new Map(
    AMOUNTS.flatMap((name) => {
      const value = fields[name];
      return typeof value === "number" || typeof value === "bigint" ? [[name, Number(value)] as const] : [];
    }),
  );
  return [...numbers].flatMap(([name, value]) => {
    if (value < 0) {
      return [`${name} is ${value}; allowed: 0 or more`];
    }
    const most = numbers.get(name.replace(/Min$/, "Max"));
    return name.endsWith("Min") && most !== undefined && value > most
      ? [`${name} is ${value}, more than ${name.replace(/Min$/, "Max")}, which is ${most}`]
      : [];
  });
}

/** Whether a tool of the process demands the network (CWL v1.2 §5.19); what an expression decides counts as demanded. */
export function usesNetwork(process: Process): boolean {
  return allRequirements(process).some(
    (requirement) =>
      requirement.class === "NetworkAccess" && requirement.required && requirement.fields["networkAccess"] !== false,
  );
}

/** Whether one of its tools names no container, not even as a hint. */
export function hasHostTool(process: Process, outer = false): boolean {
  const names = ({ requirements, hints }: Pick<Process, "requirements" | "hints">) =>
    [...requirements, ...hints].some((item) => item.class === "DockerRequirement");
  const inside = outer || names(process);
  return process.class === "Workflow"
    ? process.steps.some((step) => hasHostTool(step.run, inside || names(step)))
    : process.class === "CommandLineTool" && !inside;
}

export interface NamedImage {
  readonly image: string;
  /** Whether a tool demands it; what is only a hint can be done without. */
  readonly required: boolean;
}

/** Images that tools pull, as they are named. */
export function findImages(process: Process): readonly NamedImage[] {
  const found = new Map<string, boolean>();
  for (const { class: name, fields, required } of allRequirements(process)) {
    const image = fields["dockerPull"];
    if (name === "DockerRequirement" && typeof image === "string") {
      found.set(image, required || found.get(image) === true);
    }
  }
  return [...found].map(([image, required]) => ({ image, required }));
}

/** Of the process, its steps and all inside. */
function allRequirements(process: Process): readonly Requirement[] {
  const own = [...process.requirements, ...process.hints];
  return process.class === "Workflow"
    ? [...own, ...process.steps.flatMap((step) => [...step.requirements, ...step.hints, ...allRequirements(step.run)])]
    : own;
}
