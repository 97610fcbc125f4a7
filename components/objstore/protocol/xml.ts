import { type NamedDocument, XmlError, type XmlValue as ParsedValue, parseLargeNamed, parseNamed } from "@swath/xml";

import { S3Error } from "../errors.ts";
import { Turn } from "../store/turns.ts";

/** A parsed element: repeated names are arrays, text is text, an empty element is "". Attributes are left out. */
export type XmlNode = ParsedValue;

/** An element's content: text, child elements, or several elements of one name. Undefined ones are left out. */
export type XmlValue = string | number | boolean | undefined | XmlElement | readonly (string | XmlElement | RawXml)[];
export interface XmlElement {
  readonly [name: string]: XmlValue;
}

/** The content of an element that is XML already. */
class RawXml {
  readonly text: string;
  /** Name of the element, where it is not that of the list. */
  readonly name: string | undefined;

  constructor(text: string, name: string | undefined) {
    this.text = text;
    this.name = name;
  }
}

export function rawXml(text: string, name?: string): RawXml {
  return new RawXml(text, name);
}

/** Elements of a long list, each written by `toText`: others have their turn meanwhile. `toName`: for lists of mixed elements. */
export async function renderAll<Entry>(
  entries: readonly Entry[],
  toText: (entry: Entry) => string,
  toName?: (entry: Entry) => string,
): Promise<readonly RawXml[]> {
  const turn = new Turn();
  const written: RawXml[] = [];
  for (const entry of entries) {
    written.push(rawXml(toText(entry), toName?.(entry)));
    if (written.length % RENDERED === 0) {
      await turn.next();
    }
  }
  return written;
}

/** Elements that are written before the clock is looked at. */
const RENDERED = 50;

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
        const tag = item instanceof RawXml ? (item.name ?? name) : name;
        text += `<${tag}>${content}</${tag}>`;
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

/** Keys may hold control characters, which come as references. Attributes (`xsi:type`) mean nothing here. */
const READING = { maxDepth: 32, ignoreAttributes: true, keepSpace: true, controlReferences: true } as const;

/**
 * Parses a small request document and gives the content of its root element.
 * @throws {S3Error} MalformedXML for anything that is not well formed, has a document type, or another root
 */
export function parseXml(text: string, root: string): XmlNode {
  try {
    return contentOf(parseNamed(escapeControls(text), READING), root);
  } catch (error) {
    throw toMalformed(error);
  }
}

/** The same for documents of megabytes: others have their turn meanwhile. */
export async function parseLargeXml(text: string, root: string): Promise<XmlNode> {
  try {
    return contentOf(await parseLargeNamed(escapeControls(text), READING), root);
  } catch (error) {
    throw toMalformed(error);
  }
}

/** SDKs write such characters of keys as they are, which XML 1.0 forbids; as references they are read. */
function escapeControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return text.replace(/[\u0001-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, (character) => {
    return `&#x${character.charCodeAt(0).toString(16)};`;
  });
}

function contentOf({ name, value }: NamedDocument, root: string): XmlNode {
  if (name !== root) {
    throw new S3Error("MalformedXML", `The root element must be ${root}.`);
  }
  return value;
}

function toMalformed(error: unknown): unknown {
  return error instanceof XmlError ? new S3Error("MalformedXML", `The document ${error.message}.`) : error;
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
