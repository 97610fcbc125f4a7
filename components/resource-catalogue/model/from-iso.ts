import { type XmlElement, childOf, childrenOf, descendantsOf, findPath, textOf } from "../xml/element.ts";
import { parseGml } from "../xml/gml.ts";
import { XmlError } from "../xml/xml-error.ts";
import type { NewRecord } from "./record.ts";
import { RecordError, boxToGeometry, cleanDate, toXmlRecord } from "./xml-record.ts";

/** Types of the catalogue for scopes of ISO 19115. */
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ series: "collection", software: "application" }),
);

/**
 * The record of gmd:MD_Metadata or gmi:MI_Metadata (ISO 19115, 19115-2, 19139).
 * @param source the document as it came
 * @throws {RecordError} naming what is missing
 */
export function isoToRecord(root: XmlElement, source: Buffer): NewRecord {
  const info = childOf(root, "identificationInfo")?.children[0];
  const citation = findPath(info, "citation", "CI_Citation");
  const id = stringOf(childOf(root, "fileIdentifier")) ?? stringOf(descendantsOf(citation, "code")[0]);
  if (id === undefined) {
    throw new RecordError("must have gmd:fileIdentifier");
  }
  const title = stringOf(childOf(citation, "title"));
  if (title === undefined) {
    throw new RecordError("must have a title in gmd:identificationInfo//gmd:citation");
  }
  const scope =
    codeOf(findPath(root, "hierarchyLevel", "MD_ScopeCode")) ??
    (info?.name === "SV_ServiceIdentification" ? "service" : "dataset");
  const description = stringOf(childOf(info, "abstract"));
  const keywords = descendantsOf(info, "keyword").flatMap((word) => stringOf(word) ?? []);
  const topics = childrenOf(info, "topicCategory").flatMap((topic) => textOf(topic.children[0]) ?? []);
  const contacts = [...childrenOf(root, "contact"), ...childrenOf(info, "pointOfContact")].flatMap((contact) =>
    toContact(contact.children[0]),
  );
  const parent = stringOf(childOf(root, "parentIdentifier"));
  const language = codeOf(findPath(root, "language", "LanguageCode")) ?? stringOf(childOf(root, "language"));
  const place = toPlace(info);
  const properties = {
    title,
    ...provided("description", description),
    ...(keywords.length + topics.length > 0 && { keywords: [...new Set([...keywords, ...topics])] }),
    ...provided("language", language),
    ...toDates(root, citation),
    ...(contacts.length > 0 && { contacts }),
    ...provided("rights", toRights(info)),
    ...toFormats(root),
    ...provided("relation", parent),
    ...provided(
      "serviceType",
      stringOf(childOf(info, "serviceType")) ?? textOf(findPath(info, "serviceType", "LocalName")),
    ),
    ...provided("lineage", stringOf(descendantsOf(childOf(root, "dataQualityInfo"), "statement")[0])),
    ...toAcquisition(root),
  };
  const time = toTime(info);
  return toXmlRecord({
    id,
    type: TYPES.get(scope) ?? scope,
    ...place,
    ...(time && { time }),
    properties,
    links: toLinks(root, info),
    texts: [
      title,
      description ?? "",
      scope,
      ...keywords,
      ...topics,
      parent ?? "",
      ...contacts.flatMap(({ name, organization }) => [name ?? "", organization ?? ""]),
    ],
    format: "iso",
    source,
  });
}

const provided = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined ? {} : { [name]: value };

/** Free text: CharacterString, Anchor, or the code of a list. */
function stringOf(element: XmlElement | undefined): string | undefined {
  return (
    textOf(childOf(element, "CharacterString") ?? childOf(element, "Anchor") ?? childOf(element, "LocalName")) ??
    textOf(element)
  );
}

const codeOf = (element: XmlElement | undefined): string | undefined =>
  element?.attributes.get("codeListValue") ?? textOf(element);

function toDates(root: XmlElement, citation: XmlElement | undefined): Readonly<Record<string, unknown>> {
  const stamp = cleanDate(dateOf(childOf(root, "dateStamp")));
  const dates = new Map(
    childrenOf(citation, "date").flatMap((entry) => {
      const date = childOf(entry, "CI_Date");
      const value = cleanDate(dateOf(childOf(date, "date")));
      const kind = codeOf(findPath(date, "dateType", "CI_DateTypeCode"));
      return value === undefined || kind === undefined ? [] : [[kind, value] as const];
    }),
  );
  return {
    ...provided("updated", stamp ?? dates.get("revision")),
    ...provided("created", dates.get("creation")),
    ...provided("published", dates.get("publication")),
    ...provided("revised", dates.get("revision")),
  };
}

const dateOf = (element: XmlElement | undefined): string | undefined =>
  textOf(childOf(element, "DateTime") ?? childOf(element, "Date")) ?? textOf(element);

interface IsoContact {
  readonly name?: string;
  readonly organization?: string;
  readonly emails?: readonly { readonly value: string }[];
  readonly roles: readonly string[];
}

function toContact(party: XmlElement | undefined): IsoContact[] {
  const name = stringOf(childOf(party, "individualName"));
  const organization = stringOf(childOf(party, "organisationName"));
  const email = stringOf(descendantsOf(party, "electronicMailAddress")[0]);
  return name === undefined && organization === undefined
    ? []
    : [
        {
          ...(name !== undefined && { name }),
          ...(organization !== undefined && { organization }),
          ...(email !== undefined && { emails: [{ value: email }] }),
          roles: [codeOf(findPath(party, "role", "CI_RoleCode")) ?? "pointOfContact"],
        },
      ];
}

