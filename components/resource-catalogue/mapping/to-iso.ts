import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { Contact, RecordSummary, Reference } from "./summary.ts";
import type { ElementSet } from "./to-dc.ts";

const NAMESPACES = `xmlns:gmd="${NS.gmd}" xmlns:gco="${NS.gco}" xmlns:gml="${NS.gml32}" xmlns:srv="${NS.srv}" xmlns:gmx="${NS.gmx}" xmlns:xlink="${NS.xlink}" xmlns:xsi="${NS.xsi}"`;
const CODES = "http://www.isotc211.org/2005/resources/Codelist/gmxCodelists.xml";
const SCOPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    collection: "series",
    service: "service",
    application: "software",
    process: "service",
    series: "series",
  }),
);
/** Roles of STAC providers and OGC contacts, in the words of CI_RoleCode. */
const ROLES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    producer: "originator",
    licensor: "owner",
    processor: "processor",
    host: "distributor",
    author: "author",
    creator: "author",
    contributor: "author",
    publisher: "publisher",
  }),
);
const ISO_ROLES = new Set([
  "resourceProvider",
  "custodian",
  "owner",
  "user",
  "distributor",
  "originator",
  "pointOfContact",
  "principalInvestigator",
  "processor",
  "publisher",
  "author",
]);

/**
 * A record as gmd:MD_Metadata (ISO 19139): fileIdentifier ← id, parentIdentifier ← collection, hierarchyLevel ← type, dateStamp ←
 * updated, citation ← title and dates, abstract ← description, descriptiveKeywords ← keywords, extent ← box and time, contentInfo ←
 * eo:cloud_cover, acquisition as keywords, distributionInfo ← links and assets.
 */
export function toIsoRecord(summary: RecordSummary, set: ElementSet): string {
  const { id, collection, kind, modified, language = "eng", contacts } = summary;
  const isService = summary.type === "service" || summary.type === "process";
  const scope = SCOPES.get(summary.type) ?? "dataset";
  const parts = [
    text("gmd:fileIdentifier", id),
    ...(set === "brief"
      ? []
      : [wrap("gmd:language", code("gmd:LanguageCode", "http://www.loc.gov/standards/iso639-2/", toAlpha3(language)))]),
    ...(set === "full" ? [wrap("gmd:characterSet", code("gmd:MD_CharacterSetCode", CODES, "utf8"))] : []),
    ...(kind === "i" ? [text("gmd:parentIdentifier", collection)] : []),
    wrap("gmd:hierarchyLevel", code("gmd:MD_ScopeCode", CODES, scope)),
    ...(contacts.length === 0
      ? [toParty("gmd:contact", { organization: "Resource catalogue", roles: ["pointOfContact"] })]
      : contacts.slice(0, 1).map((contact) => toParty("gmd:contact", contact))),
    wrap("gmd:dateStamp", toDate(modified)),
    ...(set === "brief"
      ? []
      : [text("gmd:metadataStandardName", "ISO 19115:2003/19139"), text("gmd:metadataStandardVersion", "1.0")]),
    wrap("gmd:identificationInfo", isService ? toService(summary, set) : toData(summary, set)),
    ...(set === "full" && summary.cloudCover !== undefined ? [toContent(summary.cloudCover)] : []),
    ...(set === "brief" ? [] : [toDistribution(summary)]),
  ];
  return `<gmd:MD_Metadata ${NAMESPACES}>${parts.join("")}</gmd:MD_Metadata>`;
}

const wrap = (name: string, content: string): string => (content === "" ? "" : `<${name}>${content}</${name}>`);
const text = (name: string, value: string | undefined): string => wrap(name, element("gco:CharacterString", value));
const code = (name: string, list: string, value: string): string =>
  `<${name} codeList="${list}${list.endsWith(".xml") ? `#${name.slice(4)}` : ""}" codeListValue="${escapeXml(value)}">${escapeXml(value)}</${name}>`;

function toDate(value: string): string {
  return value.length === 10 ? element("gco:Date", value) : element("gco:DateTime", value);
}

function toData(summary: RecordSummary, set: ElementSet): string {
  return wrap(
    "gmd:MD_DataIdentification",
    [
      toIdentification(summary, set),
      text("gmd:language", toAlpha3(summary.language ?? "eng")),
      wrap("gmd:topicCategory", element("gmd:MD_TopicCategoryCode", "imageryBaseMapsEarthCover")),
      wrap("gmd:extent", toExtent(summary)),
    ].join(""),
  );
}

