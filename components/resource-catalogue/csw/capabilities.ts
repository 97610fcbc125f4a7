import { mayWriteSomewhere } from "../access/reader.ts";
import { baseOf } from "../http/context.ts";
import { childOf, childrenOf } from "../xml/element.ts";
import { element, elements, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { type CswCall, type CswResponse, cswUrl } from "./context.ts";
import type { CswInput } from "./input.ts";
import { OwsError } from "./ows-error.ts";
import { renderFilterCapabilities } from "./filter-capabilities.ts";
import { ADDITIONAL_QUERYABLES, ISO_QUERYABLES, SUPPORTED_QUERYABLES } from "./queryables.ts";
import { type CswVersion, DIALECTS, OPERATIONS, TYPE_NAMES, schemasOf } from "./versions.ts";

const SECTIONS = ["ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Filter_Capabilities"] as const;
type Section = (typeof SECTIONS)[number];

/** GetCapabilities (OGC 07-006r1 §10.5, OGC 12-176r7 §7.1). They change with the rights of the caller alone, and so does their sequence. */
export async function getCapabilities({ context, request, input }: CswCall): Promise<CswResponse> {
  const { version, parameters } = input;
  // Operations that would refuse the caller are not offered.
  const isWriter = mayWriteSomewhere(await context.readerOf(request));
  const sequence = isWriter ? "1" : "1-reader";
  const known = parameters.get("updatesequence");
  if (known === sequence && version === "3.0.0") {
    throw new OwsError(
      "InvalidUpdateSequence",
      "updatesequence",
      "The capabilities are those of this update sequence.",
    );
  }
  const wanted = readSections(input);
  const isWanted = (section: Section): boolean =>
    wanted === undefined || section === "Filter_Capabilities" || wanted.has(section) || wanted.has("All");
  const { csw, ows, schema } = DIALECTS[version];
  const renderers: Readonly<Record<Section, () => string>> = {
    ServiceIdentification: () => renderIdentification(version),
    ServiceProvider: () => renderProvider(baseOf(request)),
    OperationsMetadata: () => renderOperations(version, cswUrl(request), isWriter),
    Filter_Capabilities: () => renderFilterCapabilities(version),
  };
  const sections = SECTIONS.filter(isWanted).map((section) => renderers[section]());
  const filter =
    version === "2.0.2"
      ? `xmlns:ogc="${NS.ogc}" xmlns:gml="${NS.gml}"`
      : `xmlns:fes="${NS.fes2}" xmlns:gml="${NS.gml32}"`;
  return {
    body: `<csw:Capabilities xmlns:csw="${csw}" xmlns:ows="${ows}" ${filter} xmlns:xlink="${NS.xlink}" xmlns:xsi="${NS.xsi}" version="${version}" updateSequence="${sequence}" xsi:schemaLocation="${csw} ${schema}">${sections.join("")}</csw:Capabilities>`,
  };
}

/** The sections that a request names; none by an empty list, all (`undefined`) without one (OGC 05-008 §7.3.3). The schemas require Filter_Capabilities. */
function readSections({ document, parameters }: CswInput): ReadonlySet<string> | undefined {
  const listed = childOf(document?.request, "Sections");
  const names = listed ? childrenOf(listed, "Section").map(({ text }) => text) : parameters.get("sections")?.split(",");
  return names && new Set(names.map((name) => name.trim()));
}

function renderIdentification(version: CswVersion): string {
  const versions = version === "2.0.2" ? ["2.0.2", "3.0.0"] : ["3.0.0", "2.0.2"];
  return `<ows:ServiceIdentification>${element("ows:Title", "Resource catalogue")}${element("ows:Abstract", "Scenes, results, applications and services of this platform.")}<ows:Keywords>${elements("ows:Keyword", ["catalogue", "discovery", "metadata", "Earth observation"])}</ows:Keywords><ows:ServiceType codeSpace="OGC">CSW</ows:ServiceType>${elements("ows:ServiceTypeVersion", versions)}<ows:Fees>None</ows:Fees><ows:AccessConstraints>None</ows:AccessConstraints></ows:ServiceIdentification>`;
}

function renderProvider(base: string): string {
  return `<ows:ServiceProvider>${element("ows:ProviderName", "Swath")}<ows:ProviderSite xlink:type="simple" xlink:href="${escapeXml(base)}"/><ows:ServiceContact><ows:ContactInfo><ows:OnlineResource xlink:type="simple" xlink:href="${escapeXml(base)}"/></ows:ContactInfo><ows:Role>pointOfContact</ows:Role></ows:ServiceContact></ows:ServiceProvider>`;
}

/** Operations, how they are called and which values their parameters take. Clients read the addresses from here. */
function renderOperations(version: CswVersion, url: string, isWriter: boolean): string {
  const schemas = schemasOf(version);
  const sets = ["brief", "summary", "full"];
  const formats = version === "2.0.2" ? ["application/xml"] : ["application/xml", "application/atom+xml"];
  const parameters: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
    GetCapabilities: { sections: SECTIONS },
    DescribeRecord: {
      schemaLanguage: ["http://www.w3.org/XML/Schema"],
      typeName: TYPE_NAMES,
      outputFormat: ["application/xml"],
    },
    GetDomain: {
      ParameterName: [
        "GetRecords.outputSchema",
        "GetRecords.outputFormat",
        "GetRecords.typeNames",
        "GetRecords.ElementSetName",
        "GetRecords.resultType",
        "GetRecords.CONSTRAINTLANGUAGE",
        "GetRecordById.outputSchema",
        "GetRecordById.ElementSetName",
      ],
    },
    GetRecords: {
      resultType: ["hits", "results", "validate"],
      typeNames: TYPE_NAMES,
      outputFormat: formats,
      outputSchema: schemas,
      ElementSetName: sets,
      CONSTRAINTLANGUAGE: ["CQL_TEXT", "FILTER"],
    },
    GetRecordById: { outputFormat: formats, outputSchema: schemas, ElementSetName: sets },
    Harvest: { ResourceType: [NS.csw2, NS.csw3, NS.gmd, NS.gmi] },
    Transaction: { TransactionSchemas: [NS.csw2, NS.csw3, NS.gmd, NS.gmi] },
  };
  const operations = OPERATIONS[version]
    .filter((name) => isWriter || !WRITING.has(name))
    .map((name) => {
      const isDocument = WRITING.has(name);
      const get = isDocument ? "" : `<ows:Get xlink:type="simple" xlink:href="${escapeXml(url)}"/>`;
      const post = ["XML", "SOAP"].map(
        (encoding) =>
          `<ows:Post xlink:type="simple" xlink:href="${escapeXml(url)}"><ows:Constraint name="PostEncoding">${values(version, [encoding])}</ows:Constraint></ows:Post>`,
      );
      const provided = Object.entries(parameters[name] ?? {}).map(
        ([parameter, allowed]) => `<ows:Parameter name="${parameter}">${values(version, allowed)}</ows:Parameter>`,
      );
      const constraints = name === "GetRecords" ? queryables(version) : "";
      return `<ows:Operation name="${name}"><ows:DCP><ows:HTTP>${get}${name === "GetRepositoryItem" ? "" : post.join("")}</ows:HTTP></ows:DCP>${provided.join("")}${constraints}</ows:Operation>`;
    });
  const common = `<ows:Parameter name="service">${values(version, ["CSW"])}</ows:Parameter><ows:Parameter name="version">${values(version, ["2.0.2", "3.0.0"])}</ows:Parameter>`;
  return `<ows:OperationsMetadata>${operations.join("")}${common}${version === "3.0.0" ? CONFORMANCE : `<ows:Constraint name="PostEncoding">${values(version, ["XML", "SOAP"])}</ows:Constraint>`}<ows:Constraint name="MaxRecordDefault">${values(version, ["10"])}</ows:Constraint></ows:OperationsMetadata>`;
}

