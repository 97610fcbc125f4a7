import type { Binding } from "../model/process.ts";
import type { CwlType, PrimitiveName, RecordField } from "../model/types.ts";
import { isObject } from "../model/values.ts";
import { checkFields, describe, join } from "./fields.ts";
import { asStrings, asText, namedObjects } from "./maps.ts";
import type { RawObject } from "./maps.ts";
import { baseOf } from "./origin.ts";
import { buildBinding, buildFileOptions, buildOutputBinding } from "./bindings.ts";
import { report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { arrayTable, enumTable, fieldOfRecordTable, recordTable } from "./tables.ts";
import { hasScheme, resolveReference, shortName } from "./uri.ts";

const primitives = new Set<string>([
  "null",
  "boolean",
  "int",
  "long",
  "float",
  "double",
  "string",
  "File",
  "Directory",
  "Any",
]);

const anyType: CwlType = { kind: "Any" };

/** Where a type stands: the object and field that hold it, for messages. */
export interface TypeSite {
  readonly holder: object;
  readonly member: string | number;
  readonly path: string;
}

/** Resolves a type as written (name, abbreviation, union or definition). A wrong one is reported and becomes Any. */
export function buildType(scope: Scope, raw: unknown, site: TypeSite): CwlType {
  if (typeof raw === "string") {
    return buildNamedType(scope, raw, site);
  }
  if (Array.isArray(raw)) {
    const members = (raw as unknown[]).map((item, index) =>
      buildType(scope, item, { holder: raw, member: index, path: `${site.path}[${index}]` }),
    );
    return members.length === 1 && members[0] !== undefined ? members[0] : { kind: "union", members };
  }
  if (isObject(raw)) {
    return buildDefinedType(scope, raw, site.path, new Map());
  }
  report(scope, site.holder, site.member, `a type is ${describe(raw)}`, {
    path: site.path,
    hint: "expected a type name, a list of types or a type definition",
  });
  return anyType;
}

/** Most `?` and `[]` after the name of a type. */
const MAX_SUFFIXES = 20;

function buildNamedType(scope: Scope, text: string, site: TypeSite): CwlType {
  if (/[?\]]$/.test(text) && text.length - text.replace(/[?[\]]+$/, "").length > 2 * MAX_SUFFIXES) {
    report(scope, site.holder, site.member, `a type with more than ${MAX_SUFFIXES} "?" and "[]" after its name`, {
      path: site.path,
    });
    return anyType;
  }
  if (text.endsWith("?")) {
    const inner = buildNamedType(scope, text.slice(0, -1), site);
    return { kind: "union", members: [{ kind: "null" }, inner] };
  }
  if (text.endsWith("[]")) {
    if (text.endsWith("[][]") && scope.version < "v1.3") {
      report(scope, site.holder, site.member, `"${text}": one [] alone may follow a type in CWL ${scope.version}`, {
        path: site.path,
        hint: `write {type: array, items: "${text.slice(0, -2)}"}`,
      });
    }
    return { kind: "array", items: buildNamedType(scope, text.slice(0, -2), site), binding: undefined };
  }
  if (primitives.has(text)) {
    return { kind: text as PrimitiveName };
  }
  const known = findType(scope, text, site.holder);
  if (known !== undefined) {
    return known;
  }
  report(scope, site.holder, site.member, `there is no type "${text}"`, {
    path: site.path,
    hint:
      text === "integer"
        ? 'did you mean "int"?'
        : ["record", "array", "enum"].includes(text)
          ? `its parts go into the type: "type: {type: ${text}, …}"`
          : `one of ${[...primitives].join(", ")}, or the name of a type in SchemaDefRequirement`,
  });
  return anyType;
}

function findType(scope: Scope, name: string, holder: object): CwlType | undefined {
  const uri = hasScheme(name) ? name : safeResolve(name, baseOf(holder) ?? scope.document.uri);
  // A name with a file in it means the type of that file alone.
  return scope.types.get(uri) ?? (name.includes("#") ? undefined : scope.types.get(shortName(name)));
}

