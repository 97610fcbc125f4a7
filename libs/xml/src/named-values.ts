import { type XmlHandler, type XmlOptions, readLargeXml, readXml } from "./xml-reader.ts";

/**
 * An element by the names in it, without prefixes: attributes begin with `@`, text beside them is `#text`. An element of text alone is that
 * text; of several with one name there is an array. No member is inherited.
 */
export interface XmlObject {
  readonly [name: string]: XmlValue | readonly XmlValue[] | undefined;
}
export type XmlValue = XmlObject | string;

interface NamedOptions extends XmlOptions {
  /** Leaves attributes out. */
  readonly ignoreAttributes?: boolean;
  /** Keeps white space around texts. */
  readonly keepSpace?: boolean;
}

export interface NamedDocument {
  /** Local name of the root element. */
  readonly name: string;
  readonly value: XmlValue;
}

/** Parses a small document. @throws {XmlError} saying what is wrong with it */
export function parseNamed(text: string, options: NamedOptions = {}): NamedDocument {
  const builder = new Builder(options);
  readXml(text, builder.handler, options);
  return builder.finish();
}

/** The same for documents of any size: others have their turn meanwhile. @throws {XmlError} */
export async function parseLargeNamed(text: string, options: NamedOptions = {}): Promise<NamedDocument> {
  const builder = new Builder(options);
  await readLargeXml(text, builder.handler, options);
  return builder.finish();
}

interface Open {
  readonly name: string;
  /** Undefined until the first attribute or child. */
  members: Record<string, XmlValue | XmlValue[]> | undefined;
  text: string;
}

class Builder {
  readonly handler: XmlHandler;
  readonly #open: Open[] = [];
  readonly #options: NamedOptions;
  #root: NamedDocument | undefined;

  constructor(options: NamedOptions) {
    this.#options = options;
    this.handler = {
      open: (tag) => {
        const element: Open = { name: tag.local, members: undefined, text: "" };
        if (options.ignoreAttributes !== true) {
          for (const { prefix, local, value } of Object.values(tag.attributes)) {
            // Declarations have been resolved.
            if (prefix !== "xmlns" && local !== "xmlns") {
              add(element, `@${local}`, value);
            }
          }
        }
        this.#open.push(element);
      },
      text: (text) => {
        const top = this.#open.at(-1);
        if (top !== undefined) {
          top.text += text;
        }
      },
      close: () => this.#close(),
    };
  }

  finish(): NamedDocument {
    // A well-formed document has a root.
    return this.#root as NamedDocument;
  }

  #close(): void {
    const element = this.#open.pop() as Open;
    const { members, name } = element;
    const text = this.#options.keepSpace === true ? element.text : element.text.trim();
    if (members !== undefined && text.trim() !== "") {
      members["#text"] = text;
    }
    const value = members ?? text;
    const parent = this.#open.at(-1);
    if (parent === undefined) {
      this.#root = { name, value };
    } else {
      add(parent, name, value);
    }
  }
}

function add(element: Open, name: string, value: XmlValue): void {
  // Without a prototype: names of elements are anybody's.
  element.members ??= Object.create(null) as Record<string, XmlValue | XmlValue[]>;
  const before = element.members[name];
  if (before === undefined) {
    element.members[name] = value;
  } else if (Array.isArray(before)) {
    before.push(value);
  } else {
    element.members[name] = [before, value];
  }
}