const WRITING: ReadonlySet<string> = new Set(["Transaction", "Harvest"]);

const values = (version: CswVersion, allowed: readonly string[]): string =>
  version === "2.0.2"
    ? elements("ows:Value", allowed)
    : `<ows:AllowedValues>${elements("ows:Value", allowed)}</ows:AllowedValues>`;

const queryables = (version: CswVersion): string =>
  `<ows:Constraint name="${version === "2.0.2" ? "SupportedDublinCoreQueryables" : "CoreQueryables"}">${values(version, SUPPORTED_QUERYABLES)}</ows:Constraint><ows:Constraint name="SupportedISOQueryables">${values(version, ISO_QUERYABLES)}</ows:Constraint><ows:Constraint name="AdditionalQueryables">${values(version, ADDITIONAL_QUERYABLES)}</ows:Constraint>`;

/** Classes of CSW 3.0 (OGC 12-176r7 table 17). */
const CLASSES: Readonly<Record<string, boolean>> = {
  OpenSearch: true,
  "GetCapabilities-XML": true,
  "GetRecordById-XML": true,
  "GetRecords-Basic-XML": true,
  "GetRecords-Distributed-XML": false,
  "GetRecords-Distributed-KVP": false,
  "GetRecords-Async-XML": false,
  "GetRecords-Async-KVP": false,
  "GetDomain-XML": true,
  "GetDomain-KVP": true,
  Transaction: true,
  "Harvest-Basic-XML": true,
  "Harvest-Basic-KVP": false,
  "Harvest-Async-XML": false,
  "Harvest-Async-KVP": false,
  "Harvest-Periodic-XML": false,
  "Harvest-Periodic-KVP": false,
  "Filter-CQL": true,
  "Filter-FES-XML": true,
  "Filter-FES-KVP-Advanced": true,
  SupportedGMLVersions: true,
};
const CONFORMANCE = Object.entries(CLASSES)
  .map(([name, isMet]) =>
    name === "SupportedGMLVersions"
      ? `<ows:Constraint name="${name}"><ows:AllowedValues>${elements("ows:Value", [NS.gml, NS.gml32])}</ows:AllowedValues></ows:Constraint>`
      : `<ows:Constraint name="http://www.opengis.net/spec/csw/3.0/conf/${name}"><ows:NoValues/><ows:DefaultValue>${isMet ? "TRUE" : "FALSE"}</ows:DefaultValue></ows:Constraint>`,
  )
  .join("");
