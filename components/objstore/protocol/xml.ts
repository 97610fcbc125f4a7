import { XMLParser, XMLValidator } from "fast-xml-parser";

import { S3Error } from "../errors.ts";

/** An element's content: text, child elements, or several elements of one name. Undefined ones are left out. */
export type XmlValue = string | number | boolean | undefined | XmlElement | readonly (string | XmlElement | RawXml)[];
export interface XmlElement {
  readonly [name: string]: XmlValue;
}

/** The content of an element that is XML already. */
class RawXml {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function rawXml(text: string): RawXml {
  return new RawXml(text);
}

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

/** An S3 answer document; `null` for those without a namespace: some clients find nothing in an Error that has one. */
export function renderXml(root: string, content: XmlElement, namespace: string | null = NAMESPACE): string {
  const attribute = namespace === null ? "" : ` xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attribute}>${renderChildren(content)}</${root}>`;
}

function renderChildren(element: XmlElement): string {
  let text = "";
  for (const name in element) {
    const value = element[name];
    if (Array.isArray(value)) {
      for (const item of value as readonly (string | XmlElement | RawXml)[]) {
        const content =
          typeof item === "string" ? escapeXml(item) : item instanceof RawXml ? item.text : renderChildren(item);
        text += `<${name}>${content}</${name}>`;
      }
    } else if (value !== undefined) {
      text += `<${name}>${typeof value === "object" ? renderChildren(value as XmlElement) : escapeXml(String(value))}</${name}>`;
    }
  }
  return text;
}

/** Control characters become references, as AWS writes them: XML 1.0 has no other way to show such keys. */
export function escapeXml(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[&<>"\u0000-\u001f\u007f\ufffe\uffff]/.test(text)
    ? // oxlint-disable-next-line no-control-regex -- as above
      text.replace(/[&<>"\u0000-\u001f\u007f\ufffe\uffff]/g, (character) => {
        const named = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[character];
        return named ?? `&#x${character.charCodeAt(0).toString(16)};`;
      })
    : text;
}

/** A parsed element: repeated names are arrays, text is text, an empty element is "". */
export type XmlNode = string | { readonly [name: string]: XmlNode | readonly XmlNode[] };

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  // Ours to resolve: the parser counts entities against a limit that a list of 10,000 quoted ETags would pass.
  processEntities: false,
  tagValueProcessor: (_, value) => resolveEntities(value),
});

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The five entities of XML and character references. */
function resolveEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) {
        return NAMED[name] ?? whole;
      }
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    },
  );
}

/**
 * Parses a request document and gives the content of its root element.
 * @throws {S3Error} MalformedXML for anything that is not well formed, has a document type, or another root
 */
export function parseXml(text: string, root: string): XmlNode {
  // A document type is never needed here and is the door to entity bombs.
  if (/<!DOCTYPE|<!ENTITY/i.test(text) || XMLValidator.validate(text) !== true) {
    throw new S3Error("MalformedXML");
  }
  let document: Record<string, XmlNode>;
  try {
    document = parser.parse(text) as Record<string, XmlNode>;
  } catch (error) {
    throw new S3Error("MalformedXML", undefined, { cause: error });
  }
  const content = document[root];
  if (content === undefined || Array.isArray(content)) {
    throw new S3Error("MalformedXML", `The root element must be ${root}.`);
  }
  return content;
}

/** Child elements of a name, none when absent. */
export function childrenOf(node: XmlNode | undefined, name: string): readonly XmlNode[] {
  const value = typeof node === "object" ? node[name] : undefined;
  return value === undefined ? [] : Array.isArray(value) ? (value as readonly XmlNode[]) : [value as XmlNode];
}

export function childOf(node: XmlNode | undefined, name: string): XmlNode | undefined {
  const [first, second] = childrenOf(node, name);
  if (second !== undefined) {
    throw new S3Error("MalformedXML", `There must be one ${name}, not several.`);
  }
  return first;
}

/** Text of a child element; undefined when there is none. */
export function textOf(node: XmlNode | undefined, name: string): string | undefined {
  const child = childOf(node, name);
  if (child !== undefined && typeof child !== "string") {
    throw new S3Error("MalformedXML", `${name} must hold text.`);
  }
  return child;
}
