import { type CwlType, type LoadedDocument, type ParameterDescription, describeProcess } from "@swath/cwl";

import { invalidParameter } from "../errors.ts";
import { toMediaType } from "../execution/file-format.ts";
import { findConstraintMistake } from "./input-constraints.ts";

/** A JSON schema (OpenAPI 3.1). */
export type Schema = Readonly<Record<string, unknown>>;

export interface InputDescription {
  readonly title: string;
  readonly description?: string;
  readonly schema: Schema;
  readonly minOccurs: number;
  readonly maxOccurs?: number;
}

/** What is known of a process: the body of `GET /processes/{id}` without its links (OGC 18-062r2 §7.10). */
export interface ProcessDescription {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly mutable: boolean;
  readonly keywords: readonly string[];
  readonly metadata?: readonly Readonly<Record<string, unknown>>[];
  /** What was found when it was deployed that does not stop it. */
  readonly warnings?: readonly string[];
  readonly jobControlOptions: readonly string[];
  readonly outputTransmission: readonly string[];
  readonly inputs: Readonly<Record<string, InputDescription>>;
  readonly outputs: Readonly<
    Record<string, { readonly title: string; readonly description?: string; readonly schema: Schema }>
  >;
}

/** Derives the description of a process from its application package. */
export function describePackage(document: LoadedDocument): ProcessDescription {
  const process = describeProcess(document);
  const id = process.name ?? "process";
  const { rootFields } = document;
  const version =
    rootFields["s:softwareVersion"] ??
    rootFields["s:version"] ??
    schemaOrg(process.metadata, "softwareVersion") ??
    schemaOrg(process.metadata, "version") ??
    "1.0.0";
  return {
    id,
    title: process.label ?? id,
    description: process.doc ?? "",
    version: typeof version === "string" || typeof version === "number" ? String(version) : "1.0.0",
    mutable: true,
    keywords: keywordsOf(rootFields["s:keywords"] ?? schemaOrg(process.metadata, "keywords")),
    jobControlOptions: ["sync-execute", "async-execute", "dismiss"],
    outputTransmission: ["value", "reference"],
    inputs: Object.fromEntries(process.inputs.map((input) => [input.name, describeInput(input)])),
    outputs: Object.fromEntries(
      process.outputs.map((output) => [
        output.name,
        {
          title: output.label ?? output.name,
          ...(output.doc !== undefined && { description: output.doc }),
          schema: toSchema(output.type, output.format),
        },
      ]),
    ),
  };
}

/** A property of schema.org, which is written with either protocol. */
const schemaOrg = (metadata: Readonly<Record<string, unknown>>, name: string): unknown =>
  metadata[`https://schema.org/${name}`] ?? metadata[`http://schema.org/${name}`];

