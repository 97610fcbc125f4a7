import { invalidParameter } from "../errors.ts";

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const numberOf = (value: unknown): number | undefined => (typeof value === "number" && value >= 0 ? value : undefined);

/** Execution units that are container images (OGC 20-044 requirements class docker). */
export const isDockerUnit = ({ type, image }: Fields): boolean =>
  typeof image === "string" && (type === "docker" || type === "oci");

/**
 * A container image with a described interface as a CWL CommandLineTool: inputs become arguments as its bindings say, `--name value`
 * where they say nothing, and outputs are the files that their globs name, `<name>` and `<name>.*` where they say nothing.
 * @throws {OgcError} 400
 */
export function toToolOfImage(unit: Fields, description: Fields): object {
  const { id, inputs, outputs, title, description: doc, version } = description;
  if (typeof id !== "string" || !isObject(outputs) || (inputs !== undefined && !isObject(inputs))) {
    throw invalidParameter(
      "An execution unit that is a container image needs processDescription with id, inputs and outputs: the image does not say them.",
    );
  }
  const { inputBindings = {}, outputBindings = {} } = (isObject(unit["bindings"]) ? unit["bindings"] : {}) as {
    readonly inputBindings?: Fields;
    readonly outputBindings?: Fields;
  };
  const config = isObject(unit["config"]) ? unit["config"] : {};
  const gibibytes = (name: string) => {
    const value = numberOf(config[name]);
    return value === undefined ? undefined : Math.ceil(value * 1024);
  };
  const resources = Object.fromEntries(
    Object.entries({
      coresMin: numberOf(config["cpuMin"]),
      coresMax: numberOf(config["cpuMax"]),
      ramMin: gibibytes("memoryMin"),
      ramMax: gibibytes("memoryMax"),
      tmpdirMin: gibibytes("storageTempMin"),
      outdirMin: gibibytes("storageOutputsMin"),
    }).filter(([, value]) => value !== undefined),
  );
  const seconds = numberOf(config["jobTimeout"]);
  return {
    cwlVersion: "v1.2",
    $namespaces: { s: "https://schema.org/" },
    ...(typeof version === "string" && { "s:softwareVersion": version }),
    class: "CommandLineTool",
    id,
    ...(typeof title === "string" && { label: title }),
    ...(typeof doc === "string" && { doc }),
    requirements: {
      DockerRequirement: { dockerPull: String(unit["image"]).replace(/^docker:\/\//, "") },
      ...(Object.keys(resources).length > 0 && { ResourceRequirement: resources }),
      ...(seconds !== undefined && seconds > 0 && { ToolTimeLimit: { timelimit: Math.ceil(seconds) } }),
    },
    inputs: Object.fromEntries(
      Object.entries(inputs ?? {}).map(([name, input]) => [name, toInput(name, input, inputBindings[name])]),
    ),
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [name, toOutput(name, output, outputBindings[name])]),
    ),
  };
}

function toInput(name: string, provided: unknown, binding: unknown): object {
  const { schema, minOccurs = 1, maxOccurs = 1, title, description } = isObject(provided) ? provided : {};
  const fields = isObject(schema) ? schema : {};
  const { default: fallback, nullable } = fields;
  const isSeveral = maxOccurs === "unbounded" || (typeof maxOccurs === "number" && maxOccurs > 1);
  const one = toType(fields);
  const type = isSeveral && !isArrayType(one) ? { type: "array", items: one } : one;
  const isOptional = minOccurs === 0 || nullable === true;
  return {
    type: isOptional && fallback === undefined ? ["null", type] : type,
    ...(fallback !== undefined && { default: fallback }),
    ...(typeof title === "string" && { label: title }),
    ...(typeof description === "string" && { doc: description }),
    inputBinding: isObject(binding) ? binding : { prefix: `--${name}` },
  };
}

function toOutput(name: string, provided: unknown, binding: unknown): object {
  const { schema, title } = isObject(provided) ? provided : {};
  const type = toType(isObject(schema) ? schema : {}, true);
  return {
    type: isArrayType(type) ? { type: "array", items: "File" } : "File",
    ...(typeof title === "string" && { label: title }),
    outputBinding: isObject(binding) ? binding : { glob: [name, `${name}.*`] },
  };
}

const isArrayType = (type: unknown): boolean => isObject(type) && type["type"] === "array";

/** A schema as a CWL type. Of several forms the first one that says something counts. */
function toType(schema: Fields, isOutput = false): unknown {
  const { type, oneOf, items, enum: symbols, contentMediaType, contentEncoding, format } = schema;
  const [first] = Array.isArray(oneOf) ? (oneOf as unknown[]) : [];
  if (isObject(first)) {
    return toType(first, isOutput);
  }
  if (isOutput || contentMediaType !== undefined || contentEncoding !== undefined || format === "uri") {
    return type === "array" ? { type: "array", items: "File" } : "File";
  }
  if (Array.isArray(symbols) && symbols.every((symbol) => typeof symbol === "string")) {
    return { type: "enum", symbols: [...new Set(symbols)] };
  }
  switch (type) {
    case "integer":
      return "long";
    case "number":
      return "double";
    case "boolean":
      return "boolean";
    case "array":
      return { type: "array", items: toType(isObject(items) ? items : {}) };
    case "object":
      return "File";
    default:
      return "string";
  }
}
