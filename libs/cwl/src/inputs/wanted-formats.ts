import type { Process } from "../model/process.ts";
import type { CwlType } from "../model/types.ts";

/** IRIs of formats that files of a run may have to be; "any" where an expression decides. */
export type RequestedFormats = readonly string[] | "any";

/** What inputs of a process, and of those that it runs, say of their formats. Without any, no ontology is ever asked. */
export function requestedFormats(process: Process): RequestedFormats {
  const formats = new Set<string>();
  const seen = new Set<object>();
  const visitType = (type: CwlType): void => {
    if (seen.has(type)) {
      return;
    }
    seen.add(type);
    switch (type.kind) {
      case "array":
        visitType(type.items);
        break;
      case "union":
        type.members.forEach(visitType);
        break;
      case "record":
        for (const field of type.fields) {
          field.format?.forEach((format) => formats.add(format));
          visitType(field.type);
        }
        break;
      default:
    }
  };
  const visit = (one: Process): void => {
    if (seen.has(one)) {
      return;
    }
    seen.add(one);
    for (const { format, type } of one.inputs) {
      format?.forEach((item) => formats.add(item));
      visitType(type);
    }
    if (one.class === "Workflow") {
      one.steps.forEach((step) => visit(step.run));
    }
  };
  visit(process);
  const all = [...formats];
  return all.some((format) => /\$[({]/.test(format)) ? "any" : all;
}
