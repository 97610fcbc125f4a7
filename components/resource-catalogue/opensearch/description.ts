import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { MAX_COUNT } from "./search.ts";
import { PARAMETERS, type SearchParameter } from "./parameters.ts";

export const DESCRIPTION_TYPE = "application/opensearchdescription+xml; charset=utf-8";

export interface Description {
  /** Address of the search itself. */
  readonly search: string;
  readonly self: string;
  readonly title: string;
  readonly description: string;
  /** Set for the description of one collection, which is no parameter then. */
  readonly collection?: string;
}

/** An OpenSearch description document (OpenSearch 1.1 draft 6; OGC 10-032r8 §8; parameters by the Parameter extension). */
export function renderDescription({ search, self, title, description, collection }: Description): string {
  const parameters = PARAMETERS.filter(({ name }) => collection === undefined || name !== "parentIdentifier");
  const template = (format: string): string =>
    `${search}?${[...parameters.map(({ name, token }) => `${name}={${token}?}`), `f=${format}`].join("&")}`;
  const described = parameters.map(toParameter).join("");
  const url = (type: string, format: string): string =>
    `<Url type="${type}" rel="results" indexOffset="1" pageOffset="1" template="${escapeXml(template(format))}">${described}</Url>`;
  return `<OpenSearchDescription xmlns="${NS.opensearch}" xmlns:geo="${NS.opensearchGeo}" xmlns:time="${NS.opensearchTime}" xmlns:eo="${NS.opensearchEo}" xmlns:parameters="http://a9.com/-/spec/opensearch/extensions/parameters/1.0/">${element("ShortName", title.slice(0, 16))}${element("LongName", title.slice(0, 48))}${element("Description", description.slice(0, 1024))}<Tags>CEOS-OS-BP-V1.2/L1 catalogue</Tags><Url type="application/opensearchdescription+xml" rel="self" template="${escapeXml(self)}"/>${url("application/atom+xml", "atom")}${url("application/geo+json", "json")}<Query role="example" searchTerms="" count="10" startIndex="1"/><Developer>Swath</Developer><Attribution>Swath</Attribution><SyndicationRight>open</SyndicationRight><Language>en</Language><OutputEncoding>UTF-8</OutputEncoding><InputEncoding>UTF-8</InputEncoding></OpenSearchDescription>`;
}

function toParameter({ name, token, description, options, pattern }: SearchParameter): string {
  const limits = name === "count" ? ` minInclusive="0" maxInclusive="${MAX_COUNT}"` : "";
  const listed = (options ?? []).map((option) => `<parameters:Option value="${option}" label="${option}"/>`).join("");
  return `<parameters:Parameter name="${name}" value="{${token}}" title="${escapeXml(description)}"${pattern === undefined ? "" : ` pattern="${escapeXml(pattern)}"`}${limits}>${listed}</parameters:Parameter>`;
}