function toService(summary: RecordSummary, set: ElementSet): string {
  const { references } = summary;
  const operations = references.map(
    (reference) =>
      `<srv:containsOperations><srv:SV_OperationMetadata>${text("srv:operationName", reference.title ?? reference.rel)}<srv:DCP>${code("srv:DCPList", CODES, "WebServices")}</srv:DCP><srv:connectPoint>${toOnline(reference)}</srv:connectPoint></srv:SV_OperationMetadata></srv:containsOperations>`,
  );
  return wrap(
    "srv:SV_ServiceIdentification",
    [
      toIdentification(summary, set),
      `<srv:serviceType><gco:LocalName>${summary.type === "process" ? "processing" : "other"}</gco:LocalName></srv:serviceType>`,
      wrap("srv:extent", toExtent(summary)),
      wrap("srv:couplingType", code("srv:SV_CouplingType", CODES, "loose")),
      ...(operations.length > 0 ? operations : [`<srv:containsOperations gco:nilReason="missing"/>`]),
    ].join(""),
  );
}

/** What data and services have in common, in the order of the schema. */
function toIdentification(summary: RecordSummary, set: ElementSet): string {
  const {
    id,
    title,
    abstract,
    created,
    revised,
    published,
    subjects,
    platform,
    instruments,
    rights,
    contacts,
    references,
  } = summary;
  const dates = (
    [
      ["creation", created],
      ["revision", revised],
      ["publication", published],
    ] as const
  ).flatMap(([kind, value]) =>
    value === undefined
      ? []
      : [
          `<gmd:date><gmd:CI_Date><gmd:date>${toDate(value)}</gmd:date><gmd:dateType>${code("gmd:CI_DateTypeCode", CODES, kind)}</gmd:dateType></gmd:CI_Date></gmd:date>`,
        ],
  );
  // The schema requires a date, which nobody may invent (ISO 19136 §22.3.3).
  const dated = dates.length === 0 ? '<gmd:date gco:nilReason="unknown"/>' : dates.join("");
  const identifier = `<gmd:identifier><gmd:MD_Identifier>${text("gmd:code", id)}</gmd:MD_Identifier></gmd:identifier>`;
  const citation = `<gmd:citation><gmd:CI_Citation>${text("gmd:title", title)}${dated}${identifier}</gmd:CI_Citation></gmd:citation>`;
  if (set === "brief") {
    return citation + text("gmd:abstract", abstract ?? title);
  }
  const thumbnails = references.filter(({ isThumbnail }) => isThumbnail);
  return [
    citation,
    text("gmd:abstract", abstract ?? title),
    ...contacts.map((contact) => toParty("gmd:pointOfContact", contact)),
    ...thumbnails.map(
      ({ href, title: label }) =>
        `<gmd:graphicOverview><gmd:MD_BrowseGraphic>${text("gmd:fileName", href)}${text("gmd:fileDescription", label)}</gmd:MD_BrowseGraphic></gmd:graphicOverview>`,
    ),
    toKeywords(subjects, "theme"),
    toKeywords([...(platform === undefined ? [] : [platform]), ...instruments], "theme"),
    rights === undefined
      ? ""
      : `<gmd:resourceConstraints><gmd:MD_LegalConstraints><gmd:useConstraints>${code("gmd:MD_RestrictionCode", CODES, "otherRestrictions")}</gmd:useConstraints>${text("gmd:otherConstraints", rights)}</gmd:MD_LegalConstraints></gmd:resourceConstraints>`,
  ].join("");
}

function toKeywords(words: readonly string[], kind: string): string {
  return words.length === 0
    ? ""
    : `<gmd:descriptiveKeywords><gmd:MD_Keywords>${words.map((word) => text("gmd:keyword", word)).join("")}<gmd:type>${code("gmd:MD_KeywordTypeCode", CODES, kind)}</gmd:type></gmd:MD_Keywords></gmd:descriptiveKeywords>`;
}

