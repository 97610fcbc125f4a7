import { setImmediate as nextTurn } from "node:timers/promises";

import { SaxesParser, type SaxesTagNS } from "saxes";

import { XmlError } from "./xml-error.ts";

export type XmlTag = SaxesTagNS;

/** What is told of a document, in its order. */
export interface XmlHandler {
  /** @param start where the element's `<` stands, in UTF-16 units */
  readonly open: (tag: XmlTag, start: number) => void;
  /** Text or CDATA directly inside of the element that was opened last and is not closed; references are resolved. */
  readonly text: (text: string) => void;
  readonly close: () => void;
}

export interface XmlOptions {
  /** Elements within each other. */
  readonly maxDepth?: number;
  readonly maxElements?: number;
  /** Attributes of one element, and prefixes that are in scope at one place. */
  readonly maxAttributes?: number;
  /** Elements inside of one of a local name, for parts that are dear: filters. */
  readonly maxInside?: ReadonlyMap<string, number>;
  /** Takes references to control characters (`&#x1;`), which XML 1.0 has no place for and S3 has keys of. */
  readonly controlReferences?: boolean;
}

/** Characters that are read in one turn of the event loop: about a millisecond. */
const TURN_CHARACTERS = 16 << 10;

/**
 * Reads a document piece by piece. Namespaces are resolved; what is not well formed is refused, and so is a document type, which no
 * request needs and which is the door to entity bombs and to files of the machine.
 */
export class XmlReader {
  readonly #parser: SaxesParser<{ xmlns: true }>;

  /** Errors of `handler` are thrown by `write`. */
  constructor(handler: XmlHandler, options: XmlOptions = {}) {
    const {
      maxDepth = 100,
      maxElements = 200_000,
      maxAttributes = 256,
      controlReferences = false,
      maxInside,
    } = options;
    const parser = new SaxesParser({ xmlns: true });
    let [depth, elements, attributes, start] = [0, 0, 0, 0];
    let bounded: { readonly name: string; readonly depth: number; readonly most: number } | undefined;
    parser.on("error", ({ message }) => {
      throw new XmlError(`is not well formed at ${message.slice(0, 200)}`);
    });
    parser.on("doctype", () => {
      throw new XmlError("must not have a document type (<!DOCTYPE …>)");
    });
    parser.on("opentagstart", ({ name }) => {
      // The name and the character behind it have been read.
      start = parser.position - name.length - 2;
      attributes = 0;
      depth += 1;
      elements += 1;
      if (depth > maxDepth) {
        throw new XmlError(`must not have more than ${maxDepth} elements inside each other`);
      }
      if (elements > maxElements) {
        throw new XmlError(`must not have more than ${maxElements} elements`);
      }
      if (bounded !== undefined && elements > bounded.most) {
        const most = maxInside?.get(bounded.name);
        throw new XmlError(`must not have more than ${most} elements in the element ${bounded.name}`);
      }
      const local = name.slice(name.indexOf(":") + 1);
      const most = bounded === undefined ? maxInside?.get(local) : undefined;
      if (most !== undefined) {
        bounded = { name: local, depth, most: elements + most };
      }
    });
    parser.on("attribute", () => {
      attributes += 1;
      if (attributes > maxAttributes) {
        throw new XmlError(`must not have more than ${maxAttributes} attributes in one element`);
      }
    });
    parser.on("opentag", (tag) => handler.open(tag, start));
    parser.on("text", (text) => {
      if (depth > 0) {
        handler.text(text);
      }
    });
    parser.on("cdata", (text) => handler.text(text));
    parser.on("closetag", () => {
      if (depth === bounded?.depth) {
        bounded = undefined;
      }
      depth -= 1;
      handler.close();
    });
    if (controlReferences) {
      takeControlReferences(parser);
    }
    this.#parser = parser;
  }

  /** @throws {XmlError} */
  write(piece: string): void {
    this.#parser.write(piece);
  }

  /** @throws {XmlError} when the document is not whole */
  end(): void {
    this.#parser.close();
  }
}

/** Reads a whole document at once. @throws {XmlError} */
export function readXml(text: string, handler: XmlHandler, options?: XmlOptions): void {
  const reader = new XmlReader(handler, options);
  reader.write(text);
  reader.end();
}

/** The same for documents of any size: others have their turn meanwhile. @throws {XmlError} */
export async function readLargeXml(text: string, handler: XmlHandler, options?: XmlOptions): Promise<void> {
  const reader = new XmlReader(handler, options);
  for (let at = 0; at < text.length; at += TURN_CHARACTERS) {
    if (at > 0) {
      await nextTurn();
    }
    reader.write(text.slice(at, at + TURN_CHARACTERS));
  }
  reader.end();
}

/** saxes asks this one question about a reference; its version is pinned and a test reads such references. */
function takeControlReferences(parser: SaxesParser<{ xmlns: true }>): void {
  Object.defineProperty(parser, "isChar", {
    get: () => (code: number) => code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff),
    // It sets its own when it has read the declaration.
    set: () => {},
  });
}
