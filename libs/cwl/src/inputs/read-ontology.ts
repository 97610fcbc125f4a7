import { CwlError } from "../errors.ts";
import type { Ontology } from "./ontology.ts";
import { readRdfXml } from "./rdf-xml.ts";
import { readTurtle } from "./turtle.ts";

/**
 * Reads what format checking needs out of an ontology in RDF/XML or Turtle: `rdfs:subClassOf` and
 * `owl:equivalentClass` between named classes. Everything else is passed over.
 * @throws {CwlError} `reference` for a text that is neither, or that ends in the middle; `limit`
 */
export function readOntology(text: string, ontology: Ontology): void {
  if (/^\s*(?:<\?xml|<!DOCTYPE|<!--|<[\w.-]+:RDF\b|<html)/i.test(text)) {
    readRdfXml(text, ontology);
  } else if (/^\s*[{[]/.test(text)) {
    throw new CwlError("reference", "it is JSON; RDF/XML and Turtle are read");
  } else {
    readTurtle(text, ontology);
  }
}