function toParty(name: string, { name: person, organization, email, roles }: Contact): string {
  const [role = "pointOfContact"] = roles;
  const address =
    email === undefined
      ? ""
      : `<gmd:contactInfo><gmd:CI_Contact><gmd:address><gmd:CI_Address>${text("gmd:electronicMailAddress", email)}</gmd:CI_Address></gmd:address></gmd:CI_Contact></gmd:contactInfo>`;
  return `<${name}><gmd:CI_ResponsibleParty>${text("gmd:individualName", person)}${text("gmd:organisationName", organization)}${address}<gmd:role>${code("gmd:CI_RoleCode", CODES, ISO_ROLES.has(role) ? role : (ROLES.get(role) ?? "pointOfContact"))}</gmd:role></gmd:CI_ResponsibleParty></${name}>`;
}

function toExtent({ bbox, time }: RecordSummary): string {
  const box =
    bbox === undefined
      ? ""
      : `<gmd:geographicElement><gmd:EX_GeographicBoundingBox>${(
          [
            ["westBoundLongitude", bbox[0]],
            ["eastBoundLongitude", bbox[2]],
            ["southBoundLatitude", bbox[1]],
            ["northBoundLatitude", bbox[3]],
          ] as const
        )
          .map(([side, value]) => `<gmd:${side}><gco:Decimal>${value}</gco:Decimal></gmd:${side}>`)
          .join("")}</gmd:EX_GeographicBoundingBox></gmd:geographicElement>`;
  const position = (name: string, value: string | undefined): string =>
    value === undefined ? `<gml:${name} indeterminatePosition="unknown"/>` : element(`gml:${name}`, value);
  const period =
    time === undefined
      ? ""
      : `<gmd:temporalElement><gmd:EX_TemporalExtent><gmd:extent><gml:TimePeriod gml:id="time">${position("beginPosition", time.start)}${position("endPosition", time.end)}</gml:TimePeriod></gmd:extent></gmd:EX_TemporalExtent></gmd:temporalElement>`;
  return box + period === "" ? "" : `<gmd:EX_Extent>${box}${period}</gmd:EX_Extent>`;
}

function toContent(cloudCover: number): string {
  return `<gmd:contentInfo><gmd:MD_ImageDescription><gmd:attributeDescription><gco:RecordType>image</gco:RecordType></gmd:attributeDescription><gmd:contentType>${code("gmd:MD_CoverageContentTypeCode", CODES, "image")}</gmd:contentType><gmd:cloudCoverPercentage><gco:Real>${cloudCover}</gco:Real></gmd:cloudCoverPercentage></gmd:MD_ImageDescription></gmd:contentInfo>`;
}

function toDistribution({ formats, references }: RecordSummary): string {
  const named = formats.map(
    (format) =>
      `<gmd:distributionFormat><gmd:MD_Format>${text("gmd:name", format)}<gmd:version gco:nilReason="unknown"/></gmd:MD_Format></gmd:distributionFormat>`,
  );
  const online = references
    .filter(({ isThumbnail }) => !isThumbnail)
    .map((reference) => `<gmd:onLine>${toOnline(reference)}</gmd:onLine>`);
  const transfer =
    online.length === 0
      ? ""
      : `<gmd:transferOptions><gmd:MD_DigitalTransferOptions>${online.join("")}</gmd:MD_DigitalTransferOptions></gmd:transferOptions>`;
  return wrap("gmd:distributionInfo", wrap("gmd:MD_Distribution", named.join("") + transfer));
}

function toOnline({ href, type, title, description, rel, protocol }: Reference): string {
  const use = rel === "enclosure" ? "download" : "information";
  return `<gmd:CI_OnlineResource><gmd:linkage>${element("gmd:URL", href)}</gmd:linkage>${text("gmd:protocol", protocol ?? type ?? "WWW:LINK")}${text("gmd:name", title)}${text("gmd:description", description)}<gmd:function>${code("gmd:CI_OnLineFunctionCode", CODES, use)}</gmd:function></gmd:CI_OnlineResource>`;
}

const ALPHA_3: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    en: "eng",
    de: "ger",
    fr: "fre",
    es: "spa",
    it: "ita",
    pt: "por",
    nl: "dut",
    sl: "slv",
    el: "gre",
  }),
);

const toAlpha3 = (language: string): string =>
  language.length === 3 ? language : (ALPHA_3.get(language.slice(0, 2).toLowerCase()) ?? "eng");
