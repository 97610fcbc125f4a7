import { type XmlElement, childOf, childrenOf, textOf } from "../xml/element.ts";
import { parseGml } from "../xml/gml.ts";
import { XmlError } from "../xml/xml-error.ts";
import { NS } from "../xml/namespaces.ts";
import type { NewRecord } from "./record.ts";
import { RecordError, boxToGeometry, cleanDate, toXmlRecord } from "./xml-record.ts";

/**
 * The record of csw:Record (or any element whose children are Dublin Core, such as oai_dc:dc): identifier, title, type and all other
 * terms as properties; the bounding box as geometry; references as links.
 * @param source the document as it came
 * @throws {RecordError} naming what is missing
 */
export function dcToRecord(root: XmlElement, source: Buffer): NewRecord {
  const all = (name: string): string[] =>
    root.children
      .filter(
        (child) =>
          child.name === name &&
          (child.namespace === NS.dc || child.namespace === NS.dct || child.namespace === root.namespace),
      )
      .flatMap((child) => textOf(child) ?? []);
  const [id] = all("identifier");
  if (id === undefined) {
    throw new RecordError("must have dc:identifier");
  }
  const [title = id] = all("title");
  const [type = "dataset"] = all("type");
  const subjects = all("subject");
  const [description] = [...all("abstract"), ...all("description")];
  const date = cleanDate(all("date")[0]);
  const time = toPeriod(all("temporal")[0]) ?? (date === undefined ? undefined : { start: date, end: date });
  const [language] = all("language");
  const several = [
    "creator",
    "publisher",
    "contributor",
    "format",
    "relation",
    "source",
    "coverage",
    "rights",
    "spatial",
  ].flatMap((name) => {
    const texts = all(name);
    return texts.length === 0 ? [] : [[name, texts.length === 1 ? texts[0] : texts] as const];
  });
  const properties = {
    title,
    ...(description !== undefined && { description }),
    ...(subjects.length > 0 && { keywords: subjects }),
    ...(language !== undefined && { language }),
    ...named("updated", cleanDate(all("modified")[0])),
    ...named("created", cleanDate(all("created")[0])),
    ...named("published", cleanDate(all("issued")[0])),
    ...named("date", date),
    ...Object.fromEntries(several),
  };
  return toXmlRecord({
    id,
    type,
    ...toPlace(root),
    ...(time && { time }),
    properties,
    links: [...childrenOf(root, "references"), ...childrenOf(root, "URI")].flatMap((reference) => toLink(reference)),
    texts: [title, description ?? "", type, ...subjects, ...several.flatMap(([, texts]) => texts ?? [])],
    format: "dc",
    source,
  });
}

const named = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === undefined ? {} : { [name]: value };

/** A period of Dublin Core: `start=2020-01-01; end=2020-12-31`. */
function toPeriod(text: string | undefined): { start: string | undefined; end: string | undefined } | undefined {
  const start = cleanDate(/\bstart=([^;]*)/.exec(text ?? "")?.[1]);
  const end = cleanDate(/\bend=([^;]*)/.exec(text ?? "")?.[1], true);
  return start === undefined && end === undefined ? undefined : { start, end };
}

function toLink(reference: XmlElement): Readonly<Record<string, unknown>>[] {
  const href = textOf(reference);
  const scheme = reference.attributes.get("scheme") ?? reference.attributes.get("protocol");
  return href === undefined
    ? []
    : [
        {
          rel: "related",
          href,
          ...(scheme !== undefined && (/^[\w.+-]+\/[\w.+-]+/.test(scheme) ? { type: scheme } : { protocol: scheme })),
        },
      ];
}

/** `ows:BoundingBox` and `ows:WGS84BoundingBox`. One that is none is refused: a record that says where it is must be found there. */
function toPlace(root: XmlElement): { readonly geometry: unknown; readonly bbox?: readonly number[] } {
  const wgs84 = childOf(root, "WGS84BoundingBox");
  const bbox = wgs84 ?? childOf(root, "BoundingBox");
  if (bbox === undefined) {
    return { geometry: null };
  }
  const crs = bbox.attributes.get("crs") ?? "";
  const corners = bbox.children.map((corner) => ({
    ...corner,
    name: corner.name === "LowerCorner" ? "lowerCorner" : "upperCorner",
  }));
  const srs = crs === "" ? "CRS:84" : crs;
  try {
    const place = parseGml({ ...bbox, name: "Envelope", attributes: new Map([["srsName", srs]]), children: corners });
    if (!("bbox" in place)) {
      return { geometry: null };
    }
    const [west, south, east, north] = place.bbox;
    if (Math.abs(west) > 180 || Math.abs(east) > 180 || Math.abs(south) > 90 || Math.abs(north) > 90 || south > north) {
      throw new XmlError("must have longitudes from -180 to 180 and latitudes from -90 to 90, the lower corner first");
    }
    return { geometry: boxToGeometry(place.bbox), bbox: place.bbox };
  } catch (error) {
    if (error instanceof XmlError) {
      throw new RecordError(`has an ows:BoundingBox that ${error.message}`, { cause: error });
    }
    throw error;
  }
}
