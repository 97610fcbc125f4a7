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

/** A process with its inputs and outputs in the order in which its graph has them. */
export function orderParameters<Process extends Pick<ProcessDescription, "inputs" | "outputs">>(
  process: Process,
  { nodes }: { readonly nodes: readonly { readonly id: string }[] },
): Process {
  const order = <Value>(values: Readonly<Record<string, Value>>, prefix: string) => {
    const places = new Map(nodes.map(({ id }, index) => [id, index]));
    const placeOf = (name: string) => places.get(`${prefix}:${name}`) ?? nodes.length;
    return Object.fromEntries(Object.entries(values).toSorted(([one], [other]) => placeOf(one) - placeOf(other)));
  };
  return { ...process, inputs: order(process.inputs, "in"), outputs: order(process.outputs, "out") };
}
