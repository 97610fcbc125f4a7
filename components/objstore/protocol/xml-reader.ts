import { S3Error } from "../errors.ts";

/** A parsed element: repeated names are arrays, text is text, an empty element is "". */
export type XmlNode = string | { readonly [name: string]: XmlNode | readonly XmlNode[] };

const MAXIMUM_DEPTH = 32;
const NAME = /[^\s/>="'<]+/y;
/** Characters of `&#1234567;`. */
const MAX_REFERENCE = 10;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

interface Open {
  readonly name: string;
  /** Undefined until the first child. */
  children: Record<string, XmlNode | XmlNode[]> | undefined;
  text: string;
}

/**
 * Reads a document piece by piece, so that whoever calls can let others have their turn between two pieces. Understands what requests
 * consist of: elements, text, references, CDATA, comments. A document type is never needed here and is the door to entity bombs.
 */
export class XmlReader {
  readonly #text: string;
  readonly #stack: Open[] = [];
  #at = 0;
  #root: { readonly name: string; readonly content: XmlNode } | undefined;

  constructor(text: string) {
    this.#text = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  /** Reads about `characters` more; true when all is read. @throws {S3Error} MalformedXML */
  read(characters: number): boolean {
    const text = this.#text;
    const until = this.#at + characters;
    while (this.#at < text.length) {
      if (this.#at >= until) {
        return false;
      }
      const tag = text.indexOf("<", this.#at);
      const end = this.#endOfText(tag < 0 ? text.length : tag, until);
      if (end > this.#at) {
        this.#addText(text.slice(this.#at, end), true);
        this.#at = end;
      }
      if (end === tag) {
        this.#readMarkup();
      }
    }
    return true;
  }

  /** Where the text that is read now ends: not far behind `until`, and not within a reference. */
  #endOfText(end: number, until: number): number {
    if (end <= until) {
      return end;
    }
    const from = Math.max(this.#at, until - MAX_REFERENCE);
    const reference = this.#text.slice(from, until).lastIndexOf("&");
    const after =
      reference < 0 ? 0 : this.#text.slice(from, from + reference + MAX_REFERENCE).indexOf(";", reference) + 1;
    return Math.min(end, Math.max(until, from + after));
  }

  /** The content of the root element, once all is read. @throws {S3Error} MalformedXML */
  finish(root: string): XmlNode {
    if (this.#stack.length > 0 || this.#root === undefined) {
      throw malformed();
    }
    if (this.#root.name !== root) {
      throw new S3Error("MalformedXML", `The root element must be ${root}.`);
    }
    return this.#root.content;
  }

  #readMarkup(): void {
    const text = this.#text;
    const at = this.#at;
    if (text.startsWith("<?", at)) {
      this.#at = this.#behind("?>", at + 2);
    } else if (text.startsWith("<!--", at)) {
      this.#at = this.#behind("-->", at + 4);
    } else if (text.startsWith("<![CDATA[", at)) {
      const end = this.#behind("]]>", at + 9);
      this.#addText(text.slice(at + 9, end - 3), false);
      this.#at = end;
    } else if (text.startsWith("</", at)) {
      const end = this.#behind(">", at + 2);
      this.#close(text.slice(at + 2, end - 1).trim());
      this.#at = end;
    } else {
      this.#open(at + 1);
    }
  }

  #open(from: number): void {
    NAME.lastIndex = from;
    const name = NAME.exec(this.#text)?.[0];
    if (name === undefined || name.startsWith("!") || this.#root !== undefined) {
      throw malformed();
    }
    const isEmpty = this.#skipAttributes(from + name.length);
    if (this.#stack.push({ name, children: undefined, text: "" }) > MAXIMUM_DEPTH) {
      throw malformed();
    }
    if (isEmpty) {
      this.#close(name);
    }
  }

  /** Whether the tag ends its element as well. Attributes mean nothing here, but may hold `>`. */
  #skipAttributes(from: number): boolean {
    const text = this.#text;
    for (let at = from; at < text.length; at += 1) {
      const character = text[at];
      if (character === '"' || character === "'") {
        at = this.#behind(character, at + 1) - 1;
      } else if (character === "<") {
        break;
      } else if (character === ">") {
        this.#at = at + 1;
        return text[at - 1] === "/";
      }
    }
    throw malformed();
  }

  #close(name: string): void {
    const element = this.#stack.pop();
    if (element?.name !== name) {
      throw malformed();
    }
    const content = element.children ?? element.text;
    const local = name.slice(name.indexOf(":") + 1);
    const parent = this.#stack.at(-1);
    if (parent === undefined) {
      this.#root = { name: local, content };
      return;
    }
    // Without a prototype: names of elements are anybody's.
    parent.children ??= Object.create(null) as Record<string, XmlNode | XmlNode[]>;
    const before = parent.children[local];
    if (before === undefined) {
      parent.children[local] = content;
    } else if (Array.isArray(before)) {
      before.push(content);
    } else {
      parent.children[local] = [before, content];
    }
  }

  #addText(text: string, isEscaped: boolean): void {
    const element = this.#stack.at(-1);
    if (element !== undefined) {
      element.text += isEscaped && text.includes("&") ? resolveReferences(text) : text;
    } else if (text.trim() !== "") {
      throw malformed();
    }
  }

  #behind(end: string, from: number): number {
    const at = this.#text.indexOf(end, from);
    if (at < 0) {
      throw malformed();
    }
    return at + end.length;
  }
}

/** The five entities of XML and character references, once. */
function resolveReferences(text: string): string {
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

function malformed(): S3Error {
  return new S3Error("MalformedXML");
}
