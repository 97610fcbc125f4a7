import { type CwlType, type LoadedDocument, type ParameterDescription, describeProcess } from "@swath/cwl";

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
  const version = rootFields["s:softwareVersion"] ?? rootFields["s:version"] ?? "1.0.0";
  return {
    id,
    title: process.label ?? id,
    description: process.doc ?? "",
    version: typeof version === "string" || typeof version === "number" ? String(version) : "1.0.0",
    mutable: true,
    keywords: [],
    jobControlOptions: ["sync-execute", "async-execute", "dismiss"],
    outputTransmission: ["value", "reference"],
    inputs: Object.fromEntries(process.inputs.map((input) => [input.name, describeInput(input)])),
    outputs: Object.fromEntries(
      process.outputs.map((output) => [
        output.name,
        {
          title: output.label ?? output.name,
          ...(output.doc !== undefined && { description: output.doc }),
          schema: toSchema(output.type),
        },
      ]),
    ),
  };
}

function describeInput(input: ParameterDescription): InputDescription {
  const schema = toSchema(input.type);
  return {
    title: input.label ?? input.name,
    ...(input.doc !== undefined && { description: input.doc }),
    schema: input.default === undefined ? schema : { ...schema, default: input.default },
    minOccurs: input.required ? 1 : 0,
    ...(input.type.kind !== "array" && { maxOccurs: 1 }),
  };
}

/** A CWL type as a JSON schema; files and directories are addresses. */
export function toSchema(type: CwlType): Schema {
  switch (type.kind) {
    case "boolean":
      return { type: "boolean" };
    case "int":
    case "long":
      return { type: "integer" };
    case "float":
    case "double":
      return { type: "number", format: type.kind };
    case "string":
      return { type: "string" };
    case "File":
      return { type: "string", format: "uri", contentMediaType: "application/octet-stream" };
    case "Directory":
      return { type: "string", format: "uri", contentMediaType: "application/geo+json" };
    case "enum":
      return { type: "string", enum: type.symbols };
    case "array":
      return { type: "array", items: toSchema(type.items) };
    case "record":
      return {
        type: "object",
        properties: Object.fromEntries(type.fields.map((field) => [field.name, toSchema(field.type)])),
        required: type.fields.filter((field) => !acceptsNull(field.type)).map((field) => field.name),
      };
    case "union": {
      const members = type.members.filter((member) => member.kind !== "null");
      const [only] = members;
      return members.length === 1 && only !== undefined ? toSchema(only) : { oneOf: members.map(toSchema) };
    }
    default:
      return {};
  }
}

export function acceptsNull(type: CwlType): boolean {
  return type.kind === "null" || (type.kind === "union" && type.members.some(acceptsNull));
}
