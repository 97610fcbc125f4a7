import { MULTIPART_TYPE, hostileDocument, hostileForm, hostileMultipart, hostileXml } from "./hostile-bodies.ts";
import { hostileJson, hostileText, pick } from "./hostile-values.ts";
import type { KnownIds } from "./known-ids.ts";
import { type Vocabulary, type Words, chooseWords } from "./words.ts";

type Random = (below: number) => number;

/** The parts of an OpenAPI document that requests are made from. */
export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, ApiOperation | undefined>>>>;
}
interface ApiOperation {
  readonly parameters?: readonly { readonly name?: string; readonly in?: string; readonly schema?: unknown }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> };
}
export type Operation = readonly [method: string, path: string, operation: ApiOperation];

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string | undefined;
  readonly body: string | undefined;
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** Every operation of a document once, in its order: each round asks all of them. */
export function listOperations({ paths = {} }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[method, path, operation] as const];
    }),
  );
}

/** Parameters that lists take, for operations whose document names none. */
const COMMON_PARAMETERS: Words = Object.fromEntries(
  ["limit", "bbox", "datetime", "filter", "sortby", "q", "ids", "fields", "f", "token", "crs"].map((name) => [
    name,
    [],
  ]),
);
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
  MULTIPART_TYPE,
];
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(["post", "put", "patch"]);
/** Fields that any server reads, with odd values. */
const COMMON_HEADERS: Words = {
  accept: ["*/*", "text/html", "*/*;q=,".repeat(1000), "application/json;q=1e999"],
  "accept-language": ["de", "en;q=a", "a-b-c,".repeat(1000)],
  range: ["bytes=0-0", "bytes=9999999999999999999-", `bytes=${"0-0,".repeat(1500)}0-0`],
  "if-none-match": ["*", "a", '"a", '.repeat(1000)],
  "if-modified-since": ["a", "Sun, 99 Feb 99999 99:99:99 GMT"],
  "content-encoding": ["gzip", "br, gzip, deflate"],
  cookie: ["a", "=; ;;=", "a=%ff; __proto__=b", "a=b; ".repeat(1000)],
  origin: ["null", "a"],
  prefer: ["respond-async, wait=1e9", ",;=".repeat(500)],
  "x-forwarded-host": ["a, b", "[::"],
  "x-forwarded-proto": ["a"],
  "x-forwarded-for": ["a", "256.1.1.1,".repeat(500)],
  forwarded: ['for="[::'],
  "x-request-id": ["a".repeat(5000)],
  "x-http-method-override": ["DELETE"],
};

/** A request of an operation with hostile values in its path, its query, its header fields and its body. */
export function makeRequest(
  random: Random,
  [method, path, operation]: Operation,
  ids: KnownIds,
  vocabulary: Vocabulary = {},
): HostileRequest {
  const { parameters = [], requestBody } = operation;
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    random(3) > 0
      ? encodeURIComponent(ids.choose(random, name, method))
      : encodeURIComponent(hostileText(random).toWellFormed()) || "a",
  );
  const named = parameters.flatMap(({ in: place, name = "" }) => (place === "query" ? [[name, []] as const] : []));
  const known = { ...vocabulary.parameters, ...Object.fromEntries(named) };
  const hasNames = Object.keys(known).length > 0;
  const query = chooseWords(random, hasNames ? known : COMMON_PARAMETERS, named.length > 0 ? 3 : 4)
    // URLs hold UTF-8; lone surrogates come in bodies.
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`);
  const documented = Object.keys(requestBody?.content ?? {});
  const types = METHODS_WITH_BODY.has(method)
    ? documented.length > 0
      ? [...documented, "application/json"]
      : COMMON_TYPES
    : [];
  const type = types.length === 0 ? undefined : pick(random, types);
  const schema = requestBody?.content?.[type ?? ""]?.schema;
  return {
    method: method.toUpperCase(),
    path: `${filled}${query.length === 0 ? "" : `${filled.includes("?") ? "&" : "?"}${query.join("&")}`}`,
    headers: makeHeaders(random, vocabulary),
    type,
    body: type === undefined ? undefined : makeBody(random, type, schema, vocabulary),
  };
}

function makeHeaders(random: Random, { headers = {} }: Vocabulary): Readonly<Record<string, string>> {
  const chosen = [
    ...(random(3) === 0 ? chooseWords(random, COMMON_HEADERS, 5) : []),
    ...(random(2) === 0 ? chooseWords(random, headers, 6) : []),
  ];
  return Object.fromEntries(chosen.flatMap(([name, value]) => (isSendable(value) ? [[name, value]] : [])));
}

/** What a field may hold, so that a client sends it; other bytes are for `raw-requests.ts`. */
const isSendable = (value: string) => /^[\x20-\x7e]{1,6000}$/.test(value);

function makeBody(random: Random, type: string, schema: unknown, { form = {}, documents = [] }: Vocabulary): string {
  if (documents.length > 0 && random(2) === 0) {
    return hostileDocument(random, pick(random, documents));
  }
  if (type.includes("xml")) {
    return hostileXml(random);
  }
  if (type === MULTIPART_TYPE) {
    return hostileMultipart(random, form);
  }
  return type.includes("form-urlencoded") ? hostileForm(random, form) : hostileJson(random, schema);
}