/** `s:keywords` of the package: one text with commas, or a list. */
function keywordsOf(words: unknown): readonly string[] {
  return [words ?? []]
    .flat()
    .flatMap((words) => (typeof words === "string" ? words.split(",") : []))
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function describeInput(input: ParameterDescription): InputDescription {
  const schema = toSchema(input.type, input.format);
  return {
    title: input.label ?? input.name,
    ...(input.doc !== undefined && { description: input.doc }),
    schema: input.default === undefined ? schema : { ...schema, default: input.default },
    minOccurs: input.required ? 1 : 0,
    ...(input.type.kind !== "array" && { maxOccurs: 1 }),
  };
}

/** A CWL type as a JSON schema; files and directories are addresses. */
export function toSchema(type: CwlType, formats: readonly string[] = []): Schema {
  switch (type.kind) {
    case "boolean":
      return { type: "boolean" };
    case "int":
      return { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
    case "long":
      return { type: "integer", minimum: -(2 ** 63), maximum: 2 ** 63 };
    case "float":
    case "double":
      return { type: "number", format: type.kind };
    case "string":
      return { type: "string" };
    case "File":
      return { type: "string", format: "uri", contentMediaType: mediaTypeOf(formats) };
    case "Directory":
      return { type: "string", format: "uri", contentMediaType: "application/geo+json" };
    case "enum":
      return { type: "string", enum: type.symbols };
    case "array":
      return { type: "array", items: toSchema(type.items, formats) };
    case "record":
      return {
        type: "object",
        properties: Object.fromEntries(type.fields.map((field) => [field.name, toSchema(field.type)])),
        required: type.fields.filter((field) => !acceptsNull(field.type)).map((field) => field.name),
      };
    case "union": {
      const members = type.members.filter((member) => member.kind !== "null");
      const [only] = members;
      return members.length === 1 && only !== undefined
        ? toSchema(only, formats)
        : { oneOf: members.map((member) => toSchema(member, formats)) };
    }
    default:
      return {};
  }
}

/** Of files whose one format is a media type. */
function mediaTypeOf([format = "", ...others]: readonly string[]): string {
  return (others.length === 0 ? toMediaType(format) : undefined) ?? "application/octet-stream";
}

export function acceptsNull(type: CwlType): boolean {
  return type.kind === "null" || (type.kind === "union" && type.members.some(acceptsNull));
}

/** What a deployment may say of a process beside its package: `processDescription.process` (OGC 20-044 /req/ogcapppkg/schema). */
export interface GivenDescription {
  readonly id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly version?: string;
  readonly keywords?: readonly string[];
  readonly metadata?: readonly Readonly<Record<string, unknown>>[];
  readonly additionalParameters?: Readonly<Record<string, unknown>>;
  readonly jobControlOptions?: readonly string[];
  readonly outputTransmission?: readonly string[];
  readonly inputs?: Readonly<Record<string, GivenParameter>>;
  readonly outputs?: Readonly<Record<string, GivenParameter>>;
}

type GivenParameter = Readonly<Record<string, unknown>>;

/** Members of inputs and outputs that a deployment may say more of; how often they occur is the package's to say. */
const PARAMETER_MEMBERS = ["title", "description", "keywords", "metadata", "additionalParameters"];

/**
 * What the package says with what the request says over it. A schema adds to the package's own: its type stays, since the tool
 * takes no other.
 * @throws {OgcError} 400 for inputs and outputs that the package does not have
 */
export function mergeDescription(derived: ProcessDescription, provided: GivenDescription = {}): ProcessDescription {
  const { inputs, outputs, ...rest } = provided;
  return {
    ...derived,
    ...rest,
    inputs: mergeParameters("inputs", derived.inputs, inputs),
    outputs: mergeParameters("outputs", derived.outputs, outputs),
  };
}

function mergeParameters<Parameter extends { readonly schema: Schema }>(
  kind: string,
  derived: Readonly<Record<string, Parameter>>,
  provided: Readonly<Record<string, GivenParameter>> = {},
): Readonly<Record<string, Parameter>> {
  const unknown = Object.keys(provided).find((name) => !Object.hasOwn(derived, name));
  if (unknown !== undefined) {
    throw invalidParameter(
      `processDescription.${kind} has ${JSON.stringify(unknown)}, which the package does not have; it has: ${Object.keys(derived).join(", ")}.`,
    );
  }
  return Object.fromEntries(
    Object.entries(derived).map(([name, parameter]) => {
      const more = provided[name];
      if (more === undefined) {
        return [name, parameter];
      }
      const said = Object.fromEntries(Object.entries(more).filter(([key]) => PARAMETER_MEMBERS.includes(key)));
      const {
        type: _type,
        oneOf: _oneOf,
        items: _items,
        ...schema
      } = requireObject(more["schema"] ?? {}, `processDescription.${kind}.${name}.schema`);
      const mistake = findConstraintMistake(schema);
      if (mistake !== undefined) {
        throw invalidParameter(`processDescription.${kind}.${name}.schema.${mistake}.`);
      }
      return [name, { ...parameter, ...said, schema: mergeSchemas(schema, parameter.schema) }];
    }),
  );
}

/** What is said of a schema, and what the package says over it; of numbers the narrower range. */
function mergeSchemas(said: Schema, own: Schema): Schema {
  const narrower = (member: "minimum" | "maximum", choose: (...limits: number[]) => number): Schema => {
    const [one, other] = [said[member], own[member]];
    return typeof one === "number" && typeof other === "number" ? { [member]: choose(one, other) } : {};
  };
  return { ...said, ...own, ...narrower("minimum", Math.max), ...narrower("maximum", Math.min) };
}

/**
 * Reads what a request says of the process.
 * @throws {OgcError} 400
 */
export function readDescription(provided: unknown): GivenDescription | undefined {
  if (provided === undefined || provided === null) {
    return undefined;
  }
  const outer = requireObject(provided, "processDescription");
  const fields = outer["process"] === undefined ? outer : requireObject(outer["process"], "processDescription.process");
  const { id, keywords, metadata } = fields;
  if (id !== undefined && (typeof id !== "string" || !/^[A-Za-z_][\w.-]{0,127}$/.test(id))) {
    throw invalidParameter(
      `processDescription.id is ${JSON.stringify(id)}; allowed: a letter or _, then letters, digits, and . _ -, 128 at most.`,
    );
  }
  const texts = Object.fromEntries(
    (["title", "description", "version"] as const).flatMap((name) =>
      typeof fields[name] === "string" ? [[name, fields[name]]] : [],
    ),
  );
  return {
    ...texts,
    ...readChoice(fields, "jobControlOptions", ["sync-execute", "async-execute", "dismiss"]),
    ...readChoice(fields, "outputTransmission", ["value", "reference"]),
    ...readParameters(fields, "inputs"),
    ...readParameters(fields, "outputs"),
    ...(id !== undefined && { id: id as string }),
    ...(Array.isArray(keywords) && { keywords: keywords.filter((word): word is string => typeof word === "string") }),
    ...(Array.isArray(metadata) && {
      metadata: metadata.filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null),
    }),
  };
}

/** Those of a list that there are; a list without any says nothing. */
function readChoice(fields: Readonly<Record<string, unknown>>, name: string, known: readonly string[]): object {
  const provided = fields[name];
  const chosen = Array.isArray(provided) ? known.filter((option) => provided.includes(option)) : [];
  return chosen.length > 0 ? { [name]: chosen } : {};
}

function readParameters(fields: Readonly<Record<string, unknown>>, name: "inputs" | "outputs"): object {
  const provided = fields[name];
  if (provided === undefined || provided === null) {
    return {};
  }
  const parameters = requireObject(provided, `processDescription.${name}`);
  return {
    [name]: Object.fromEntries(
      Object.entries(parameters).map(([key, value]) => [
        key,
        requireObject(value, `processDescription.${name}.${key}`),
      ]),
    ),
  };
}

function requireObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidParameter(`${name} must be an object.`);
  }
  return value as Readonly<Record<string, unknown>>;
}
