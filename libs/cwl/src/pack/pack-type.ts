import { asList } from "../load/maps.ts";
import { baseOf } from "../load/origin.ts";
import { hasScheme, resolveReference, shortName } from "../load/uri.ts";
import { isObject } from "../model/values.ts";
import { shortClass } from "./pack-scope.ts";
import type { PackScope, RawObject, TypeNames } from "./pack-scope.ts";

/** The types that a process defines, on top of those around it. */
export function typeNames(requirements: readonly RawObject[], scope: PackScope): TypeNames {
  const names = new Map(scope.types);
  for (const requirement of requirements) {
    if (shortClass(requirement) === "SchemaDefRequirement") {
      for (const type of asList(requirement["types"])) {
        if (isObject(type) && typeof type["name"] === "string") {
          const uri = uriOf(type["name"], baseOf(type) ?? scope.base);
          const name = scope.packedTypes.nameOf(uri, type);
          names.set(shortName(type["name"]), name);
          names.set(uri, name);
        }
      }
    }
  }
  return names;
}

function uriOf(name: string, base: string): string {
  const reference = name.includes("#") || hasScheme(name) ? name : `#${name}`;
  return resolveReference(reference, base);
}

/** An entry of SchemaDefRequirement: written out where it comes first, imported elsewhere. */
export function packDefinition(raw: unknown, scope: PackScope): unknown {
  const packed = packType(raw, scope);
  const name = isObject(packed) ? packed["name"] : undefined;
  return typeof name !== "string" || scope.packedTypes.write(name) ? packed : { $import: name };
}

/** A type as written, with references to other types as the package names them. */
export function packType(raw: unknown, scope: PackScope): unknown {
  return rewrite(raw, scope, scope.base);
}

function rewrite(raw: unknown, scope: PackScope, base: string): unknown {
  if (typeof raw === "string") {
    const [, name = raw, suffix = ""] = /^(.*?)((?:\[\])*\??)$/s.exec(raw) ?? [];
    return `${findName(name, scope, base) ?? name}${suffix}`;
  }
  if (Array.isArray(raw)) {
    return (raw as unknown[]).map((item) => rewrite(item, scope, baseOf(raw) ?? base));
  }
  if (!isObject(raw)) {
    return raw;
  }
  const here = baseOf(raw) ?? base;
  const result: Record<string, unknown> = { ...raw };
  if (typeof raw["name"] === "string") {
    result["name"] = scope.types?.get(uriOf(raw["name"], here)) ?? shortName(raw["name"]);
  }
  if (Array.isArray(raw["symbols"])) {
    result["symbols"] = (raw["symbols"] as unknown[]).map((symbol) =>
      typeof symbol === "string" && symbol.includes("#") ? shortName(symbol) : symbol,
    );
  }
  for (const key of ["type", "items"]) {
    if (key in raw) {
      result[key] = rewrite(raw[key], scope, here);
    }
  }
  if (Array.isArray(raw["fields"])) {
    result["fields"] = (raw["fields"] as unknown[]).map((field) =>
      isObject(field) ? packField(field, scope, here) : field,
    );
  } else if (isObject(raw["fields"])) {
    result["fields"] = Object.entries(raw["fields"]).map(([name, field]) =>
      packField(isObject(field) ? { ...field, name } : { name, type: field }, scope, here),
    );
  }
  return result;
}

function packField(field: RawObject, scope: PackScope, base: string): RawObject {
  return {
    ...field,
    name: shortName(String(field["name"])),
    type: rewrite(field["type"], scope, baseOf(field) ?? base),
  };
}

function findName(name: string, scope: PackScope, base: string): string | undefined {
  if (scope.types === undefined || !/[#:/.]/.test(name)) {
    return scope.types?.get(name);
  }
  try {
    return scope.types.get(hasScheme(name) ? name : resolveReference(name, base)) ?? scope.types.get(shortName(name));
  } catch {
    // No reference at all: left as it is for validation to name.
    return undefined;
  }
}
