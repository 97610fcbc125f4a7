import assert from "node:assert/strict";
import { test } from "node:test";
import { CwlError } from "../errors.ts";
import { Ontology } from "./ontology.ts";
import { readOntology } from "./read-ontology.ts";
import { reduceOntology } from "./reduce-ontology.ts";

const rdfXml = (body: string): string => `<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY f "https://f.example/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns="http://www.w3.org/2002/07/owl#" xml:base="https://f.example/x">${body}</rdf:RDF>`;

function read(text: string): Ontology {
  const ontology = new Ontology();
  readOntology(text, ontology);
  return ontology;
}

test("classes of RDF/XML in the forms that tools write", () => {
  const ontology = read(
    rdfXml(`
<Class rdf:about="&f;a"><rdfs:subClassOf rdf:resource="&f;top"/></Class>
<rdfs:Class rdf:about='https://f.example/b'><rdfs:subClassOf rdf:resource='#own'/></rdfs:Class>
<rdf:Description rdf:about="&f;c"><equivalentClass rdf:resource="&f;a"/></rdf:Description>
<Class rdf:about="&f;d"><rdfs:subClassOf><Class rdf:about="&f;a"/></rdfs:subClassOf></Class>
<Class rdf:about="&f;e">
  <equivalentClass><Class><unionOf rdf:parseType="Collection"><rdf:Description rdf:about="&f;a"/></unionOf></Class></equivalentClass>
  <rdfs:subClassOf rdf:resource="&f;b"/>
</Class>
<!-- <Class rdf:about="&f;x"><rdfs:subClassOf rdf:resource="&f;top"/></Class> -->`),
  );
  const name = (local: string): string => `https://f.example/${local}`;
  assert.ok(ontology.isA(name("a"), name("top")));
  assert.ok(ontology.isA(name("b"), name("x#own")));
  assert.ok(ontology.isA(name("c"), name("top")));
  assert.ok(ontology.isA(name("d"), name("top")));
  assert.ok(
    ontology.isA(name("e"), name("b")),
    "what stands inside a class does not change whose the next statement is",
  );
  assert.ok(!ontology.isA(name("e"), name("top")), "one of a union is not the class");
  assert.ok(!ontology.isA(name("x"), name("top")), "a comment says nothing");
});

test("Turtle with prefixes of both forms, lists and texts", () => {
  const ontology = read(`PREFIX f: <https://f.example/>
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
# f:x rdfs:subClassOf f:top .
f:a a rdfs:Class ; rdfs:label "f:x rdfs:subClassOf f:top ." ; rdfs:subClassOf f:top , [ a rdfs:Class ] .
<https://f.example/b> <http://www.w3.org/2002/07/owl#equivalentClass> f:a .`);
  assert.deepEqual(ontology.pairs().length, 3);
  assert.ok(ontology.isA("https://f.example/b", "https://f.example/top"));
});

test("what is no ontology, or half of one, is said", () => {
  const whole = rdfXml(`<Class rdf:about="&f;a"><rdfs:subClassOf rdf:resource="&f;top"/></Class>`);
  for (const [text, message] of [
    [whole.slice(0, -12), /ends in the middle/],
    ["<!doctype html><html><body>Not found</body></html>", /no RDF\/XML/],
    ["<?xml version='1.0'?>", /no RDF\/XML/],
    ['{"@context": {}}', /it is JSON/],
    ["@prefix f: <https://f.example/> .\nf:a f:b", /middle of a statement/],
    ["Service unavailable.", /no Turtle/],
    ["nothing", /no Turtle/],
  ] as const) {
    assert.throws(
      () => read(text),
      (error) => error instanceof CwlError && error.code === "reference" && message.test(error.message),
      text,
    );
  }
  assert.equal(read(rdfXml("")).pairs().length, 0);
});

test("the reduced part of an ontology answers the same", () => {
  const text = rdfXml(
    ["a>top", "b>a", "c>b", "d>elsewhere", "elsewhere>far"]
      .map((pair) => pair.split(">"))
      .map(([child, parent]) => `<Class rdf:about="&f;${child}"><rdfs:subClassOf rdf:resource="&f;${parent}"/></Class>`)
      .join(""),
  );
  const reduced = read(reduceOntology(text, ["https://f.example/a"]));
  assert.deepEqual(reduced.pairs(), [
    ["https://f.example/b", "https://f.example/a"],
    ["https://f.example/c", "https://f.example/b"],
  ]);
  assert.equal(read(reduceOntology(text, "any")).pairs().length, 5);
  assert.equal(read(reduceOntology(text, ["https://f.example/none"])).pairs().length, 0);
});
