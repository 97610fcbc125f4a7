import { type XmlElement, parseLargeElements } from "@swath/xml";

import { MAX_FILTER_NODES } from "../query/expression.ts";
import { decodeXml } from "./decode.ts";

/** A document as text and as elements. */
export interface XmlDocument {
  readonly text: string;
  readonly root: XmlElement;
}

const MAX_SORT_ELEMENTS = 300;
const MAX_VERSIONS = 100;

/** Parts of more elements are refused before they are read whole. */
const LIMITS = {
  maxInside: new Map([
    ["Filter", MAX_FILTER_NODES],
    ["SortBy", MAX_SORT_ELEMENTS],
    ["AcceptVersions", MAX_VERSIONS],
  ]),
};

/** Parses a document in whatever encoding it says; other requests have their turn meanwhile. @throws {XmlError} */
export async function readXml(bytes: Buffer): Promise<XmlDocument> {
  const text = decodeXml(bytes);
  return { text, root: await parseLargeElements(text, LIMITS) };
}
