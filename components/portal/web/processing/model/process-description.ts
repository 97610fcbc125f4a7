/** A JSON schema as process descriptions hold them (OGC 18-062r2 §7.10): the members that a form is made from. */
export interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly format?: string;
  readonly contentMediaType?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
}

export interface InputDescription {
  readonly title?: string;
  readonly description?: string;
  readonly schema: Schema;
  readonly minOccurs?: number;
  readonly maxOccurs?: number | "unbounded";
}

export interface OutputDescription {
  readonly title?: string;
  readonly description?: string;
  readonly schema: Schema;
}

export interface ProcessSummary {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly version: string;
  /** `false` for processes that belong to the service. */
  readonly mutable?: boolean;
  readonly keywords?: readonly string[];
}

export interface ProcessDescription extends ProcessSummary {
  readonly inputs: Readonly<Record<string, InputDescription>>;
  readonly outputs: Readonly<Record<string, OutputDescription>>;
}
