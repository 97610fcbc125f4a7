import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createCollectionValidator, createItemValidator } from "@swath/stac/schema";

import { prepareCollection, prepareItem } from "../stac/prepare.ts";
import { openOracle } from "./official-schemas.ts";

type Json = Readonly<Record<string, unknown>>;

/** Official schemas (`schemas/stac`, `schemas/extensions`) and real records (`stac`). */
const TEST_DATA = process.env["SWATH_TEST_DATA"] ?? "/usr/share/swath-test-data";
const skip = existsSync(join(TEST_DATA, "schemas/stac/item.json"))
  ? false
  : `needs the official schemas below ${TEST_DATA}/schemas; name their folder with SWATH_TEST_DATA`;
const validators = { validateItem: createItemValidator(), validateCollection: createCollectionValidator() };

/** What the catalogue finds wrong with a document; undefined where it takes it. */
function refusalOf(document: Json): string | undefined {
  const body = { text: JSON.stringify(document), value: document };
  try {
    if (document["type"] === "Collection") {
      prepareCollection(validators, body);
    } else {
      prepareItem(validators, body, (document["collection"] as string | undefined) ?? "any");
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const readJson = (file: string): Json => JSON.parse(readFileSync(join(TEST_DATA, file), "utf8")) as Json;
const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: TEST_DATA }).toSorted();

const ITEM_FOLDERS = [
  "planetary-computer/landsat-c2-l2",
  "planetary-computer/sentinel-2-l2a",
  "earth-search/sentinel-2-l2a",
];

test("every real record is taken, as the official schemas take it", { skip }, () => {
  const { isCore } = openOracle(TEST_DATA);
  const files = [...filesOf("stac/*/*/collection.json"), ...filesOf("stac/*/*/items/*.json")];
  assert.ok(files.length > 200, `${files.length} records`);
  for (const file of files) {
    const document = readJson(file);
    assert.equal(refusalOf(document), undefined, file);
    assert.ok(isCore(document), file);
  }
});

const REPLACEMENTS: readonly unknown[] = [
  null,
  "",
  "x",
  0,
  -1,
  7.5,
  1e9,
  true,
  [],
  {},
  ["x"],
  [1, 2, 3, 4, 5],
  { a: 1 },
];
/** Links are made by the catalogue: an item need not bring the one to its collection. */
const FREE = /^\/(?:links|links\/\d+|links\/\d+\/rel|collection) /;
/** RFC 7946 says of geometries what its schema does not. */
const GEOMETRY = /\/geometry/;
/** An extension may be named and not used: items of a collection differ. */
const UNUSED = /^\/(?:item_assets|summaries|properties)(?:\/[\w:]+)? (?:removed|= \{\})$/;
const NAMESPACES: Readonly<Record<string, string>> = { projection: "proj", scientific: "sci" };
const namespaceOf = (address: string): string => {
  const name = address.split("/")[3] ?? "";
  return NAMESPACES[name] ?? name;
};

test("mutations of records are taken and refused as by the official schemas", { skip }, () => {
  const oracle = openOracle(TEST_DATA);
  const disagreements: string[] = [];
  let count = 0;
  for (const file of [
    ...filesOf("stac/*/*/collection.json"),
    ...ITEM_FOLDERS.flatMap((folder) => filesOf(`stac/${folder}/items/*.json`).slice(0, 1)),
  ]) {
    const document = readJson(file);
    // Some of the schemas are drafts of later versions, which refuse what was published with theirs.
    const drafts = oracle.findRefusing(document);
    const draftFields = new Set(drafts.map(namespaceOf));
    for (const path of pathsOf(document)) {
      for (const mutant of mutate(document, path)) {
        count += 1;
        const refusal = refusalOf(mutant.document);
        const refusing = oracle.isCore(mutant.document)
          ? oracle.findRefusing(mutant.document).find((address) => !drafts.includes(address))
          : "the core";
        const what = `/${path.join("/")} ${mutant.what}`;
        const isFree =
          refusing === undefined
            ? GEOMETRY.test(what) || path.some((part) => draftFields.has(part.split(":")[0] ?? ""))
            : FREE.test(what) || (refusing !== "the core" && UNUSED.test(what));
        if ((refusal === undefined) !== (refusing === undefined) && !isFree) {
          disagreements.push(`${file} ${what}: ${refusal ?? "taken"}, refused by ${refusing ?? "no schema"}`);
        }
      }
    }
  }
  assert.ok(count > 9000, `${count} mutations`);
  assert.deepEqual(disagreements, []);
});

/** Where members and elements are; of long lists and of assets the first ones. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) {
    return path.length === 0 ? [] : [path];
  }
  const limit = Array.isArray(value) || path.at(-1) === "assets" || path.at(-1) === "item_assets" ? 2 : Infinity;
  return [
    ...(path.length === 0 ? [] : [path]),
    ...Object.keys(value)
      .slice(0, limit)
      .flatMap((key) => pathsOf((value as Record<string, unknown>)[key], [...path, key])),
  ];
}

function* mutate(document: Json, path: readonly string[]): Generator<{ what: string; document: Json }> {
  const change = (work: (holder: Record<string, unknown>, key: string) => void): Json => {
    const copy = structuredClone(document) as Record<string, unknown>;
    let holder = copy;
    for (const part of path.slice(0, -1)) {
      holder = holder[part] as Record<string, unknown>;
    }
    work(holder, path.at(-1) as string);
    return copy;
  };
  yield {
    what: "removed",
    document: change((holder, key) => {
      if (Array.isArray(holder)) {
        holder.splice(Number(key), 1);
      } else {
        Reflect.deleteProperty(holder, key);
      }
    }),
  };
  for (const replacement of REPLACEMENTS) {
    yield {
      what: `= ${JSON.stringify(replacement)}`,
      document: change((holder, key) => {
        holder[key] = replacement;
      }),
    };
  }
}
