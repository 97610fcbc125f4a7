import { RegistrationError } from "../queue/errors.ts";
import type { Registrar, TaskContext } from "../queue/run-task.ts";
import type { ReadOptions } from "../sources/source-types.ts";
import { readJson } from "./read-tolerantly.ts";
import { type AddressRequest, type Tools, readAddressRequest } from "./registrar-context.ts";

type Json = Readonly<Record<string, unknown>>;
interface Link {
  readonly rel?: unknown;
  readonly href?: unknown;
}

/** Pages and processes of one service. */
const MAX_PAGES = 100;
const MAX_PROCESSES = 10_000;

/** Registers a service with OGC API Processes and each of its processes. */
export function createServiceRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const requested = readAddressRequest(context, tools);
    const { url, type, parent, origin } = requested;
    const landing = (await read(tools, context, requested, url)) as Json;
    const id = toIdentifier(url);
    const keywords = type === "ades" ? ["ADES", "OGC API Processes"] : ["OGC API Processes"];
    const write = async (record: ReturnType<typeof createRecord>): Promise<void> => {
      const outcome = await tools.writer.writeRecord(origin, record);
      context.count({ [outcome]: 1 });
      context.noteRecord(record.id);
    };
    await write(
      createRecord({ id, type: "service", document: landing, url, keywords, ...(parent !== undefined && { parent }) }),
    );
    for (const process of await listProcesses(tools, context, requested)) {
      const name = String(process["id"]);
      await context.save();
      await write(
        createRecord({
          id: `${id}-${name}`,
          type: "service",
          document: process,
          url: `${url.replace(/\/+$/, "")}/processes/${encodeURIComponent(name)}`,
          keywords: ["process", ...keywords],
          parent: id,
        }),
      );
    }
  };
}

/** Registers another catalogue as a service: it is asked what it is. */
export function createCatalogueRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const requested = readAddressRequest(context, tools);
    const { url, parent, origin } = requested;
    const { kind, document } = await probe(tools, context, requested);
    const record = createRecord({
      id: toIdentifier(url),
      type: "service",
      document,
      url,
      keywords: ["catalogue", kind],
      ...(parent !== undefined && { parent }),
    });
    const outcome = await tools.writer.writeRecord(origin, record);
    context.count({ [outcome]: 1 });
    context.noteRecord(record.id);
  };
}

/** In the order in which catalogues are told apart: OGC API Records, STAC API, static STAC, CSW, OpenSearch. */
async function probe(
  tools: Tools,
  context: TaskContext,
  { url, rights }: AddressRequest,
): Promise<{ readonly kind: string; readonly document: Json }> {
  const options = { rights, signal: context.signal };
  // A CSW may refuse a request without parameters.
  const landing = await tools.sources
    .read(url, { ...options, accept: "application/json, application/xml;q=0.5" })
    .catch((error: unknown) => {
      if (error instanceof RegistrationError && error.isRefusal) {
        return { error };
      }
      throw error;
    });
  const text = "error" in landing ? "" : landing.bytes.toString("utf8").trimStart();
  if (text.startsWith("{")) {
    const document = parseObject(text, url);
    const classes = await readConformance(tools, options, document, url);
    const kind = /ogcapi-records/.test(classes)
      ? "OGC API Records"
      : /stacspec\.org/.test(classes)
        ? "STAC API"
        : document["stac_version"] !== undefined
          ? "STAC"
          : undefined;
    if (kind !== undefined) {
      return { kind, document };
    }
  }
  const titleOf = (xml: string): string | undefined =>
    /<(?:\w+:)?(?:Title|ShortName)[^>]*>([^<]{1,500})</.exec(xml)?.[1]?.trim();
  if (/OpenSearchDescription/.test(text.slice(0, 2000))) {
    return { kind: "OpenSearch", document: { title: titleOf(text) } };
  }
  const capabilities = new URL(url);
  capabilities.searchParams.set("service", "CSW");
  capabilities.searchParams.set("request", "GetCapabilities");
  const csw = /<(?:\w+:)?Capabilities/.test(text)
    ? text
    : await tools.sources.read(capabilities.href, options).then(
        (response) => response.bytes.toString("utf8"),
        () => "",
      );
  if (/<(?:\w+:)?Capabilities[\s>]/.test(csw) && /CSW|\/cat\/csw/.test(csw)) {
    return { kind: "CSW", document: { title: titleOf(csw) } };
  }
  if ("error" in landing) {
    throw landing.error;
  }
  throw new RegistrationError(
    `${url} is no catalogue that is known: OGC API Records, STAC API, STAC, CSW or OpenSearch.`,
  );
}

