/** Subclass and equivalence statements between formats. */
export class Ontology {
  private readonly parents = new Map<string, Set<string>>();

  add(child: string, parent: string): void {
    const set = this.parents.get(child) ?? new Set();
    set.add(parent);
    this.parents.set(child, set);
  }

  addEquivalent(a: string, b: string): void {
    this.add(a, b);
    this.add(b, a);
  }

  /** Whether `child` is `parent` or below it. */
  isA(child: string, parent: string): boolean {
    const seen = new Set<string>();
    const queue = [child];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next === parent) {
        return true;
      }
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(...(this.parents.get(next) ?? []));
      }
    }
    return false;
  }
}

/**
 * Reads what format checking needs out of an ontology in RDF/XML or Turtle: `rdfs:subClassOf` and
 * `owl:equivalentClass` between named classes. Everything else is passed over.
 */
export function readOntology(text: string, ontology: Ontology): void {
  if (/^\s*(?:<\?xml|<!DOCTYPE|<rdf:RDF|<!--)/.test(text)) {
    readRdfXml(text, ontology);
  } else {
    readTurtle(text, ontology);
  }
}

const subClassOf = "http://www.w3.org/2000/01/rdf-schema#subClassOf";
const equivalentClass = "http://www.w3.org/2002/07/owl#equivalentClass";

function readRdfXml(text: string, ontology: Ontology): void {
  const entities = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(/<!ENTITY\s+([\w.-]+)\s+"([^"]*)"\s*>/g)) {
    entities.set(name, value);
  }
  const expand = (iri: string): string =>
    iri.replace(/&([\w.-]+);/g, (whole, name: string) => entities.get(name) ?? (name === "amp" ? "&" : whole));
  let subject: string | undefined;
  for (const [tag] of text.matchAll(/<(?:owl:Class|rdf:Description|rdfs:subClassOf|owl:equivalentClass)\b[^>]*>/g)) {
    const about = /\srdf:about="([^"]*)"/.exec(tag)?.[1];
    const resource = /\srdf:resource="([^"]*)"/.exec(tag)?.[1];
    if (about !== undefined) {
      subject = expand(about);
    } else if (subject !== undefined && resource !== undefined) {
      if (tag.startsWith("<rdfs:")) {
        ontology.add(subject, expand(resource));
      } else {
        ontology.addEquivalent(subject, expand(resource));
      }
    }
  }
}

const turtleToken =
  /<([^>]*)>|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|@[\w-]+|[.;,[\]()](?=\s|$|[.;,[\]()<"'#])|[^\s;,[\]()<>"']+?(?=\.?(?:\s|$|[;,[\]()<"']))/g;

function readTurtle(text: string, ontology: Ontology): void {
  const prefixes = new Map<string, string>();
  let statement: string[] = [];
  let depth = 0;
  for (const match of text.matchAll(turtleToken)) {
    const token = match[0];
    if (token.startsWith("#")) {
      continue;
    }
    if (token === "[" || token === "(") {
      depth += 1;
      if (depth === 1) {
        statement.push("[]");
      }
    } else if (token === "]" || token === ")") {
      depth -= 1;
    } else if (depth === 0) {
      if (token === ".") {
        readStatement(statement, prefixes, ontology);
        statement = [];
      } else {
        statement.push(token);
      }
    }
  }
}

function readStatement(tokens: readonly string[], prefixes: Map<string, string>, ontology: Ontology): void {
  const [first = "", second = "", third = ""] = tokens;
  if (first.toLowerCase() === "@prefix" || first.toLowerCase() === "prefix") {
    prefixes.set(second.replace(/:$/, ""), third.slice(1, -1));
    return;
  }
  const iri = (token: string): string | undefined => {
    if (token.startsWith("<")) {
      return token.slice(1, -1);
    }
    const colon = token.indexOf(":");
    const prefix = colon === -1 ? undefined : prefixes.get(token.slice(0, colon));
    return prefix === undefined ? undefined : prefix + token.slice(colon + 1);
  };
  const subject = iri(first);
  let predicate: string | undefined;
  let expectPredicate = true;
  for (const token of tokens.slice(1)) {
    if (token === ";") {
      expectPredicate = true;
    } else if (token === ",") {
      continue;
    } else if (expectPredicate) {
      predicate = iri(token);
      expectPredicate = false;
    } else {
      const object = iri(token);
      if (subject !== undefined && object !== undefined && predicate === subClassOf) {
        ontology.add(subject, object);
      } else if (subject !== undefined && object !== undefined && predicate === equivalentClass) {
        ontology.addEquivalent(subject, object);
      }
    }
  }
}
