import { CwlError } from "../errors.ts";
import { knownExtensions } from "../load/requirements.ts";
import type { Process } from "../model/process.ts";
import { requirementTables } from "../load/tables.ts";
import type { Requirements } from "./requirements.ts";

/** Refuses a process that demands what this engine does not have; hints are passed over. */
export function checkSupported(process: Process, requirements: Requirements): void {
  const known = requirementTables("v1.2");
  const strange = requirements
    .required()
    .find((item) => known[item.class] === undefined && !knownExtensions.has(item.class));
  if (strange !== undefined) {
    throw new CwlError("unsupported", [
      {
        severity: "error",
        message: `${process.name} requires "${strange.class}", which this engine does not have`,
        hint: "make it a hint if the tool can do without",
        ...strange.place,
      },
    ]);
  }
}