/** What an API conforms to, in one text: of its landing page, or of the page that it links (OGC 19-072, clause 8.5). */
async function readConformance(
  { sources }: Tools,
  options: Pick<ReadOptions, "rights" | "signal">,
  { conformsTo, links }: Json,
  url: string,
): Promise<string> {
  if (Array.isArray(conformsTo)) {
    return conformsTo.join(" ");
  }
  const link = (Array.isArray(links) ? (links as readonly Link[]) : []).find(
    ({ rel }) => typeof rel === "string" && /(?:^|\/)conformance$/.test(rel),
  );
  if (typeof link?.href !== "string" || !URL.canParse(link.href, url)) {
    return "";
  }
  const { value } = await readJson(sources, new URL(link.href, url).href, { ...options, accept: "application/json" });
  const listed = (value as Json | null)?.["conformsTo"];
  return Array.isArray(listed) ? listed.join(" ") : "";
}

async function listProcesses(tools: Tools, context: TaskContext, requested: AddressRequest): Promise<readonly Json[]> {
  const processes: Json[] = [];
  let next: string | undefined = `${requested.url.replace(/\/+$/, "")}/processes`;
  const seen = new Set<string>();
  while (next !== undefined && seen.size < MAX_PAGES && !seen.has(next)) {
    seen.add(next);
    const page = (await read(tools, context, requested, next)) as { processes?: unknown; links?: readonly Link[] };
    if (!Array.isArray(page.processes)) {
      throw new RegistrationError(`${next} has no list "processes"; it is no service with OGC API Processes.`);
    }
    processes.push(...(page.processes as Json[]).filter(({ id }) => typeof id === "string" && id !== ""));
    const link = Array.isArray(page.links) ? page.links.find(({ rel }) => rel === "next") : undefined;
    next = typeof link?.href === "string" ? new URL(link.href, next).href : undefined;
    if (processes.length > MAX_PROCESSES) {
      throw new RegistrationError(`${requested.url} has more than ${MAX_PROCESSES} processes.`);
    }
  }
  return processes;
}

async function read(tools: Tools, context: TaskContext, { rights }: AddressRequest, url: string): Promise<unknown> {
  const { value } = await readJson(tools.sources, url, { rights, signal: context.signal, accept: "application/json" });
  if (typeof value !== "object" || value === null) {
    throw new RegistrationError(`${url} is no JSON object.`);
  }
  return value;
}

function parseObject(text: string, url: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new RegistrationError(`${url} is not valid JSON: ${(cause as Error).message}.`, { cause });
  }
}

interface RecordParts {
  readonly id: string;
  readonly type: string;
  readonly document: Json;
  readonly url: string;
  readonly keywords: readonly string[];
  readonly parent?: string;
}

function createRecord({ id, type, document, url, keywords, parent }: RecordParts) {
  const { title, description, keywords: own, version } = document;
  const words = Array.isArray(own) ? own.filter((word): word is string => typeof word === "string") : [];
  return {
    type: "Feature",
    id,
    geometry: null,
    properties: {
      type,
      title: typeof title === "string" && title !== "" ? title : id,
      ...(typeof description === "string" && { description }),
      ...(typeof version === "string" && { version }),
      keywords: [...new Set([...keywords, ...words])],
      ...(parent !== undefined && { parent_identifier: parent }),
    },
    links: [{ rel: "service", href: url, type: "application/json" }],
  };
}

/** What existing clients expect: the address with everything but letters and digits as hyphens. */
const toIdentifier = (url: string): string => url.replace(/[^a-z0-9]/gi, "-");
