import { describeSchema } from "./form-fields.ts";
import type { ProcessDescription, Schema } from "./process-description.ts";

/** What is wrong with one value; `path` as the service writes it: `inputs.scenes[2]`. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

type Inputs = Readonly<Record<string, unknown>>;

/**
 * Checks the inputs of an execute request against a process description, and takes and refuses the same as the service
 * (test/portal-inputs.test.ts holds both together), so that a form that is accepted here is accepted there.
 */
export function checkInputs({ inputs }: Pick<ProcessDescription, "inputs">, provided: Inputs): readonly InputProblem[] {
  const problems: InputProblem[] = [];
  for (const name of Object.keys(provided)) {
    if (!Object.hasOwn(inputs, name)) {
      problems.push({
        path: `inputs.${name}`,
        message: `No input of this process; its inputs: ${Object.keys(inputs).join(", ")}.`,
      });
    }
  }
  for (const [name, { schema, minOccurs = 1 }] of Object.entries(inputs)) {
    const value = unwrap(provided[name]);
    if (value === undefined || value === null) {
      if (minOccurs > 0) {
        problems.push({ path: `inputs.${name}`, message: `Missing: ${describeSchema(schema)}.` });
      }
      continue;
    }
    problems.push(...checkValue(value, schema, `inputs.${name}`));
  }
  return problems;
}

/** `{"value": x}` means x. */
function unwrap(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "value" in value ? value.value : value;
}

function checkValue(provided: unknown, schema: Schema, path: string): readonly InputProblem[] {
  const value = unwrap(provided);
  const problem = (message: string): readonly InputProblem[] => [{ path, message }];
  const wrong = () => problem(`${JSON.stringify(value)?.slice(0, 80) ?? "Nothing"} is not ${describeSchema(schema)}.`);
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) {
    return options.some((option) => checkValue(value, option, path).length === 0) ? [] : wrong();
  }
  if (schema.enum !== undefined) {
    return schema.enum.includes(value) ? [] : wrong();
  }
  switch (schema.type) {
    case "boolean":
      return typeof value === "boolean" ? [] : wrong();
    case "integer":
      return Number.isInteger(value) ? checkRange(value as number, schema, problem) : wrong();
    case "number":
      return typeof value === "number" ? checkRange(value, schema, problem) : wrong();
    case "string":
      return schema.format === "uri" ? checkAddress(value, problem) : typeof value === "string" ? [] : wrong();
    case "array": {
      // One value stands for a list of one.
      const items = Array.isArray(value) ? (value as unknown[]) : [value];
      const { minItems = 0, maxItems = Infinity, items: inner = {} } = schema;
      if (items.length < minItems || items.length > maxItems) {
        return problem(
          `${items.length} entries; allowed: ${minItems} to ${maxItems === Infinity ? "any number" : maxItems}.`,
        );
      }
      return items.flatMap((item, index) => checkValue(item, inner, `${path}[${index}]`));
    }
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? checkFields(value as Inputs, schema, path)
        : wrong();
    default:
      return [];
  }
}

function checkRange(
  value: number,
  { minimum = -Infinity, maximum = Infinity }: Schema,
  problem: (message: string) => readonly InputProblem[],
): readonly InputProblem[] {
  return value >= minimum && value <= maximum ? [] : problem(`${value} is out of range: ${minimum} to ${maximum}.`);
}

function checkAddress(value: unknown, problem: (message: string) => readonly InputProblem[]): readonly InputProblem[] {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Inputs;
  const href = typeof value === "string" ? value : (fields["href"] ?? fields["location"]);
  return typeof href === "string" && /^(https?|s3|data):/i.test(href)
    ? []
    : problem("An address begins with https://, http://, s3:// or data:.");
}

function checkFields(value: Inputs, { properties = {}, required = [] }: Schema, path: string): readonly InputProblem[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    value[name] === undefined && !required.includes(name) ? [] : checkValue(value[name], schema, `${path}.${name}`),
  );
}
