import { element, elements, escapeXml } from "../xml/escape.ts";
import type { XmlElement } from "../xml/element.ts";
import { NS } from "../xml/namespaces.ts";
import type { RecordSummary } from "./summary.ts";

export type ElementSet = "brief" | "summary" | "full";

/** How a csw:Record is wanted. */
export interface DcOptions {
  readonly version: "2.0.2" | "3.0.0";
  readonly set: ElementSet;
  /** Local names of the elements wanted, in place of a set. */
  readonly only?: ReadonlySet<string>;
  /** Declares the namespaces on the record itself: it is the root of its document. */
  readonly isRoot?: boolean;
  /** Root of the document of Dublin Core that came: what it says is sent as it stands there, with schemes and reference systems. */
  readonly source?: XmlElement;
}

const NAMES = { brief: "BriefRecord", summary: "SummaryRecord", full: "Record" } as const;
const BRIEF = new Set(["identifier", "title", "type", "BoundingBox"]);
const SUMMARY = new Set([...BRIEF, "subject", "format", "relation", "modified", "abstract", "spatial"]);

/**
 * A record as csw:Record (OGC 07-006r1 §10.2.5, OGC 12-176r7 §6.6): identifier ← id, title ← title or id, type, subject ← keywords,
 * format ← formats or the types of assets, relation ← collection, modified ← updated, abstract ← description, date ← datetime,
 * creator/publisher/contributor ← providers and contacts by role, rights ← license, references ← links and assets.
 */
export function toDcRecord(summary: RecordSummary, { version, set, only, isRoot = false, source }: DcOptions): string {
  const requested = only ?? (set === "brief" ? BRIEF : set === "summary" ? SUMMARY : undefined);
  const wants = (name: string): boolean => requested === undefined || requested.has(name);
  const name = `csw:${only === undefined ? NAMES[set] : "Record"}`;
  const own = new Map<string, string>();
  for (const child of source?.children ?? []) {
    const key = keyOf(child);
    if (key !== undefined && wants(key)) {
      own.set(key, (own.get(key) ?? "") + renderChild(child));
    }
  }
  const parts = PARTS.filter(([part]) => wants(part)).map(([part, render]) => own.get(part) ?? render(summary));
  const others = [...own].flatMap(([key, text]) => (NAMED.has(key) ? [] : [text]));
  const bbox = wants("BoundingBox") ? (own.get("BoundingBox") ?? toBoundingBox(summary.bbox)) : "";
  return `<${name}${isRoot ? ` ${dcNamespaces(version)}` : ""}>${parts.join("")}${others.join("")}${bbox}</${name}>`;
}

/** The name that sets of elements have for an element of Dublin Core or OWS; `undefined` for others. */
function keyOf({ namespace, name, children }: XmlElement): string | undefined {
  if ((namespace === NS.dc || namespace === NS.dct) && children.length === 0) {
    return name;
  }
  return (namespace === NS.ows || namespace === NS.ows2) && (name === "BoundingBox" || name === "WGS84BoundingBox")
    ? "BoundingBox"
    : undefined;
}

function renderChild({ namespace, name, attributes, children, text }: XmlElement): string {
  const prefix = namespace === NS.dc ? "dc" : namespace === NS.dct ? "dct" : "ows";
  const kept = ["scheme", "crs", "dimensions"].flatMap((key) => {
    const value = attributes.get(key);
    return value === undefined ? [] : [` ${key}="${escapeXml(value)}"`];
  });
  return prefix === "ows"
    ? `<ows:${name}${kept.join("")}>${children.map((corner) => element(`ows:${corner.name}`, corner.text.trim())).join("")}</ows:${name}>`
    : element(`${prefix}:${name}`, text.trim(), kept.join(""));
}

/** Declarations of the prefixes that a csw:Record has. */
export const dcNamespaces = (version: "2.0.2" | "3.0.0"): string =>
  `xmlns:csw="${version === "2.0.2" ? NS.csw2 : NS.csw3}" xmlns:dc="${NS.dc}" xmlns:dct="${NS.dct}" xmlns:ows="${version === "2.0.2" ? NS.ows : NS.ows2}"`;

/** In the order that the schema of SummaryRecord has them. */
const PARTS: readonly (readonly [name: string, render: (summary: RecordSummary) => string])[] = [
  ["identifier", ({ id }) => element("dc:identifier", id)],
  ["title", ({ title }) => element("dc:title", title)],
  ["type", ({ type }) => element("dc:type", type)],
  ["subject", ({ subjects }) => elements("dc:subject", subjects)],
  ["format", ({ formats }) => elements("dc:format", formats)],
  ["relation", ({ relations }) => elements("dc:relation", relations)],
  ["modified", ({ modified }) => element("dct:modified", modified)],
  ["abstract", ({ abstract }) => element("dct:abstract", abstract)],
  ["date", ({ time, published }) => element("dc:date", time?.start ?? published)],
  ["temporal", ({ time }) => element("dct:temporal", time && `start=${time.start ?? ""};end=${time.end ?? ""}`)],
  ["created", ({ created }) => element("dct:created", created)],
  [
    "creator",
    (summary) =>
      elements("dc:creator", partiesOf(summary, ["author", "originator", "creator", "producer", "pointOfContact"])),
  ],
  [
    "publisher",
    (summary) => elements("dc:publisher", partiesOf(summary, ["publisher", "host", "distributor", "licensor"])),
  ],
  ["contributor", (summary) => elements("dc:contributor", partiesOf(summary, ["contributor", "processor"]))],
  ["language", ({ language }) => element("dc:language", language)],
  ["rights", ({ rights }) => element("dc:rights", rights)],
  ["source", ({ source }) => element("dc:source", source)],
  ["coverage", ({ coverage }) => element("dc:coverage", coverage)],
  [
    "references",
    ({ references }) =>
      references
        .map(({ href, rel, type, protocol }) =>
          element("dct:references", href, ` scheme="${escapeXml(protocol ?? type ?? rel)}"`),
        )
        .join(""),
  ],
];

const NAMED: ReadonlySet<string> = new Set([...PARTS.map(([name]) => name), "BoundingBox"]);

function partiesOf({ contacts }: RecordSummary, roles: readonly string[]): string[] {
  return contacts
    .filter((contact) => contact.roles.some((role) => roles.includes(role)))
    .flatMap(({ organization, name }) => organization ?? name ?? []);
}

/** Latitude first, as EPSG:4326 has it. A box across the antimeridian has its lower longitude east of its upper one. */
function toBoundingBox(bbox: RecordSummary["bbox"]): string {
  if (bbox === undefined) {
    return "";
  }
  const [west, south, east, north] = bbox;
  return `<ows:BoundingBox crs="urn:ogc:def:crs:EPSG::4326" dimensions="2"><ows:LowerCorner>${south} ${west}</ows:LowerCorner><ows:UpperCorner>${north} ${east}</ows:UpperCorner></ows:BoundingBox>`;
}
