import { hostileJson, hostileText, pick } from "./hostile-values.ts";
import type { KnownIds } from "./known-ids.ts";

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

/** Parameters that lists take, for operations whose document names none. */
const COMMON_PARAMETERS = ["limit", "bbox", "datetime", "filter", "sortby", "q", "ids", "fields", "f", "token", "crs"];
/** Types of bodies, for operations whose document names none. */
const COMMON_TYPES = [
  "application/json",
  "application/geo+json",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/x-ndjson",
  "application/x-www-form-urlencoded",
  "application/xml",
  "text/xml",
];
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(["post", "put", "patch"]);

/** A request of an operation with hostile values in its path, its query and its body. */
export function makeRequest(
  random: Random,
  [method, path, operation]: readonly [string, string, ApiOperation],
  ids: KnownIds,
): HostileRequest {
  const { parameters = [], requestBody } = operation;
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    random(3) > 0
      ? encodeURIComponent(ids.choose(random, name))
      : encodeURIComponent(toWellFormed(hostileText(random))) || "a",
  );
  const named = parameters.flatMap(({ in: place, name = "" }) => (place === "query" ? [name] : []));
  const query = (named.length > 0 ? named : COMMON_PARAMETERS)
    .filter(() => random(named.length > 0 ? 3 : 4) === 0)
    .map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(toWellFormed(hostileText(random)))}`);
  const documented = Object.keys(requestBody?.content ?? {});
  const types =
    documented.length > 0 ? [...documented, "application/json"] : METHODS_WITH_BODY.has(method) ? COMMON_TYPES : [];
  const type = types.length === 0 ? undefined : pick(random, types);
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
    `<a>${"<b c='d'>e</b>".repeat(190_000)}</a>`,
    `<a>${"x&amp;".repeat(800_000)}</a>`,
    "",
  ]);
}
