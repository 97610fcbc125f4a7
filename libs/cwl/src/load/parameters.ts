import type { InputParameter, OutputParameter } from "../model/process.ts";
import type { CwlType } from "../model/types.ts";
import type { Value } from "../model/values.ts";
import { isFileOrDirectory, isObject } from "../model/values.ts";
import { buildBinding, buildFileOptions, buildOutputBinding, expandPrefix } from "./bindings.ts";
import type { FieldTable } from "./fields.ts";
import { checkFields, join } from "./fields.ts";
import { asText, namedObjects } from "./maps.ts";
import type { NamedObject, RawObject } from "./maps.ts";
import { baseOf, deriveOrigin } from "./origin.ts";
import { location, report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { inputTable } from "./tables.ts";
import { buildType } from "./types.ts";
import { resolvePath, resolveReference } from "./uri.ts";

export function buildInputs(scope: Scope, raw: RawObject, path: string): InputParameter[] {
  return namedObjects(scope, raw, "inputs", { subject: "id", predicate: "type", path }).map((item) => {
    checkFields(scope, item.object, `the input "${item.name}"`, inputTable, item.path);
    const binding = isObject(item.object["inputBinding"]) ? item.object["inputBinding"] : undefined;
    return {
      name: item.name,
      type: item.object["type"] === "stdin" ? { kind: "File" } : parameterType(scope, item),
      label: asText(item.object["label"]),
      doc: asText(item.object["doc"]),
      default: buildDefault(scope, item.object),
      binding: binding === undefined ? undefined : buildBinding(scope, binding, join(item.path, "inputBinding")),
      location: location(scope, item.object),
      ...buildFileOptions(scope, item.object, item.path),
    };
  });
}

/** An output without its shortcut: `stdout` and `stderr` are for the tool's builder, which knows the file names. */
export function buildOutput(scope: Scope, item: NamedObject, table: FieldTable): OutputParameter {
  checkFields(scope, item.object, `the output "${item.name}"`, table, item.path);
  const shortcut = item.object["type"] === "stdout" || item.object["type"] === "stderr";
  return {
    name: item.name,
    type: shortcut ? { kind: "File" } : parameterType(scope, item),
    label: asText(item.object["label"]),
    doc: asText(item.object["doc"]),
    outputBinding: buildOutputBinding(scope, item.object["outputBinding"], join(item.path, "outputBinding")),
    location: location(scope, item.object),
    ...buildFileOptions(scope, item.object, item.path),
  };
}

function parameterType(scope: Scope, item: NamedObject): CwlType {
  if (item.object["type"] === undefined) {
    // v1.0 let a parameter go without a type; it takes anything then.
    if (scope.version >= "v1.1") {
      report(scope, item.object, undefined, `"${item.name}" has no type`, {
        path: item.path,
        hint: 'for example "type: File"',
      });
    }
    return { kind: "Any" };
  }
  return buildType(scope, item.object["type"], { holder: item.object, member: "type", path: join(item.path, "type") });
}

export function buildDefault(scope: Scope, raw: RawObject): Value | undefined {
  return "default" in raw ? resolveLocations(scope, raw["default"], baseOf(raw) ?? scope.document.uri) : undefined;
}

/**
 * Makes every File and Directory location in a value absolute (relative ones mean: next to the file they are written
 * in) and expands prefixes of formats.
 */
export function resolveLocations(scope: Pick<Scope, "document">, value: unknown, base: string): Value {
  if (Array.isArray(value)) {
    return deriveOrigin(
      (value as unknown[]).map((item) => resolveLocations(scope, item, baseOf(value) ?? base)),
      value,
    );
  }
  if (!isObject(value)) {
    return value as Value;
  }
  const here = baseOf(value) ?? base;
  const result: Record<string, Value> = {};
  for (const [key, item] of Object.entries(value)) {
    result[key] = resolveLocations(scope, item, here);
  }
  if (isFileOrDirectory(value)) {
    if (typeof value.location === "string") {
      result["location"] = resolveReference(value.location, here);
    } else if (typeof value.path === "string") {
      result["location"] = resolvePath(value.path, here);
    }
    delete result["path"];
    if (typeof value["format"] === "string") {
      result["format"] = expandPrefix(scope as Scope, value["format"]);
    }
  }
  return deriveOrigin(result, value);
}
