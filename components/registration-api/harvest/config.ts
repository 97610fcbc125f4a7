import { parseDocument } from "yaml";

import { RegistrationError } from "../queue/errors.ts";

type Json = Readonly<Record<string, unknown>>;

export const RESOURCE_TYPES = ["OpenSearch", "STACAPI", "STACCatalog", "Records", "CSW", "OADS", "Bucket"] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** A harvester, in the form that configuration files have had since the known harvester. */
export interface HarvesterConfig {
  readonly name: string;
  readonly resource: {
    readonly url: string;
    readonly type: ResourceType;
    readonly headers: Readonly<Record<string, string>>;
    readonly query: {
      readonly bbox?: readonly number[];
      readonly collection?: string;
      readonly begin?: string;
      readonly end?: string;
      /** Further parameters of the search by their name in its address: `productType=GRD`. */
      readonly parameters?: Readonly<Record<string, string>>;
    };
    /** Property of the item ← property of what was found. */
    readonly propertyMapping: Readonly<Record<string, string>>;
    readonly pageSize: number;
  };
  /** CQL2 JSON, or the older `{"eq": […]}`. */
  readonly filter: Json;
  readonly postprocess: readonly string[];
  /** Collection that everything goes to, whatever items say. */
  readonly collection?: string;
  /** Property by which only what changed since the last run is asked for. */
  readonly incremental?: string;
  /** Records that are gone from the source are taken out after a whole run. */
  readonly deletions: boolean;
  /** Milliseconds between requests to the source. */
  readonly pauseMs: number;
  readonly schedule?: string;
}

const MAX_CONFIG_BYTES = 2 ** 20;
const DEFAULT_PAGE_SIZE = 500;
const MAX_PAGE_SIZE = 10_000;
const DEFAULT_WATCH_INTERVAL = "15m";
/** Names of types that mean the same, in lower case. */
const TYPE_NAMES: ReadonlyMap<string, ResourceType> = new Map(
  Object.entries<ResourceType>({
    opensearch: "OpenSearch",
    stacapi: "STACAPI",
    staccatalog: "STACCatalog",
    records: "Records",
    ogcapirecords: "Records",
    csw: "CSW",
    oads: "OADS",
    bucket: "Bucket",
    s3: "Bucket",
  }),
);

/** The harvesters of a configuration file: a list, or an object with `harvesters`, in YAML or JSON. @throws {RegistrationError} */
export function parseHarvesters(text: string): readonly HarvesterConfig[] {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES) {
    throw new RegistrationError(`The configuration has more than ${MAX_CONFIG_BYTES} bytes.`);
  }
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) {
    throw new RegistrationError(`The configuration is not valid YAML: ${error.message}`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const list = Array.isArray(value) ? value : ((value as { harvesters?: unknown } | null)?.harvesters ?? value);
  return (Array.isArray(list) ? list : [list]).map(readHarvester);
}

/** One harvester. @throws {RegistrationError} naming what is wrong */
export function readHarvester(value: unknown): HarvesterConfig {
  const config = requireObject(value, "A harvester");
  const name = config["name"];
  if (typeof name !== "string" || !/^[A-Za-z0-9][\w .-]{0,99}$/.test(name)) {
    throw new RegistrationError(
      'A harvester must have a name of letters, digits, spaces and the characters "_", "." and "-".',
    );
  }
  const where = `Harvester ${name}: `;
  // Files of the earliest form say endpoint, and provider where later ones have a postprocess.
  const resource = requireObject(config["resource"] ?? config["endpoint"], `${where}resource`);
  const type = TYPE_NAMES.get(String(resource["type"]).toLowerCase());
  if (type === undefined) {
    throw new RegistrationError(
      `${where}resource.type must be one of ${RESOURCE_TYPES.join(", ")}, not ${JSON.stringify(resource["type"])}.`,
    );
  }
  const provided = resource["url"] ?? resource["root_path"];
  if (typeof provided !== "string" || provided === "") {
    throw new RegistrationError(`${where}resource.url must be the address of what is harvested.`);
  }
  const url = type === "STACCatalog" ? toCatalogUrl(provided) : provided;
  const query = optionalObject(resource["query"], `${where}resource.query`);
  const time = optionalObject(query["time"], `${where}resource.query.time`);
  const format = optionalObject(resource["format_config"], `${where}resource.format_config`);
  const postprocess = config["postprocess"] ?? resource["provider"] ?? [];
  // A bucket is looked through from time to time although it tells of changes: what was told may have been lost.
  const schedule = config["schedule"] ?? config["interval"] ?? (type === "Bucket" ? DEFAULT_WATCH_INTERVAL : undefined);
  const bbox = readBbox(query["bbox"], where);
  return {
    name,
    resource: {
      url,
      type,
      headers: toTexts(resource["headers"]),
      query: {
        ...(bbox !== undefined && { bbox }),
        ...(typeof query["collection"] === "string" && { collection: query["collection"] }),
        ...(query["parameters"] !== undefined && { parameters: toTexts(query["parameters"]) }),
        ...(time["begin"] !== undefined && { begin: toInstant(time["begin"], `${where}time.begin`) }),
        ...(time["end"] !== undefined && { end: toInstant(time["end"], `${where}time.end`) }),
      },
      propertyMapping: toTexts(format["property_mapping"]),
      pageSize: Math.min(Number(resource["page_size"] ?? DEFAULT_PAGE_SIZE) || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
    },
    filter: optionalObject(config["filter"] ?? resource["filter"], `${where}filter`),
    postprocess: (Array.isArray(postprocess) ? postprocess : [postprocess]).map((entry: unknown) =>
      String(typeof entry === "string" ? entry : (entry as { type?: unknown } | null)?.type),
    ),
    ...(typeof config["collection"] === "string" && { collection: config["collection"] }),
    ...(typeof config["incremental"] === "string" && { incremental: config["incremental"] }),
    deletions: config["deletions"] === true,
    pauseMs: Math.max(0, Number(config["pause_ms"] ?? 0) || 0),
    ...(typeof schedule === "string" && schedule !== "once" && { schedule }),
  };
}

/** A catalogue's document; a path without a scheme is one of a bucket, as files with a storage beside it name them. */
function toCatalogUrl(path: string): string {
  const url = /^[a-z][a-z0-9+.-]*:/i.test(path) ? path : `s3://${path.replace(/^\/+/, "")}`;
  return /\.json$/i.test(url) ? url : `${url.replace(/\/+$/, "")}/catalog.json`;
}

function requireObject(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RegistrationError(`${what} must be an object.`);
  }
  return value as Json;
}

const optionalObject = (value: unknown, what: string): Json =>
  value === undefined || value === null ? {} : requireObject(value, what);

const toTexts = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(optionalObject(value, "A mapping")).map(([key, text]) => [key, String(text)]));

/** YAML makes dates of what looks like one. */
function toInstant(value: unknown, what: string): string {
  const instant = new Date(value instanceof Date ? value : String(value));
  if (Number.isNaN(instant.getTime())) {
    throw new RegistrationError(`${what} must be a date and time such as 2022-06-01T00:00:00Z.`);
  }
  return instant.toISOString();
}

function readBbox(value: unknown, where: string): readonly number[] | undefined {
  if (value === undefined || value === null || value === "") {
    return undefined;
  }
  const numbers = (Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : []).map(Number);
  if (numbers.length !== 4 || !numbers.every(Number.isFinite)) {
    throw new RegistrationError(`${where}resource.query.bbox must be west,south,east,north.`);
  }
  return numbers;
}