function safeResolve(name: string, base: string): string {
  try {
    return resolveReference(name, base);
  } catch {
    // A name that is no URI reference can still be a short name.
    return name;
  }
}

/**
 * Builds `{type: record|array|enum, …}`. `named` collects the type under its name before its insides are built, so that
 * a record can refer to itself.
 */
export function buildDefinedType(scope: Scope, raw: RawObject, path: string, named: Map<string, CwlType>): CwlType {
  const kind = raw["type"];
  const name = typeof raw["name"] === "string" ? raw["name"] : undefined;
  const binding = isObject(raw["inputBinding"])
    ? buildBinding(scope, raw["inputBinding"], join(path, "inputBinding"))
    : undefined;
  const remember = <T extends CwlType>(type: T): T => {
    if (name !== undefined) {
      named.set(shortName(name), type);
      named.set(
        safeResolve(name.includes("#") || hasScheme(name) ? name : `#${name}`, baseOf(raw) ?? scope.document.uri),
        type,
      );
    }
    return type;
  };
  switch (kind) {
    case "array":
      checkFields(scope, raw, "an array type", arrayTable, path);
      return remember({
        kind,
        items: buildType(scope, raw["items"], { holder: raw, member: "items", path: join(path, "items") }),
        binding,
      });
    case "enum":
      checkFields(scope, raw, "an enum type", enumTable, path);
      return remember({ kind, name, symbols: asStrings(raw["symbols"]).map(symbolName), binding });
    case "record": {
      checkFields(scope, raw, "a record type", recordTable, path);
      const record = remember({
        kind,
        name: name === undefined ? undefined : shortName(name),
        fields: [] as RecordField[],
        binding,
      });
      record.fields = namedObjects(scope, raw, "fields", { subject: "name", predicate: "type", path }).map((field) =>
        buildField(scope, field.name, field.object, field.path),
      );
      return record;
    }
    default:
      if (Object.keys(raw).every((key) => key === "type" || key === "name" || key === "inputBinding")) {
        return withBinding(buildType(scope, kind, { holder: raw, member: "type", path }), binding);
      }
      report(scope, raw, "type", `a type definition has type ${describe(kind)}`, {
        path,
        hint: "one of array, record, enum",
      });
      return anyType;
  }
}

function withBinding(type: CwlType, binding: Binding | undefined): CwlType {
  return binding !== undefined && (type.kind === "array" || type.kind === "record" || type.kind === "enum")
    ? { ...type, binding }
    : type;
}

/** Packed documents write symbols as full identifiers. */
function symbolName(symbol: string): string {
  return symbol.startsWith("#") || /^(?:file|https?):.*#/.test(symbol) ? shortName(symbol) : symbol;
}

function buildField(scope: Scope, name: string, raw: RawObject, path: string): RecordField {
  checkFields(scope, raw, `the record field "${name}"`, fieldOfRecordTable, path);
  const inputBinding = isObject(raw["inputBinding"]) ? raw["inputBinding"] : undefined;
  return {
    name,
    type: buildType(scope, raw["type"], { holder: raw, member: "type", path: join(path, "type") }),
    label: asText(raw["label"]),
    doc: asText(raw["doc"]),
    binding: inputBinding === undefined ? undefined : buildBinding(scope, inputBinding, join(path, "inputBinding")),
    outputBinding: buildOutputBinding(scope, raw["outputBinding"], join(path, "outputBinding")),
    ...buildFileOptions(scope, raw, path),
  };
}

/** Types of a SchemaDefRequirement, under full and short names. */
export function buildSchemaTypes(scope: Scope, raws: readonly unknown[], path: string): Map<string, CwlType> {
  const types = new Map(scope.types);
  const inner: Scope = { ...scope, types };
  for (const [index, raw] of raws.entries()) {
    if (isObject(raw)) {
      buildDefinedType(inner, raw, `${path}[${index}]`, types);
    }
  }
  return types;
}