function toRights(info: XmlElement | undefined): string | undefined {
  const texts = childrenOf(info, "resourceConstraints").flatMap((constraints) =>
    [...descendantsOf(constraints, "useLimitation"), ...descendantsOf(constraints, "otherConstraints")].flatMap(
      (entry) => stringOf(entry) ?? [],
    ),
  );
  return texts.length === 0 ? undefined : texts.join("; ");
}

function toFormats(root: XmlElement): Readonly<Record<string, unknown>> {
  const names = descendantsOf(childOf(root, "distributionInfo"), "MD_Format").flatMap(
    (format) => stringOf(childOf(format, "name")) ?? [],
  );
  return names.length === 0 ? {} : { formats: names.map((name) => ({ name })), format: names };
}

function toAcquisition(root: XmlElement): Readonly<Record<string, unknown>> {
  const cloud = Number(textOf(findPath(descendantsOf(root, "cloudCoverPercentage")[0], "Real")) ?? Number.NaN);
  const acquisition = childOf(root, "acquisitionInformation");
  const platform = stringOf(descendantsOf(descendantsOf(acquisition, "MI_Platform")[0], "code")[0]);
  const instruments = descendantsOf(acquisition, "MI_Instrument").flatMap(
    (instrument) => stringOf(descendantsOf(instrument, "code")[0]) ?? [],
  );
  return {
    ...(Number.isFinite(cloud) && { "eo:cloud_cover": cloud }),
    ...provided("platform", platform),
    ...(instruments.length > 0 && { instruments }),
  };
}

/** The bounding polygon where there is one, else the box. One that is none is left out: much metadata has boxes that are not. */
function toPlace(info: XmlElement | undefined): { readonly geometry: unknown; readonly bbox?: readonly number[] } {
  const boxes = descendantsOf(info, "EX_GeographicBoundingBox").map((bbox) =>
    (["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"] as const).map((side) =>
      Number(stringOf(childOf(childOf(bbox, side), "Decimal")) ?? Number.NaN),
    ),
  );
  const bbox = boxes.find(
    ([west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN]) =>
      Math.abs(west) <= 180 &&
      Math.abs(east) <= 180 &&
      Math.abs(south) <= 90 &&
      Math.abs(north) <= 90 &&
      south <= north,
  );
  const polygon = descendantsOf(info, "EX_BoundingPolygon").flatMap(
    (entry) => childOf(entry, "polygon")?.children ?? [],
  )[0];
  if (polygon !== undefined) {
    try {
      const place = parseGml(polygon);
      if ("geometry" in place) {
        return { geometry: place.geometry, ...(bbox && { bbox: bbox }) };
      }
    } catch (error) {
      if (!(error instanceof XmlError)) {
        throw error;
      }
    }
  }
  return bbox === undefined
    ? { geometry: null }
    : { geometry: boxToGeometry(bbox as [number, number, number, number]), bbox: bbox };
}

function toTime(info: XmlElement | undefined): { start: string | undefined; end: string | undefined } | undefined {
  const extent = descendantsOf(info, "EX_TemporalExtent")[0];
  const period = descendantsOf(extent, "TimePeriod")[0];
  const instant = cleanDate(textOf(descendantsOf(descendantsOf(extent, "TimeInstant")[0], "timePosition")[0]));
  if (instant !== undefined) {
    return { start: instant, end: instant };
  }
  const at = (names: readonly string[], isEnd: boolean): string | undefined =>
    names
      .map((name) =>
        cleanDate(
          textOf(descendantsOf(period, name)[0]) ??
            textOf(descendantsOf(descendantsOf(period, name)[0], "timePosition")[0]),
          isEnd,
        ),
      )
      .find((value) => value !== undefined);
  const start = at(["beginPosition", "begin"], false);
  const end = at(["endPosition", "end"], true);
  return start === undefined && end === undefined ? undefined : { start, end };
}

function toLinks(root: XmlElement, info: XmlElement | undefined): Readonly<Record<string, unknown>>[] {
  const online = [
    ...descendantsOf(childOf(root, "distributionInfo"), "CI_OnlineResource"),
    ...descendantsOf(info, "connectPoint").flatMap((point) => point.children),
  ];
  const links = online.flatMap((resource) => {
    const href = textOf(findPath(resource, "linkage", "URL"));
    const use = codeOf(findPath(resource, "function", "CI_OnLineFunctionCode"));
    return href === undefined
      ? []
      : [
          {
            rel: use === "download" ? "enclosure" : "related",
            href,
            ...provided("title", stringOf(childOf(resource, "name"))),
            ...provided("description", stringOf(childOf(resource, "description"))),
            ...provided("protocol", stringOf(childOf(resource, "protocol"))),
          },
        ];
  });
  const previews = descendantsOf(info, "MD_BrowseGraphic").flatMap((graphic) => {
    const href = stringOf(childOf(graphic, "fileName"));
    return href === undefined
      ? []
      : [{ rel: "preview", href, ...provided("title", stringOf(childOf(graphic, "fileDescription"))) }];
  });
  return [...links, ...previews];
}
