import { setTimeout as sleep } from "node:timers/promises";

import { RegistrationError } from "../queue/errors.ts";
import { readWithPatience } from "../registrars/read-tolerantly.ts";
import type { HarvesterConfig } from "./config.ts";
import type { HarvestedPage, PageOptions } from "./pages.ts";

/** Schemas of records, the one that says most first, with the names of their types and of their times in a query. */
const SCHEMAS = [
  {
    schema: "http://www.isotc211.org/2005/gmd",
    typeNames: "gmd:MD_Metadata",
    element: "MD_Metadata",
    from: "apiso:TempExtent_end",
    to: "apiso:TempExtent_begin",
  },
  {
    schema: "http://www.opengis.net/cat/csw/2.0.2",
    typeNames: "csw:Record",
    element: "Record",
    from: "dc:date",
    to: "dc:date",
  },
] as const;
const MAX_PAGE_SIZE = 500;

/** The records of a catalogue service (CSW 2.0.2 GetRecords by GET): ISO 19139 where it has that, else Dublin Core. */
export async function* readCsw(
  { resource, pauseMs, incremental }: HarvesterConfig,
  { sources, read, position, since }: PageOptions,
): AsyncGenerator<HarvestedPage> {
  const pageSize = Math.min(resource.pageSize, MAX_PAGE_SIZE);
  let { start = 1, schema: at = 0 } = (position ?? {}) as { readonly start?: number; readonly schema?: number };
  let refusal = "";
  for (;;) {
    const form = SCHEMAS[at];
    if (form === undefined) {
      throw new RegistrationError(
        `${resource.url} gives records neither in ISO 19139 nor in Dublin Core; it says: ${refusal}`,
      );
    }
    const constraint = toConstraint(resource.query, form, incremental, since);
    const { bytes } = await readWithPatience(
      sources,
      toUrl(resource.url, form, { start, count: pageSize, constraint }),
      {
        ...read,
        accept: "application/xml",
        headers: resource.headers,
      },
    );
    const text = bytes.toString("utf8");
    if (/<(?:\w+:)?ExceptionReport/.test(text)) {
      if (start === 1) {
        at += 1;
        refusal = toPlainText(text);
        continue;
      }
      throw new RegistrationError(`${resource.url} refuses a page of its records: ${toPlainText(text)}`);
    }
    const results = /<(?:\w+:)?SearchResults\b[^>]*>/.exec(text)?.[0];
    if (results === undefined) {
      throw new RegistrationError(`${resource.url} answers GetRecords with something else; it is no CSW 2.0.2.`);
    }
    const records = splitRecords(text, form.element);
    const next = Number(/\bnextRecord="(\d+)"/.exec(results)?.[1] ?? 0);
    const isLast = next <= start || records.length === 0;
    yield {
      items: [],
      problems: [],
      xml: records,
      ...(!isLast && { next: { start: next, schema: at } }),
    };
    if (isLast) {
      return;
    }
    start = next;
    if (pauseMs > 0) {
      await sleep(pauseMs, undefined, { signal: read.signal });
    }
  }
}

/** What is asked for, as CQL text; empty: everything. */
function toConstraint(
  { bbox, begin, end }: HarvesterConfig["resource"]["query"],
  { from, to }: (typeof SCHEMAS)[number],
  incremental: string | undefined,
  since: string | undefined,
): string {
  return [
    ...(bbox === undefined ? [] : [`BBOX(ows:BoundingBox, ${bbox.join(", ")})`]),
    ...(begin === undefined ? [] : [`${from} >= '${begin}'`]),
    ...(end === undefined ? [] : [`${to} <= '${end}'`]),
    ...(incremental === undefined || since === undefined
      ? []
      : [`${incremental.replaceAll(/[^\w:.-]/g, "")} >= '${since}'`]),
  ].join(" AND ");
}

function toUrl(
  url: string,
  { schema, typeNames }: (typeof SCHEMAS)[number],
  { start, count, constraint }: { readonly start: number; readonly count: number; readonly constraint: string },
): string {
  const address = new URL(url);
  const parameters = {
    service: "CSW",
    version: "2.0.2",
    request: "GetRecords",
    resultType: "results",
    elementSetName: "full",
    outputSchema: schema,
    typeNames,
    startPosition: String(start),
    maxRecords: String(count),
    ...(constraint !== "" && {
      constraintLanguage: "CQL_TEXT",
      constraint_language_version: "1.1.0",
      constraint,
    }),
  };
  for (const [name, value] of Object.entries(parameters)) {
    address.searchParams.set(name, value);
  }
  return address.href;
}

/** Each record as a document of its own, with the namespaces that it uses. Records do not nest. */
function splitRecords(text: string, element: string): readonly string[] {
  const start = new RegExp(`<((?:[\\w.-]+:)?${element})(?=[\\s>])`).exec(text);
  const name = start?.[1];
  if (start === null || name === undefined) {
    return [];
  }
  const outer = namespacesOf(text.slice(0, start.index));
  const record = new RegExp(`<${name}(?=[\\s>])[^>]*>.*?</${name}>`, "gs");
  return [...text.matchAll(record)].map(([found]) => {
    const head = /^<[^>]*>/s.exec(found)?.[0] ?? "";
    const own = new Set(namespacesOf(head).map(([prefix]) => prefix));
    const missing = outer.filter(([prefix]) => !own.has(prefix)).map(([prefix, uri]) => ` ${prefix}=${uri}`);
    return `<${name}${missing.join("")}${found.slice(name.length + 1)}`;
  });
}

/** Declarations in a text, the last of each name. */
function namespacesOf(text: string): readonly (readonly [string, string])[] {
  return [
    ...new Map(
      [...text.matchAll(/\s(xmlns(?::[\w.-]+)?)\s*=\s*("[^"]*"|'[^']*')/g)].map(
        ([, name = "", uri = ""]) => [name, uri] as const,
      ),
    ),
  ];
}

const toPlainText = (xml: string): string =>
  xml
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 300);
