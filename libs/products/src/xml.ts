import { XmlError, type XmlObject, parseLargeNamed } from "@swath/xml";

import { ProductError } from "./errors.ts";

/** An element: texts and attributes by name, without prefixes; attributes begin with `@`. */
export type XmlNode = XmlObject;

const MAX_XML_BYTES = 32 * 2 ** 20;

/** @throws {ProductError} for what is no XML, has a DOCTYPE, or is too large */
export async function parseXml(bytes: Buffer, path: string): Promise<XmlNode> {
  if (bytes.length > MAX_XML_BYTES) {
    throw new ProductError(`${path} has more than ${MAX_XML_BYTES} bytes.`);
  }
  try {
    const { name, value } = await parseLargeNamed(bytes.toString("utf8"), { maxElements: 1_000_000 });
    return { [name]: value };
  } catch (cause) {
    if (!(cause instanceof XmlError)) {
      throw cause;
    }
    throw new ProductError(`${path} is not valid XML: it ${cause.message}.`, { cause });
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
