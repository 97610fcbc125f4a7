import type { XmlElement } from "./element.ts";
import { escapeXml } from "./escape.ts";
import { XmlError } from "./xml-error.ts";

/** An element of a document as a document of its own: its own characters, and what it needs of the prefixes declared around it. */
export function cutElement(text: string, element: XmlElement): string {
  const end = findEnd(text, element.start);
  const own = text.slice(element.start, end);
  const nameEnd = /^<[^\s/>]+/.exec(own)?.[0].length ?? 1;
  const head = own.slice(0, findTagEnd(own, 0));
  const missing = [...element.scope].filter(([prefix]) => {
    const attribute = prefix === "" ? "xmlns" : `xmlns:${prefix}`;
    const isDeclared = new RegExp(`\\s${attribute}\\s*=`).test(head);
    return prefix !== "xml" && !isDeclared && (prefix === "" || own.includes(`${prefix}:`));
  });
  const declarations = missing.map(
    ([prefix, uri]) => ` ${prefix === "" ? "xmlns" : `xmlns:${prefix}`}="${escapeXml(uri)}"`,
  );
  return own.slice(0, nameEnd) + declarations.join("") + own.slice(nameEnd);
}

/** The index after the element that begins at `start`, in a well-formed document. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    at = text.indexOf("<", at);
    if (at === -1) {
      break;
    }
    if (text.startsWith("<!--", at)) {
      at = text.indexOf("-->", at + 4) + 3;
    } else if (text.startsWith("<![CDATA[", at)) {
      at = text.indexOf("]]>", at + 9) + 3;
    } else if (text.startsWith("<?", at)) {
      at = text.indexOf("?>", at + 2) + 2;
    } else {
      const end = findTagEnd(text, at);
      const isClosing = text[at + 1] === "/";
      depth += isClosing ? -1 : text[end - 1] === "/" ? 0 : 1;
      if (depth === 0) {
        return end + 1;
      }
      at = end + 1;
    }
  }
  throw new XmlError("is not well formed");
}

/** Where the `>` of the tag at `start` stands; those inside of quotes do not count. */
function findTagEnd(text: string, start: number): number {
  let quote: string | undefined;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] as string;
    if (quote !== undefined) {
      quote = character === quote ? undefined : quote;
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === ">") {
      return at;
    }
  }
  throw new XmlError("is not well formed");
}
