import { XmlError } from "./xml-error.ts";
import { type XmlHandler, type XmlOptions, type XmlTag, readLargeXml, readXml } from "./xml-reader.ts";

/** An element of an XML document, with its namespace resolved. */
export interface XmlElement {
  readonly namespace: string;
  readonly name: string;
  /** By local name; of two with the same one that without a prefix counts. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** All text directly inside, references resolved. */
  readonly text: string;
  /** Where its `<` stands in the document, in UTF-16 units. */
  readonly start: number;
  /** Prefixes in scope that it does not declare itself, so that it can stand alone. */
  readonly scope: ReadonlyMap<string, string>;
}

/** Parses a small document. @throws {XmlError} saying what is wrong with it */
export function parseElements(text: string, options?: XmlOptions): XmlElement {
  const tree = new ElementTree(options);
  readXml(text, tree.handler, options);
  return tree.root;
}

/** The same for documents of any size: others have their turn meanwhile. @throws {XmlError} */
export async function parseLargeElements(text: string, options?: XmlOptions): Promise<XmlElement> {
  const tree = new ElementTree(options);
  await readLargeXml(text, tree.handler, options);
  return tree.root;
}

type Open = { -readonly [K in keyof XmlElement]: XmlElement[K] } & { readonly children: XmlElement[] };

const XML_SCOPE: ReadonlyMap<string, string> = new Map([["xml", "http://www.w3.org/XML/1998/namespace"]]);

class ElementTree {
  readonly handler: XmlHandler;
  readonly #open: { readonly element: Open; readonly scope: ReadonlyMap<string, string> }[] = [];
  readonly #maxScope: number;
  #root: XmlElement | undefined;

  constructor({ maxAttributes = 256 }: XmlOptions = {}) {
    this.#maxScope = maxAttributes;
    this.handler = {
      open: (tag, start) => this.#add(tag, start),
      text: (text) => {
        const top = this.#open.at(-1);
        if (top !== undefined) {
          top.element.text += text;
        }
      },
      close: () => void this.#open.pop(),
    };
  }

  /** Once the document is read; a well-formed one has a root. */
  get root(): XmlElement {
    return this.#root as XmlElement;
  }

  #add(tag: XmlTag, start: number): void {
    const parent = this.#open.at(-1);
    const outer = parent?.scope ?? XML_SCOPE;
    const attributes = new Map<string, string>();
    let isScopeOwn = false;
    for (const { prefix, local, name, value } of Object.values(tag.attributes)) {
      if (name === "xmlns" || prefix === "xmlns") {
        isScopeOwn = true;
      } else if (prefix === "" || !attributes.has(local)) {
        attributes.set(local, value);
      }
    }
    let scope = outer;
    if (isScopeOwn) {
      scope = new Map([...outer, ...Object.entries(tag.ns)]);
      if (scope.size > this.#maxScope) {
        throw new XmlError(`must not declare more than ${this.#maxScope} prefixes`);
      }
    }
    const element: Open = {
      namespace: tag.uri,
      name: tag.local,
      attributes,
      children: [],
      text: "",
      start,
      scope: outer,
    };
    if (parent === undefined) {
      this.#root = element;
    } else {
      parent.element.children.push(element);
    }
    this.#open.push({ element, scope });
  }
}
