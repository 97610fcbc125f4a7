import { XMLParser, XMLValidator } from "fast-xml-parser";

import type { XmlElement } from "./element.ts";
import { XmlError } from "./xml-error.ts";

/** Elements inside each other, and in all of a document. */
export const MAX_XML_DEPTH = 100;
export const MAX_XML_ELEMENTS = 200_000;

type Node = Readonly<Record<string, unknown>>;

const META = XMLParser.getMetaDataSymbol() as unknown as string;
const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  cdataPropName: "#cdata",
  captureMetaData: true,
  maxNestedTags: MAX_XML_DEPTH,
  // Ours to resolve: documents without a type have the five of XML and no others.
  processEntities: false,
});

/**
 * Parses a document; namespaces are resolved, and document types refused.
 * @throws {XmlError} saying what is wrong with it
 */
export function parseXml(text: string): XmlElement {
  // A document type is never needed here and is the door to entity bombs and to files of the machine.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) {
    throw new XmlError("must not have a document type (<!DOCTYPE …>)");
  }
  if (countElements(text) > MAX_XML_ELEMENTS) {
    throw new XmlError(`must not have more than ${MAX_XML_ELEMENTS} elements`);
  }
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) {
    const { msg, line } = verdict.err;
    throw new XmlError(`is not well formed at line ${line}: ${msg.slice(0, 200)}`);
  }
  let nodes: readonly Node[];
  try {
    nodes = parser.parse(text) as readonly Node[];
  } catch (error) {
    throw new XmlError((error as Error).message.slice(0, 200), { cause: error });
  }
  const [root, second] = nodes.filter((node) => nameOf(node) !== undefined);
  if (root === undefined || second !== undefined) {
    throw new XmlError("must have one root element");
  }
  return toElement(root, new Map([["xml", XML_NAMESPACE]]));
}

function countElements(text: string): number {
  let count = 0;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) {
    count += text.charCodeAt(at + 1) === 0x2f ? 0 : 1;
  }
  return count;
}

const nameOf = (node: Node): string | undefined =>
  Object.keys(node).find((key) => key !== ":@" && !key.startsWith("#") && !key.startsWith("?"));

function toElement(node: Node, outer: ReadonlyMap<string, string>): XmlElement {
  const qualified = nameOf(node) as string;
  const raw = (node[":@"] ?? {}) as Readonly<Record<string, string | boolean>>;
  let scope = outer;
  const attributes = new Map<string, string>();
  for (const [key, value] of Object.entries(raw)) {
    const name = key.slice(1);
    if (name === "xmlns" || name.startsWith("xmlns:")) {
      scope = scope === outer ? new Map(outer) : scope;
      (scope as Map<string, string>).set(name === "xmlns" ? "" : name.slice(6), resolveEntities(String(value)));
    }
  }
  for (const [key, value] of Object.entries(raw)) {
    const name = key.slice(1);
    const colon = name.indexOf(":");
    if (name !== "xmlns" && !name.startsWith("xmlns:") && (colon === -1 || !attributes.has(name.slice(colon + 1)))) {
      attributes.set(name.slice(colon + 1), resolveEntities(String(value)));
    }
  }
  const colon = qualified.indexOf(":");
  const prefix = colon === -1 ? "" : qualified.slice(0, colon);
  const namespace = scope.get(prefix);
  if (namespace === undefined && prefix !== "") {
    throw new XmlError(`does not declare the prefix of ${qualified.slice(0, 60)}`);
  }
  const children: XmlElement[] = [];
  let text = "";
  for (const child of node[qualified] as readonly Node[]) {
    if (typeof child["#text"] === "string") {
      text += resolveEntities(child["#text"]);
    } else if (child["#cdata"] !== undefined) {
      text += (child["#cdata"] as readonly Node[]).map((part) => String(part["#text"])).join("");
    } else if (nameOf(child) !== undefined) {
      children.push(toElement(child, scope));
    }
  }
  const { startIndex: start = 0 } = (node[META] ?? {}) as { startIndex?: number };
  return {
    namespace: namespace ?? "",
    name: qualified.slice(colon + 1),
    attributes,
    children,
    text,
    start,
    scope: outer,
  };
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The five entities of XML and character references. */
function resolveEntities(text: string): string {
  return text.includes("&")
    ? text.replace(
        /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));/g,
        (whole, hex?: string, decimal?: string, name?: string) => {
          if (name !== undefined) {
            const known = NAMED[name];
            if (known === undefined) {
              throw new XmlError(`uses the entity ${whole.slice(0, 40)}, which XML does not have`);
            }
            return known;
          }
          const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
          if (point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
            throw new XmlError(`has the character reference ${whole}, which is no character`);
          }
          return String.fromCodePoint(point);
        },
      )
    : text;
}
