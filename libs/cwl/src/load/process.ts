import type { CwlVersion, Process } from "../model/process.ts";
import { buildExpressionTool, buildOperation, buildTool } from "./tool.ts";
import { checkFields, describe, isExtension } from "./fields.ts";
import { expandPrefix } from "./bindings.ts";
import { asList, asText } from "./maps.ts";
import type { RawObject } from "./maps.ts";
import type { ProcessHead } from "./head.ts";
import { buildInputs } from "./parameters.ts";
import { loopClass } from "./loop.ts";
import { buildRequirements, impliedHints } from "./requirements.ts";
import { location, report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { processTables } from "./tables.ts";
import { buildSchemaTypes } from "./types.ts";
import { fragmentOf, shortName } from "./uri.ts";
import { toVersion, versions } from "./versions.ts";
import { buildWorkflow } from "./workflow.ts";

/** A document that is one process has its address as its id; the id that it gives itself is a better name for people. */
function ownId(raw: RawObject, address: string): string {
  const own = raw["id"];
  return typeof own === "string" && !/^(?:[^#]*[#/])?$/.test(own) ? own : address;
}

/** Builds the process that an object describes. Everything wrong with it is reported; undefined when it is hopeless. */
export async function buildProcess(
  outer: Scope,
  raw: RawObject,
  id: string,
  path: string,
): Promise<Process | undefined> {
  outer.budget.takeProcess(id);
  await outer.budget.pause(id);
  const kind = raw["class"];
  const table = typeof kind === "string" && Object.hasOwn(processTables, kind) ? processTables[kind] : undefined;
  const version = readVersion(outer, raw);
  if (table === undefined || (kind === "Operation" && version < "v1.2")) {
    report(outer, raw, "class", `a process cannot have class ${describe(kind)}`, {
      path,
      hint:
        typeof kind === "string" && kind.endsWith("ProcessGenerator")
          ? "process generators of the reference runner are not supported; run what the generator makes"
          : `one of ${Object.keys(processTables).join(", ")}`,
    });
    return undefined;
  }
  const scope: Scope = { ...outer, version, ancestors: [...outer.ancestors, id] };
  checkFields(scope, raw, kind as string, table, path);
  if (Array.isArray(raw["doc"]) && version < "v1.1") {
    report(scope, raw, "doc", `"doc" of ${String(kind)} is a list; in CWL ${version} it is a string`, {
      path,
      hint: "write it as one string, or set cwlVersion: v1.2",
    });
  }
  for (const member of ["requirements", "hints"]) {
    if (raw[member] === null) {
      report(scope, raw, member, `"${member}" is empty`, { path, hint: "write a list or an object, or leave it out" });
    }
  }
  const requirements = buildRequirements(scope, raw, "requirements", path);
  const hints = [...impliedHints(version, raw, scope), ...buildRequirements(scope, raw, "hints", path)];
  for (const { fields } of requirements.filter((requirement) => requirement.class === loopClass)) {
    report(scope, fields, "class", "cwltool:Loop belongs to a step, and not to a process", {
      path: `${path === "" ? "" : `${path}.`}requirements`,
      hint: "move it to the requirements of the step that is to be repeated",
    });
  }
  let inner = scope;
  for (const requirement of [...hints, ...requirements]) {
    if (requirement.class === "SchemaDefRequirement") {
      inner = { ...inner, types: buildSchemaTypes(inner, asList(requirement.fields["types"]), `${path}.types`) };
    }
  }
  const head: ProcessHead = {
    id,
    name: shortName(fragmentOf(id) === "" ? ownId(raw, id) : `#${fragmentOf(id)}`),
    label: asText(raw["label"]),
    doc: asText(raw["doc"]),
    version,
    inputs: buildInputs(inner, raw, path),
    requirements,
    hints,
    location: location(scope, raw),
    metadata: Object.fromEntries(
      Object.entries(raw)
        .filter(([key]) => isExtension(key) && !key.startsWith("$"))
        .map(([key, value]) => [expandPrefix(scope, key), value]),
    ),
  };
  switch (kind) {
    case "CommandLineTool":
      return buildTool(inner, raw, head, path);
    case "ExpressionTool":
      return buildExpressionTool(inner, raw, head, path);
    case "Operation":
      return buildOperation(inner, raw, head, path);
    default:
      return await buildWorkflow(inner, raw, head, path);
  }
}

function readVersion(scope: Scope, raw: RawObject): CwlVersion {
  const written = raw["cwlVersion"];
  if (written === undefined) {
    return scope.version;
  }
  const version = toVersion(written);
  if (version !== undefined) {
    return version;
  }
  report(scope, raw, "cwlVersion", `CWL version ${describe(written)} is not one this engine knows`, {
    hint: `one of ${versions.join(", ")}`,
  });
  return "v1.2";
}
