import { XmlError, parseLargeNamed } from "@swath/xml";

import { RegistrationError } from "../queue/errors.ts";
import type { ReadOptions, Sources } from "../sources/source-types.ts";

interface SearchAddress {
  readonly "@type"?: string;
  readonly "@template"?: string;
}

/** The template of searches that give GeoJSON, of an OpenSearch description. @throws {RegistrationError} */
export async function readTemplate(sources: Sources, url: string, options: ReadOptions): Promise<string> {
  const { bytes, href } = await sources.read(url, {
    ...options,
    accept: "application/opensearchdescription+xml, application/xml",
  });
  const { name, value } = await parseLargeNamed(bytes.toString("utf8")).catch((error: unknown) => {
    throw error instanceof XmlError ? new RegistrationError(`${url} ${error.message}.`, { cause: error }) : error;
  });
  const { Url: listed = [] } = value as { readonly Url?: SearchAddress | readonly SearchAddress[] };
  const urls = name === "OpenSearchDescription" ? [listed].flat() : [];
  const template = urls.find(({ "@type": type }) => /json/i.test(type ?? ""))?.["@template"];
  if (template === undefined) {
    const types = urls.map(({ "@type": type }) => type).join(", ") || "none";
    throw new RegistrationError(`${url} describes no search that gives GeoJSON; its types: ${types}.`);
  }
  return new URL(template.replaceAll("{", "%7B").replaceAll("}", "%7D"), href).href
    .replaceAll("%7B", "{")
    .replaceAll("%7D", "}");
}

interface SearchQuery {
  readonly begin?: string;
  readonly end?: string;
  readonly bbox?: readonly number[];
  readonly collection?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly pageSize: number;
  readonly since?: string;
}

/** The first search of a template: parameters that are known are filled in, optional ones that are not are left out. */
export function toSearchUrl(template: string, query: SearchQuery): string {
  const values: Readonly<Record<string, string | undefined>> = {
    "time:start": query.begin,
    "time:end": query.end,
    "geo:box": query.bbox?.join(","),
    count: String(query.pageSize),
    startIndex: "1",
    startPage: "1",
    "eo:parentIdentifier": query.collection,
    // From then on, as OGC 13-026r9 writes ranges; a date alone means that very moment.
    "eo:modificationDate": query.since === undefined ? undefined : `[${query.since}`,
    "dc:date": query.since,
  };
  // Parameters that may be left out have a ? of their own.
  const [, base = "", search = ""] = /^([^?]*)\??(.*)$/s.exec(template) ?? [];
  const kept = search.split("&").flatMap((pair) => {
    const [, name = "", parameter = "", optional = ""] = /^([^=]*)=\{([^}?]+)(\??)\}$/.exec(pair) ?? [];
    if (query.parameters?.[name] !== undefined) {
      return [];
    }
    if (parameter === "") {
      return pair === "" ? [] : [pair];
    }
    // One of the two ways to begin is enough.
    const value = parameter === "startIndex" && optional !== "" ? undefined : values[parameter];
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
  kept.push(
    ...Object.entries(query.parameters ?? {}).map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
    ),
  );
  return `${base}${kept.length === 0 ? "" : `?${kept.join("&")}`}`;
}
