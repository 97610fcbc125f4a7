import type { InputDescription, ProcessDescription, Schema } from "./process-description.ts";

/** What a value is, and so how a person gives it. */
export type Kind =
  | { readonly kind: "text" }
  | { readonly kind: "date"; readonly hasTime: boolean }
  | { readonly kind: "number"; readonly isInteger: boolean; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly options: readonly (string | number)[] }
  /** An address: of a scene (a STAC document, staged in as a folder) or of a file. */
  | { readonly kind: "address"; readonly of: "scene" | "file" }
  /** A bounding box: `w,s,e,n`, `[w,s,e,n]`, or `{bbox: […], crs}` (OGC 18-062r2 §7.10.2.6). */
  | { readonly kind: "box"; readonly as: "text" | "array" | "object" }
  /** An area: a GeoJSON geometry, the same as a text, or well-known text. */
  | { readonly kind: "area"; readonly as: "geojson" | "geojson-text" | "wkt" }
  | { readonly kind: "list"; readonly items: Kind; readonly minItems: number; readonly maxItems?: number }
  | { readonly kind: "record"; readonly fields: readonly Field[] }
  | { readonly kind: "union"; readonly options: readonly { readonly label: string; readonly kind: Kind }[] }
  | { readonly kind: "json" };

/** One line of a form. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** What holds when nothing is given. */
  readonly default?: unknown;
  readonly kind: Kind;
}

/** The form of a process. */
export function toFields({ inputs }: Pick<ProcessDescription, "inputs">): readonly Field[] {
  return Object.entries(inputs).map(([name, input]) => toField(name, input));
}

function toField(name: string, input: InputDescription): Field {
  const { schema, minOccurs = 1, maxOccurs = 1 } = input;
  const about = `${name} ${input.title ?? ""} ${input.description ?? ""}`;
  const kind = toKind(schema, { name, about });
  // Several occurrences of a value that is no list itself are given as a list (OGC 18-062r2 §7.11.2.3).
  const isRepeated = kind.kind !== "list" && kind.kind !== "json" && (maxOccurs === "unbounded" || maxOccurs > 1);
  return {
    name,
    title: input.title ?? name,
    ...(input.description !== undefined && input.description !== "" && { description: input.description }),
    isRequired: minOccurs > 0 && schema.default === undefined,
    ...(schema.default !== undefined && { default: schema.default }),
    kind: isRepeated
      ? { kind: "list", items: kind, minItems: minOccurs, ...(maxOccurs !== "unbounded" && { maxItems: maxOccurs }) }
      : kind,
  };
}

interface Context {
  readonly name: string;
  /** Everything that is said of the input, where its type leaves open what it means. */
  readonly about: string;
}

const BOX_NAMES = /^(bbox|bounding_?box|spatial_?extent|extent)$/i;
const AREA_NAMES = /^(aoi|roi|area|area_?of_?interest|region_?of_?interest|geometry|geom|footprint|polygon)$/i;

/** How a value of a schema is given. */
export function toKind(schema: Schema, context: Context = { name: "", about: "" }): Kind {
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) {
    return toUnion(options, context);
  }
  if (isBoxSchema(schema)) {
    return { kind: "box", as: "object" };
  }
  if (isGeometrySchema(schema)) {
    return { kind: "area", as: "geojson" };
  }
  if (schema.enum !== undefined) {
    const values = schema.enum.filter((value) => typeof value === "string" || typeof value === "number");
    return values.length === schema.enum.length ? { kind: "choice", options: values } : { kind: "json" };
  }
  switch (schema.type) {
    case "boolean":
      return { kind: "boolean" };
    case "integer":
    case "number":
      return {
        kind: "number",
        isInteger: schema.type === "integer",
        ...(schema.minimum !== undefined && { minimum: schema.minimum }),
        ...(schema.maximum !== undefined && { maximum: schema.maximum }),
      };
    case "string":
      return toTextKind(schema, context);
    case "array":
      return toListKind(schema, context);
    case "object":
      return schema.properties === undefined
        ? { kind: "json" }
        : { kind: "record", fields: toRecordFields(schema, schema.properties) };
    default:
      return { kind: "json" };
  }
}

function toTextKind({ format, contentMediaType }: Schema, { name, about }: Context): Kind {
  if (format === "uri") {
    return { kind: "address", of: /geo\+json|stac/.test(contentMediaType ?? "") ? "scene" : "file" };
  }
  if (format === "date-time" || format === "date") {
    return { kind: "date", hasTime: format === "date-time" };
  }
  // Application packages hand boxes and areas over as texts; what they are called and what is said of them tells.
  if (BOX_NAMES.test(name)) {
    return { kind: "box", as: "text" };
  }
  if (AREA_NAMES.test(name)) {
    return /\bwkt\b|well.known text/i.test(about)
      ? { kind: "area", as: "wkt" }
      : /geo-?json/i.test(about)
        ? { kind: "area", as: "geojson-text" }
        : { kind: "box", as: "text" };
  }
  return { kind: "text" };
}

function toListKind({ items = {}, minItems = 0, maxItems }: Schema, { name, about }: Context): Kind {
  const isNumbers = items.type === "number" || items.type === "integer";
  if (isNumbers && (BOX_NAMES.test(name) || AREA_NAMES.test(name) || (minItems === 4 && maxItems === 4))) {
    return { kind: "box", as: "array" };
  }
  return {
    kind: "list",
    items: toKind(items, { name: "", about }),
    minItems,
    ...(maxItems !== undefined && { maxItems }),
  };
}

function toRecordFields({ required = [] }: Schema, properties: Readonly<Record<string, Schema>>): readonly Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    title: schema.title ?? name,
    isRequired: required.includes(name),
    ...(schema.default !== undefined && { default: schema.default }),
    kind: toKind(schema, { name, about: name }),
  }));
}

function toUnion(options: readonly Schema[], context: Context): Kind {
  const kinds = options.map((schema) => ({ label: describeSchema(schema), kind: toKind(schema, context) }));
  const [only] = kinds;
  return kinds.length === 1 && only !== undefined ? only.kind : { kind: "union", options: kinds };
}

/** A bounding box as the standard describes it, and as CWL's OGC types do: an object with `bbox`. */
function isBoxSchema({ $ref, format, properties }: Schema): boolean {
  return (
    format === "ogc-bbox" || $ref?.endsWith("/bbox.yaml") === true || properties?.["bbox"]?.items?.type === "number"
  );
}

function isGeometrySchema({ $ref, format, properties }: Schema): boolean {
  return (
    /^geojson-(geometry|polygon|feature)$/.test(format ?? "") ||
    /geojson\.org\/schema\/(Geometry|Polygon)\.json$/.test($ref ?? "") ||
    (properties?.["coordinates"] !== undefined && properties["type"] !== undefined)
  );
}

const NAMES: Readonly<Record<string, string>> = {
  boolean: "yes or no",
  integer: "whole number",
  number: "number",
  string: "text",
  object: "object",
};

/** A schema in a few words, for people. */
export function describeSchema(schema: Schema): string {
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) {
    return options.map(describeSchema).join(" or ");
  }
  if (schema.type === "array") {
    return `list of ${describeSchema(schema.items ?? {})}`;
  }
  if (schema.format === "uri") {
    return /geo\+json|stac/.test(schema.contentMediaType ?? "") ? "scene" : "file";
  }
  if (schema.enum !== undefined) {
    return `one of ${schema.enum.map(String).join(", ")}`;
  }
  return NAMES[schema.type ?? ""] ?? "any value";
}
