import { CwlError } from "../errors.ts";
import { type Ontology, equivalentClass, subClassOf } from "./ontology.ts";

const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const owlClass = "http://www.w3.org/2002/07/owl#Class";
const classes = [owlClass, "http://www.w3.org/2000/01/rdf-schema#Class", `${rdf}Description`];
const predicates = [subClassOf, equivalentClass];

// No alternative can begin inside another one, so that a text of any kind is read once.
const markup =
  /<!--[\s\S]*?(?:-->|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<!ENTITY\s+([\w.-]+)\s+(?:"([^"<>]*)"|'([^'<>]*)')\s*>|<(\/?)([\w.-]+:)?([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/g;
const attribute = /([\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

interface Element {
  readonly name: string;
  /** The class that it describes. */
  readonly about: string | undefined;
}

/** @throws {CwlError} `reference` for what is no RDF/XML or ends in the middle */
export function readRdfXml(text: string, ontology: Ontology): void {
  const names = new Names();
  const open: Element[] = [];
  let isComplete = false;
  for (const [, entity, double, single, closing, prefix, local, attributes, empty] of text.matchAll(markup)) {
    if (entity !== undefined) {
      names.addEntity(entity, double ?? single ?? "");
      continue;
    }
    if (local === undefined) {
      continue;
    }
    if (closing === "/") {
      isComplete = open.pop()?.name === `${rdf}RDF` && open.length === 0;
      continue;
    }
    const { about, resource } = names.read(attributes ?? "");
    const element = { name: names.expand(prefix ?? ":", local), about };
    if (open.length === 0 && element.name !== `${rdf}RDF`) {
      break;
    }
    const [subject, predicate] = [open.at(-2), open.at(-1)];
    if (resource !== undefined && predicates.includes(element.name)) {
      relate(ontology, predicate, element.name, resource);
    } else if (about !== undefined && predicate !== undefined && predicates.includes(predicate.name)) {
      // The class stands inside: <rdfs:subClassOf><owl:Class rdf:about="…"/></rdfs:subClassOf>
      relate(ontology, subject, predicate.name, about);
    }
    if (empty === "/") {
      isComplete = open.length === 0;
    } else {
      open.push(element);
    }
  }
  if (!isComplete) {
    throw new CwlError(
      "reference",
      open.length === 0 ? "it is no RDF/XML and no Turtle" : "it ends in the middle, or its tags do not fit together",
    );
  }
}

function relate(ontology: Ontology, subject: Element | undefined, predicate: string, object: string): void {
  if (subject?.about === undefined || !classes.includes(subject.name)) {
    return;
  }
  if (predicate === subClassOf) {
    ontology.add(subject.about, object);
  } else {
    ontology.addEquivalent(subject.about, object);
  }
}

/** Prefixes and entities, wherever in the document they are declared: no ontology gives one prefix two meanings. */
class Names {
  private readonly entities = new Map([
    ["amp", "&"],
    ["lt", "<"],
    ["gt", ">"],
    ["quot", '"'],
    ["apos", "'"],
  ]);
  private readonly prefixes = new Map<string, string>();
  private base = "";

  addEntity(name: string, value: string): void {
    // An entity of entities grows without end; longer ones are no part of an IRI.
    if (value.length <= 1000) {
      this.entities.set(name, value);
    }
  }

  expand(prefix: string, local: string): string {
    return `${this.prefixes.get(prefix) ?? prefix}${local}`;
  }

  /** Takes the declarations of a tag, then what it names. */
  read(attributes: string): { readonly about: string | undefined; readonly resource: string | undefined } {
    const values: (readonly [string, string, string])[] = [];
    for (const [, prefix = "", local = "", double, single] of attributes.matchAll(attribute)) {
      const value = (double ?? single ?? "").slice(0, 4000);
      const text = value.replace(/&([\w.-]+);/g, (whole, name: string) => this.entities.get(name) ?? whole);
      if (prefix === "xmlns:") {
        this.prefixes.set(`${local}:`, text);
      } else if (prefix === "" && local === "xmlns") {
        this.prefixes.set(":", text);
      } else if (prefix === "xml:" && local === "base") {
        this.base = text;
      } else {
        values.push([prefix, local, text]);
      }
    }
    const find = (name: string) => values.find(([prefix, local]) => this.expand(prefix, local) === rdf + name)?.[2];
    const id = find("ID");
    return {
      about: this.resolve(find("about") ?? (id === undefined ? undefined : `#${id}`)),
      resource: this.resolve(find("resource")),
    };
  }

  private resolve(iri: string | undefined): string | undefined {
    return iri === undefined ||
      !URL.canParse(this.base) ||
      /^[a-z][\w+.-]*:/i.test(iri) ||
      !URL.canParse(iri, this.base)
      ? iri
      : new URL(iri, this.base).href;
  }
}
