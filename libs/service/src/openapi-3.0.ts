type Json = Readonly<Record<string, unknown>>;

/** Keywords of schemas that mean the same in OpenAPI 3.0.3 (§4.7.24) and in JSON Schema 2020-12. */
const SHARED = new Set([
  "title",
  "description",
  "multipleOf",
  "maximum",
  "minimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "maxProperties",
  "minProperties",
  "required",
  "enum",
  "format",
  "default",
  "nullable",
  "example",
  "readOnly",
  "writeOnly",
  "deprecated",
]);
/** Members that hold values of clients, not parts of the document. */
const VALUES = new Set(["example", "examples", "default", "enum"]);
const converted = new WeakMap<object, object>();

/**
 * An OpenAPI 3.1 document as 3.0.3, for generators and clients that read no other. Schemas lose keywords that 3.0 does not have, so that
 * they allow more, never less. The same document gives the same object.
 */
export function toOpenApi30(document: object): object {
  const known = converted.get(document);
  if (known !== undefined) {
    return known;
  }
  const { jsonSchemaDialect: _dialect, webhooks: _webhooks, ...rest } = document as Json;
  const result = { ...(toParts(rest) as Json), openapi: "3.0.3" };
  converted.set(document, result);
  return result;
}

/** Everything around schemas, which stand in members `schema` and in `components.schemas`. */
function toParts(part: unknown): unknown {
  if (Array.isArray(part)) {
    return part.map(toParts);
  }
  if (typeof part !== "object" || part === null) {
    return part;
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => {
      if (name === "schema") {
        return [name, toSchema(value)];
      }
      return [name, name === "schemas" ? mapMembers(value, toSchema) : VALUES.has(name) ? value : toParts(value)];
    }),
  );
}

const mapMembers = (members: unknown, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries((members ?? {}) as Json).map(([name, value]) => [name, map(value)]));

function toSchema(schema: unknown): Json {
  if (typeof schema !== "object" || schema === null) {
    return schema === false ? { not: {} } : {};
  }
  const given = schema as Json;
  if (given["$ref"] !== undefined) {
    return { $ref: given["$ref"] };
  }
  const kept = Object.fromEntries(
    Object.entries(given).filter(([name]) => SHARED.has(name) || name.startsWith("x-")),
  ) as Json;
  return { ...kept, ...toValues(given), ...toBounds(given), ...toMembers(given), ...toType(given), ...toUnions(given) };
}

function toValues({ const: constant, examples }: Json): Json {
  return {
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(examples) && examples.length > 0 && { example: examples[0] as unknown }),
  };
}

function toBounds({ exclusiveMinimum, exclusiveMaximum }: Json): Json {
  return {
    ...(typeof exclusiveMinimum === "number" && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(typeof exclusiveMaximum === "number" && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

function toMembers({ properties, additionalProperties, items, not }: Json): Json {
  return {
    ...(properties !== undefined && { properties: mapMembers(properties, toSchema) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === "boolean" ? additionalProperties : toSchema(additionalProperties),
    }),
    ...(items !== undefined && { items: toSchema(items) }),
    ...(not !== undefined && { not: toSchema(not) }),
  };
}

/** 3.0 has one type, and `nullable`; an array must say what is in it. */
function toType({ type, items }: Json): Json {
  const types = (Array.isArray(type) ? type : [type]).filter((entry) => entry !== undefined) as readonly string[];
  const named = types.filter((entry) => entry !== "null");
  const one = (name: string): Json => ({ type: name, ...(name === "array" && items === undefined && { items: {} }) });
  const nullable = named.length < types.length ? { nullable: true } : {};
  if (named.length === 0) {
    return types.length === 0 ? {} : { enum: [null], ...nullable };
  }
  return named.length === 1 ? { ...one(named[0] as string), ...nullable } : { anyOf: named.map(one), ...nullable };
}

function toUnions(schema: Json): Json {
  const unions = ["allOf", "anyOf", "oneOf"].flatMap((name): Json[] => {
    const listed = schema[name];
    if (!Array.isArray(listed)) {
      return [];
    }
    const others = listed.filter((entry) => (entry as Json | null)?.["type"] !== "null").map(toSchema);
    const nullable = others.length < listed.length ? { nullable: true } : {};
    // `nullable` adds to the type beside it.
    return others.length === 1 && name !== "allOf" && others[0]?.["$ref"] === undefined
      ? [{ ...others[0], ...nullable }]
      : [{ [name]: others, ...nullable }];
  });
  return Object.assign({}, ...unions) as Json;
}
