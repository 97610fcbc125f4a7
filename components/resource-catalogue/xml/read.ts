import { type XmlElement, parseLargeElements } from "@swath/xml";

import { decodeXml } from "./decode.ts";

/** A document as text and as elements. */
export interface XmlDocument {
  readonly text: string;
  readonly root: XmlElement;
}

/** Parses a document in whatever encoding it says; other requests have their turn meanwhile. @throws {XmlError} */
export async function readXml(bytes: Buffer): Promise<XmlDocument> {
  const text = decodeXml(bytes);
  return { text, root: await parseLargeElements(text) };
}
