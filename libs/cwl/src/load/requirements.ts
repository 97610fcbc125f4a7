import type { CwlVersion, Requirement } from "../model/process.ts";
import { isObject } from "../model/values.ts";
import { expandPrefix } from "./bindings.ts";
import { checkFields, describe, join } from "./fields.ts";
import { namedObjects } from "./maps.ts";
import type { RawObject } from "./maps.ts";
import { baseOf, deriveOrigin } from "./origin.ts";
import { resolveLocations } from "./parameters.ts";
import { location, report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { requirementTables, since11 } from "./tables.ts";

const cwltool = "http://commonwl.org/cwltool#";

/** v1.0 and v1.1 documents used cwltool's names for what later became standard. */
const renamed: { readonly [name: string]: string } = {
  [`${cwltool}LoadListingRequirement`]: "LoadListingRequirement",
  [`${cwltool}NetworkAccess`]: "NetworkAccess",
  [`${cwltool}TimeLimit`]: "ToolTimeLimit",
  [`${cwltool}WorkReuse`]: "WorkReuse",
  [`${cwltool}InplaceUpdateRequirement`]: "InplaceUpdateRequirement",
};

/** Extensions that the engine knows: input values to keep out of logs, and graphics processors. */
export const knownExtensions = new Set([
  `${cwltool}Secrets`,
  `${cwltool}CUDARequirement`,
  `${cwltool}Loop`,
  `${cwltool}ShmSize`,
  `${cwltool}MPIRequirement`,
]);

/** Reads `requirements` or `hints` of a process or step. */
export function buildRequirements(
  scope: Scope,
  holder: RawObject,
  member: "requirements" | "hints" | "cwl:requirements",
  path: string,
): Requirement[] {
  const required = member !== "hints";
  const result: Requirement[] = [];
  for (const { object, path: where } of requirementObjects(scope, holder, member, path)) {
    const written = expandPrefix(scope, (object["class"] as string).replace(/^cwl:/, ""));
    const name = renamed[written] ?? written.replace("https://w3id.org/cwl/cwl#", "");
    const table =
      since11.has(name) && scope.version < "v1.1" && name === written
        ? undefined
        : requirementTables(scope.version)[name];
    if (table === undefined) {
      if (!knownExtensions.has(name) && required && !name.includes(":")) {
        report(scope, object, "class", `there is no requirement "${name}" in CWL ${scope.version}`, {
          path: where,
          hint: "move it to hints if the tool can do without, or correct the name",
        });
      }
    } else if (required || isObject(object)) {
      // The hints of the standard are advice; those of the reference runner are checked there as requirements are.
      const isStrict = required || knownExtensions.has(name);
      checkFields(isStrict ? scope : { ...scope, problems: hintProblems(scope) }, object, name, table, where);
    }
    const fields = name === "InitialWorkDirRequirement" ? withLocations(scope, object) : object;
    result.push({ class: name, fields, required, location: location(scope, object) });
  }
  return result;
}

/** Files that the listing writes out lie beside the document. */
function withLocations(scope: Scope, fields: RawObject): RawObject {
  const listing = resolveLocations(scope, fields["listing"], baseOf(fields) ?? scope.document.uri);
  return deriveOrigin({ ...fields, listing }, fields);
}

/** What is wrong inside a hint is worth a warning only. */
function hintProblems(scope: Scope): Scope["problems"] {
  const list: Scope["problems"] = [];
  list.push = (...items) => {
    scope.problems.push(...items.map((item) => ({ ...item, severity: "warning" as const })));
    return list.length;
  };
  return list;
}

function requirementObjects(
  scope: Scope,
  holder: RawObject,
  member: string,
  path: string,
): readonly { readonly object: RawObject; readonly path: string }[] {
  const raw = holder[member];
  if (Array.isArray(raw)) {
    const result: { object: RawObject; path: string }[] = [];
    for (const [index, item] of (raw as unknown[]).entries()) {
      const where = `${join(path, member)}[${index}]`;
      if (isObject(item) && typeof item["class"] === "string") {
        result.push({ object: item, path: where });
      } else {
        report(scope, raw, index, `an entry of ${member} is ${describe(item)}`, {
          path: where,
          hint: 'expected an object with a "class"',
        });
      }
    }
    return result;
  }
  return namedObjects(scope, holder, member, { subject: "class", path, keepName: true });
}

/** Entries of EnvVarRequirement, whichever way they were written. */
export function environmentOf(requirement: Requirement): readonly { readonly name: string; readonly value: unknown }[] {
  const raw = requirement.fields["envDef"];
  if (Array.isArray(raw)) {
    return (raw as unknown[])
      .filter(isObject)
      .map((item) => ({ name: String(item["envName"]), value: item["envValue"] }));
  }
  return isObject(raw)
    ? Object.entries(raw).map(([name, value]) => ({
        name,
        value: isObject(value) && "envValue" in value ? value["envValue"] : value,
      }))
    : [];
}

/** What v1.0 implied and later versions ask for: whole listings of directories, and the network. */
export function impliedHints(version: CwlVersion, holder: RawObject, scope: Scope): Requirement[] {
  if (version !== "v1.0") {
    return [];
  }
  const hint = (fields: RawObject): Requirement => ({
    class: fields["class"] as string,
    fields: deriveOrigin({ ...fields }, holder),
    required: false,
    location: location(scope, holder),
  });
  return [
    hint({ class: "LoadListingRequirement", loadListing: "deep_listing" }),
    hint({ class: "NetworkAccess", networkAccess: true }),
  ];
}
