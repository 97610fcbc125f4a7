import type { XmlElement } from "../xml/element.ts";
import { NS } from "../xml/namespaces.ts";
import { dcToRecord } from "./from-dc.ts";
import { isoToRecord } from "./from-iso.ts";
import type { NewRecord } from "./record.ts";
import { RecordError } from "./xml-record.ts";

const DC_ROOTS = new Set(["Record", "SummaryRecord", "BriefRecord", "dc", "RDF"]);

/**
 * The record of an XML document: ISO 19139 or Dublin Core.
 * @param source the document as it came
 * @throws {RecordError} for other documents, and naming what is missing
 */
export function xmlToRecord(root: XmlElement, source: Buffer): NewRecord {
  if (
    (root.namespace === NS.gmd && root.name === "MD_Metadata") ||
    (root.namespace === NS.gmi && root.name === "MI_Metadata")
  ) {
    return isoToRecord(root, source);
  }
  const isCsw = root.namespace === NS.csw2 || root.namespace === NS.csw3;
  if (DC_ROOTS.has(root.name) && (isCsw || root.children.some(({ namespace }) => namespace === NS.dc))) {
    return dcToRecord(root, source);
  }
  throw new RecordError(
    `is {${root.namespace}}${root.name}; taken are gmd:MD_Metadata, gmi:MI_Metadata and csw:Record`,
  );
}
