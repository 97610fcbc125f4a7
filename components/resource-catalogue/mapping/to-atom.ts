import { element, escapeXml } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { RecordSummary } from "./summary.ts";

/** Declarations of the prefixes that an entry has beside Dublin Core. */
export const ATOM_PREFIXES = `xmlns:georss="${NS.georss}" xmlns:gml="${NS.gml}" xmlns:media="${NS.media}"`;
export const ATOM_NAMESPACES = `xmlns="${NS.atom}" xmlns:dc="${NS.dc}" ${ATOM_PREFIXES}`;

export interface AtomOptions {
  /** Address of the record itself, and its id. */
  readonly self: string;
  /** The record in other forms. */
  readonly alternates: readonly { readonly href: string; readonly type: string; readonly title: string }[];
  readonly isRoot?: boolean;
}

/**
 * A record as an Atom entry (RFC 4287; OGC 10-032r8 §9.2, 13-026r8): title, updated ← updated, summary ← description, category ←
 * keywords, dc:date ← time, georss ← geometry and box, links enclosure and icon ← assets, via and related ← links.
 */
export function toAtomEntry(summary: RecordSummary, { self, alternates, isRoot = false }: AtomOptions): string {
  const { id, title, abstract, modified, published, created, subjects, time, rights, references, contacts } = summary;
  const authors =
    contacts.length === 0 ? "<author><name>Resource catalogue</name></author>" : contacts.map(toAuthor).join("");
  return [
    `<entry${isRoot ? ` ${ATOM_NAMESPACES}` : ""}>`,
    element("id", self),
    element("title", title),
    element("updated", modified),
    element("published", published ?? created),
    authors,
    abstract === undefined ? element("summary", title) : element("summary", abstract),
    element("dc:identifier", id),
    time === undefined
      ? ""
      : element("dc:date", time.start === time.end ? time.start : `${time.start ?? ""}/${time.end ?? ""}`),
    element("rights", rights),
    subjects.map((subject) => `<category term="${escapeXml(subject)}"/>`).join(""),
    toPlace(summary),
    `<link rel="self" type="application/atom+xml" href="${escapeXml(self)}"/>`,
    alternates
      .map(
        ({ href, type, title: label }) =>
          `<link rel="alternate" type="${escapeXml(type)}" title="${escapeXml(label)}" href="${escapeXml(href)}"/>`,
      )
      .join(""),
    references.map(toLink).join(""),
    "</entry>",
  ].join("");
}

function toAuthor({ name, organization, email }: RecordSummary["contacts"][number]): string {
  return `<author>${element("name", name ?? organization ?? "unknown")}${element("email", email)}</author>`;
}

const RELATIONS = new Set(["enclosure", "related", "via", "describedby", "license", "alternate"]);

function toLink({ href, rel, type, title, isThumbnail }: RecordSummary["references"][number]): string {
  const relation = isThumbnail ? "icon" : RELATIONS.has(rel) || /^https?:/.test(rel) ? rel : "related";
  const link = `<link rel="${escapeXml(relation)}"${attribute("type", type)}${attribute("title", title)} href="${escapeXml(href)}"/>`;
  return isThumbnail ? `${link}<media:thumbnail url="${escapeXml(href)}"/>` : link;
}

const attribute = (name: string, value: string | undefined): string =>
  value === undefined ? "" : ` ${name}="${escapeXml(value)}"`;

/** Latitude first. Outer rings only: GeoRSS GML has no other way for several parts than several elements. */
function toPlace({ geometry, bbox }: RecordSummary): string {
  const box = bbox === undefined ? "" : element("georss:box", `${bbox[1]} ${bbox[0]} ${bbox[3]} ${bbox[2]}`);
  const { type, coordinates } = (geometry ?? {}) as { type?: string; coordinates?: unknown };
  const polygons =
    type === "Polygon" ? [coordinates as Rings] : type === "MultiPolygon" ? (coordinates as readonly Rings[]) : [];
  const shapes =
    type === "Point"
      ? element("georss:point", toPair(coordinates as readonly number[]))
      : polygons
          .map(
            ([outer = []]) =>
              `<georss:where><gml:Polygon srsName="urn:ogc:def:crs:EPSG::4326"><gml:exterior><gml:LinearRing><gml:posList>${outer.map(toPair).join(" ")}</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></georss:where>`,
          )
          .join("");
  return box + shapes;
}

type Rings = readonly (readonly (readonly number[])[])[];

const toPair = ([lon = 0, lat = 0]: readonly number[]): string => `${lat} ${lon}`;
