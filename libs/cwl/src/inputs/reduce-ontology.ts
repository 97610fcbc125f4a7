import { Ontology, subClassOf } from "./ontology.ts";
import { readOntology } from "./read-ontology.ts";
import type { RequestedFormats } from "./wanted-formats.ts";

/**
 * The part of an ontology that checking these formats needs, as Turtle: what is below them. Ontologies have megabytes, this has
 * some lines, so that it can be kept with the document and read in no time.
 * @throws {CwlError} `reference` for what cannot be read, `limit` for what is too much
 */
export function reduceOntology(text: string, requested: RequestedFormats): string {
  const ontology = new Ontology();
  readOntology(text, ontology);
  const pairs = ontology.pairs().filter((pair) => pair.every(isPlainIri));
  const kept = requested === "any" ? pairs : below(pairs, requested);
  return ["# What checking formats needs of an ontology.", ...kept.map(toStatement), ""].join("\n");
}

const toStatement = ([child, parent]: readonly [string, string]) => `<${child}> <${subClassOf}> <${parent}> .`;

/** What could not be written between < and > is no IRI. */
const isPlainIri = (iri: string): boolean => /^[^\s<>"{}|\\^`]+$/.test(iri);

function below(
  pairs: readonly (readonly [string, string])[],
  requested: readonly string[],
): (readonly [string, string])[] {
  const children = new Map<string, string[]>();
  for (const [child, parent] of pairs) {
    const known = children.get(parent);
    if (known === undefined) {
      children.set(parent, [child]);
    } else {
      known.push(child);
    }
  }
  const kept: (readonly [string, string])[] = [];
  const seen = new Set(requested);
  for (const parent of seen) {
    for (const child of children.get(parent) ?? []) {
      kept.push([child, parent]);
      // A set gives also what is added while it is gone through.
      seen.add(child);
    }
  }
  return kept;
}
