import { hostileJson, hostileText, pick } from "./hostile-values.ts";

type Random = (below: number) => number;

/** The parts of an OpenAPI document that requests are made from. */
export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, ApiOperation | undefined>>>>;
}
interface ApiOperation {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly schema?: unknown }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> };
}

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly body: string | undefined;
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** Every operation of a document once, in its order: each round asks all of them. */
export function listOperations({ paths = {} }: ApiDocument): (readonly [string, string, ApiOperation])[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[method, path, operation] as const];
    }),
  );
}

/** A request of an operation with hostile values in its path, its query and its body. */
export function makeRequest(
  random: Random,
  [method, path, operation]: readonly [string, string, ApiOperation],
): HostileRequest {
  const { parameters = [], requestBody } = operation;
  const filled = path.replace(/\{[^}]+\}/g, () => encodeURIComponent(toWellFormed(hostileText(random))) || "a");
  const query = parameters
    .filter((parameter) => parameter.in === "query" && random(3) > 0)
    .map(({ name = "" }) => `${encodeURIComponent(name)}=${encodeURIComponent(toWellFormed(hostileText(random)))}`);
  const types = Object.keys(requestBody?.content ?? {});
  const type = types.length === 0 ? undefined : pick(random, [...types, "application/json"]);
  const schema = requestBody?.content?.[type ?? ""]?.schema;
  return {
    method: method.toUpperCase(),
    path: `${filled}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    type,
    body: type === undefined ? undefined : /xml/.test(type) ? hostileXml(random) : hostileJson(random, schema),
  };
}

/** URLs hold UTF-8; lone surrogates come in bodies. */
const toWellFormed = (text: string) => text.toWellFormed();

function hostileXml(random: Random): string {
  return pick(random, [
    "<a>".repeat(100_000),
    `<a>${"<b/>".repeat(150_000)}</a>`,
    '<!DOCTYPE a [<!ENTITY b "&b;&b;">]><a>&b;</a>',
    `<a ${Array.from({ length: 5000 }, (_, i) => `b${i}=""`).join(" ")}/>`,
    "<a>&foo;</a>",
    `<a>${"x".repeat(1 << 20)}</a>`,
    "",
  ]);
}
