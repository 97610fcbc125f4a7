/** An operation of an OpenAPI document, with what a request of it looks like. */
export interface Operation {
  readonly service: string;
  readonly method: string;
  /** As the document has it: `/workspaces/{workspace_name}`. */
  readonly route: string;
  readonly body: unknown;
  readonly bodyType: string | undefined;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
}

export interface OpenApiDocument {
  readonly paths?: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: { content?: Record<string, { schema?: Schema }> } }>>>
  >;
}

const METHODS = new Set(["get", "head", "post", "put", "patch", "delete"]);

export function listOperations(service: string, { paths = {} }: OpenApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([route, operations]) =>
    Object.entries(operations)
      .filter(([method]) => METHODS.has(method))
      .map(([method, { requestBody }]) => {
        const [bodyType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
        const sends = ["post", "put", "patch"].includes(method);
        return {
          service,
          method: method.toUpperCase(),
          route,
          body: sends ? exampleOf(content?.schema ?? {}, 0) : undefined,
          bodyType: sends ? (bodyType ?? "application/json") : undefined,
        };
      }),
  );
}

/** The smallest value that fits. */
function exampleOf(schema: Schema, depth: number): unknown {
  const { type, properties = {}, required = [], items, anyOf, oneOf } = schema;
  const [first] = [type].flat();
  if (schema.const !== undefined || schema.default !== undefined || schema.enum !== undefined) {
    return schema.const ?? schema.default ?? schema.enum?.[0];
  }
  const [choice] = anyOf ?? oneOf ?? [];
  if (choice !== undefined && depth < 5) {
    return exampleOf(choice, depth + 1);
  }
  switch (first) {
    case "string":
      return "taken-over";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "array":
      return items === undefined || depth > 4 ? [] : [exampleOf(items, depth + 1)];
    case "null":
      return null;
    default:
      return Object.fromEntries(
        required.map((name) => [name, depth > 4 ? null : exampleOf(properties[name] ?? {}, depth + 1)]),
      );
  }
}

/** Ways to write a path that a proxy and the service behind it may read differently. */
export function spellingsOf(path: string, names: readonly string[]): readonly string[] {
  const [name = ""] = names.filter((each) => path.includes(each));
  const encoded = `%${name.charCodeAt(0).toString(16)}`;
  return [
    path,
    ...(name === ""
      ? []
      : [
          path.replace(name, `${encoded}${name.slice(1)}`),
          path.replace(name, `${encoded.replace("%", "%25")}${name.slice(1)}`),
          path.replace(name, name.toUpperCase()),
          path.replace(name, `./${name}`),
          path.replace(name, `bob/../${name}`),
          path.replace(name, `bob/%2e%2e/${name}`),
          path.replace(name, `${name};v=1`),
        ]),
    `/${path}`,
    `${path}/`,
    `${path}?access=all`,
  ];
}
