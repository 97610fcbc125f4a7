import type { Binding } from "./process.ts";

export type PrimitiveName =
  | "null"
  | "boolean"
  | "int"
  | "long"
  | "float"
  | "double"
  | "string"
  | "File"
  | "Directory"
  | "Any";

/** A CWL type with every name resolved and every abbreviation (`File[]?`) written out. */
export type CwlType = PrimitiveType | EnumType | RecordType | ArrayType | UnionType;

export interface PrimitiveType {
  readonly kind: PrimitiveName;
}

export interface EnumType {
  readonly kind: "enum";
  readonly name: string | undefined;
  readonly symbols: readonly string[];
  readonly binding: Binding | undefined;
}

export interface RecordType {
  readonly kind: "record";
  readonly name: string | undefined;
  /** Filled after creation, so that a record may hold itself through an array or a union. */
  fields: readonly RecordField[];
  readonly binding: Binding | undefined;
}

export interface ArrayType {
  readonly kind: "array";
  items: CwlType;
  readonly binding: Binding | undefined;
}

export interface UnionType {
  readonly kind: "union";
  members: readonly CwlType[];
}

/** What an input, an output and a record field have in common. */
export interface FileOptions {
  readonly secondaryFiles: readonly SecondaryFile[];
  /** IRIs or one expression; undefined when any format will do. */
  readonly format: readonly string[] | undefined;
  readonly loadContents: boolean;
  readonly loadListing: LoadListing | undefined;
  readonly streamable: boolean;
}

export type LoadListing = "no_listing" | "shallow_listing" | "deep_listing";

export interface RecordField extends FileOptions {
  readonly name: string;
  readonly type: CwlType;
  readonly label: string | undefined;
  readonly doc: string | undefined;
  readonly binding: Binding | undefined;
  readonly outputBinding: OutputBinding | undefined;
}

export interface OutputBinding {
  readonly glob: readonly string[];
  readonly loadContents: boolean;
  readonly loadListing: LoadListing | undefined;
  readonly outputEval: string | undefined;
}

export interface SecondaryFile {
  readonly pattern: string;
  /** true, false, an expression, or undefined for the default of the place (inputs: required, outputs: optional). */
  readonly required: boolean | string | undefined;
}

/** The type in the notation of a CWL document, as short as it goes. */
export function formatType(type: CwlType): string {
  switch (type.kind) {
    case "array":
      return type.items.kind === "union" ? `array of (${formatType(type.items)})` : `${formatType(type.items)}[]`;
    case "union": {
      const rest = type.members.filter((member) => member.kind !== "null");
      if (rest.length === 1 && rest[0] !== undefined && type.members.length === 2) {
        return `${formatType(rest[0])}?`;
      }
      return type.members.map(formatType).join(" | ");
    }
    case "enum":
      return `enum (${type.symbols.join(", ")})`;
    case "record":
      return type.name === undefined ? "record" : `record ${type.name}`;
    case "null":
    case "boolean":
    case "int":
    case "long":
    case "float":
    case "double":
    case "string":
    case "File":
    case "Directory":
    case "Any":
      return type.kind;
  }
}

export function acceptsNull(type: CwlType): boolean {
  return type.kind === "null" || (type.kind === "union" && type.members.some(acceptsNull));
}
