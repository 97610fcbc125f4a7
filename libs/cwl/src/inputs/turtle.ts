import { CwlError } from "../errors.ts";
import { type Ontology, equivalentClass, subClassOf } from "./ontology.ts";

const token =
  /<([^<>\s]*)>|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|@[\w-]+|[.;,[\]()](?=\s|$|[.;,[\]()<"'#])|[^\s;,[\]()<>"']+?(?=\.?(?:\s|$|[;,[\]()<"']))/g;

/** @throws {CwlError} `reference` for what is no Turtle or ends in the middle */
export function readTurtle(text: string, ontology: Ontology): void {
  const prefixes = new Map<string, string>();
  let statement: string[] = [];
  let depth = 0;
  for (const [word] of text.matchAll(token)) {
    if (word.startsWith("#")) {
      continue;
    }
    if (word === "[" || word === "(") {
      depth += 1;
      if (depth === 1) {
        statement.push("[]");
      }
    } else if (word === "]" || word === ")") {
      depth -= 1;
    } else if (depth === 0) {
      if (word === ".") {
        readStatement(statement, prefixes, ontology);
        statement = [];
      } else {
        statement.push(word);
        // SPARQL's form of a prefix has no dot at its end.
        if (statement.length === 3 && /^prefix$/i.test(statement[0] ?? "")) {
          readStatement(statement, prefixes, ontology);
          statement = [];
        } else if (statement.length === 2 && /^base$/i.test(statement[0] ?? "")) {
          statement = [];
        }
      }
    }
  }
  if (statement.length > 0 || depth !== 0) {
    throw new CwlError("reference", "it is no Turtle, or it ends in the middle of a statement");
  }
}

function readStatement(tokens: readonly string[], prefixes: Map<string, string>, ontology: Ontology): void {
  const [first = "", second = "", third = ""] = tokens;
  if (/^@?prefix$/i.test(first)) {
    prefixes.set(second.replace(/:$/, ""), third.slice(1, -1));
    return;
  }
  if (first === "@base") {
    return;
  }
  const iri = (word: string): string | undefined => {
    if (word.startsWith("<")) {
      return word.slice(1, -1);
    }
    const colon = word.indexOf(":");
    const prefix = colon === -1 ? undefined : prefixes.get(word.slice(0, colon));
    return prefix === undefined ? undefined : prefix + word.slice(colon + 1);
  };
  const subject = iri(first);
  if (subject === undefined && first !== "[]" && !first.startsWith("_:")) {
    throw new CwlError("reference", `it is no Turtle: a statement begins with ${JSON.stringify(first.slice(0, 60))}`);
  }
  let predicate: string | undefined;
  let expectPredicate = true;
  for (const word of tokens.slice(1)) {
    if (word === ";") {
      expectPredicate = true;
    } else if (word === ",") {
      continue;
    } else if (expectPredicate) {
      predicate = iri(word);
      expectPredicate = false;
    } else {
      const object = iri(word);
      if (subject !== undefined && object !== undefined && predicate === subClassOf) {
        ontology.add(subject, object);
      } else if (subject !== undefined && object !== undefined && predicate === equivalentClass) {
        ontology.addEquivalent(subject, object);
      }
    }
  }
}
