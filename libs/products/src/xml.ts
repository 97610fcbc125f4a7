import { XMLParser } from "fast-xml-parser";

import { ProductError } from "./errors.ts";

/** An element: texts and attributes by name, without prefixes; attributes begin with `@`. */
export interface XmlNode {
  readonly [name: string]: XmlNode | string | readonly (XmlNode | string)[] | undefined;
}

const MAX_XML_BYTES = 32 * 2 ** 20;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

/** @throws {ProductError} for what is no XML, has a DOCTYPE, or is too large */
export function parseXml(bytes: Buffer, path: string): XmlNode {
  if (bytes.length > MAX_XML_BYTES) {
    throw new ProductError(`${path} has more than ${MAX_XML_BYTES} bytes.`);
  }
  const text = bytes.toString("utf8");
  // Entities of its own can grow without bounds.
  if (/<!DOCTYPE/i.test(text.slice(0, 65_536)) || /<!ENTITY/i.test(text)) {
    throw new ProductError(`${path} has a DOCTYPE, which products do not have.`);
  }
  try {
    return parser.parse(text, true) as XmlNode;
  } catch (cause) {
    throw new ProductError(`${path} is not valid XML: ${(cause as Error).message}.`, { cause });
  }
}

/** Every element of a name, wherever it is, in the document's order. */
export function findAll(node: XmlNode | string | undefined, name: string): (XmlNode | string)[] {
  if (node === undefined || typeof node === "string") {
    return [];
  }
  return Object.entries(node).flatMap(([key, value]) => {
    const values = (Array.isArray(value) ? value : [value]) as readonly (XmlNode | string | undefined)[];
    return values.flatMap((each) => [
      ...(key === name && each !== undefined ? [each] : []),
      ...(key.startsWith("@") ? [] : findAll(each, name)),
    ]);
  });
}

/** The text of the first element of a name. */
export function findText(node: XmlNode | string | undefined, name: string): string | undefined {
  const [first] = findAll(node, name);
  return first === undefined ? undefined : textOf(first);
}

export function textOf(node: XmlNode | string): string | undefined {
  const text = typeof node === "string" ? node : node["#text"];
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined;
}

/** @throws {ProductError} naming the file and the element that is missing */
export function requireText(node: XmlNode, name: string, path: string): string {
  const text = findText(node, name);
  if (text === undefined) {
    throw new ProductError(`${path} has no ${name}; the product is not whole.`);
  }
  return text;
}

export function findNumber(node: XmlNode | string | undefined, name: string): number | undefined {
  const text = findText(node, name);
  const value = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}
