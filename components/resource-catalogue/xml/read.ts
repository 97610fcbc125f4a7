import { type XmlElement, parseLargeElements } from "@swath/xml";

import { MAX_FILTER_NODES } from "../query/expression.ts";
import { decodeXml } from "./decode.ts";

/** A document as text and as elements. */
export interface XmlDocument {
  readonly text: string;
  readonly root: XmlElement;
}

/** Filters of more elements are refused before they are read whole. */
const LIMITS = { maxInside: new Map([["Filter", MAX_FILTER_NODES]]) };

/** Parses a document in whatever encoding it says; other requests have their turn meanwhile. @throws {XmlError} */
export async function readXml(bytes: Buffer): Promise<XmlDocument> {
  const text = decodeXml(bytes);
  return { text, root: await parseLargeElements(text, LIMITS) };
}
