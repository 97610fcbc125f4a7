import { XMLParser } from "fast-xml-parser";

import { RegistrationError } from "../queue/errors.ts";
import type { ReadOptions, Sources } from "../sources/source-types.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  isArray: (name) => name === "Url",
});

interface Description {
  readonly OpenSearchDescription?: {
    readonly Url?: readonly { readonly type?: string; readonly template?: string }[];
  };
}

/** The template of searches that give GeoJSON, of an OpenSearch description. @throws {RegistrationError} */
export async function readTemplate(sources: Sources, url: string, options: ReadOptions): Promise<string> {
  const { bytes, href } = await sources.read(url, {
    ...options,
    accept: "application/opensearchdescription+xml, application/xml",
  });
  const text = bytes.toString("utf8");
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) {
    throw new RegistrationError(`${url} has a DOCTYPE, which descriptions do not have.`);
  }
  const { OpenSearchDescription: description } = parser.parse(text) as Description;
  const urls = description?.Url ?? [];
  const found = urls.find(({ type }) => /json/i.test(type ?? ""));
  if (found?.template === undefined) {
    throw new RegistrationError(
      `${url} describes no search that gives GeoJSON; its types: ${urls.map(({ type }) => type).join(", ") || "none"}.`,
    );
  }
  return new URL(found.template.replaceAll("{", "%7B").replaceAll("}", "%7D"), href).href
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
