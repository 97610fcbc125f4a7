import type { CatalogueContext } from "../http/context.ts";
import { invalidDocument, problem } from "../http/errors.ts";
import type { JsonBody } from "../http/json-body.ts";
import { GeometryError } from "../model/footprint.ts";
import { collectionToRecord, itemToRecord } from "../model/from-stac.ts";
import { JsonStructureError, findElements, findMembers } from "../model/json-members.ts";
import type { NewRecord } from "../model/record.ts";

type Json = Readonly<Record<string, unknown>>;

/** Items of one request at most, and characters of one document. */
export const MAX_ITEMS = 20_000;
const MAX_DOCUMENT_LENGTH = 8 * 2 ** 20;
const MAX_ID_LENGTH = 500;

type Validators = Pick<CatalogueContext, "validateItem" | "validateCollection">;

/** The record of an item. @throws {Problem} 400 with everything that is wrong with it */
export function prepareItem(validators: Validators, body: JsonBody, collection: string, what = "The item"): NewRecord {
  const value = requireValid(validators.validateItem, body, what);
  if (value["collection"] !== undefined && value["collection"] !== collection) {
    throw invalidDocument(what, [
      {
        path: "/collection",
        rule: `must be ${JSON.stringify(collection)} as in the address`,
        value: value["collection"],
      },
    ]);
  }
  return guard(what, () => itemToRecord(body.text, value, collection));
}

/** The record of a collection. @throws {Problem} 400 with everything that is wrong with it */
export function prepareCollection(validators: Validators, body: JsonBody): NewRecord {
  const what = "The collection";
  const value = requireValid(validators.validateCollection, body, what);
  return guard(what, () => collectionToRecord(body.text, value));
}

/** The records of an ItemCollection: each keeps its own bytes. @throws {Problem} 400 */
export function prepareItems(validators: Validators, { text, value }: JsonBody, collection: string): NewRecord[] {
  const { features } = value as Json;
  if (!Array.isArray(features) || features.length > MAX_ITEMS) {
    throw invalidDocument("The item collection", [
      { path: "/features", rule: `must be a list of at most ${MAX_ITEMS} items` },
    ]);
  }
  const what = "The item collection";
  const places = guard(what, () => findElements(text, findMembers(text).get("features")?.from ?? 0));
  return features.map((feature: unknown, index) => {
    const { from, to } = places[index] as { from: number; to: number };
    return prepareItem(validators, { text: text.slice(from, to), value: feature }, collection, `/features/${index}`);
  });
}

/** Makes a record of a document whose form has been checked. @throws {Problem} 400, also for what no document may have */
export function guardDocument(what: string, body: JsonBody, make: () => NewRecord): NewRecord {
  checkDocument(body, what);
  return guard(what, make);
}

function requireValid(validate: Validators["validateItem"], body: JsonBody, what: string): Json {
  const issues = validate(body.value);
  if (issues.length > 0) {
    throw invalidDocument(what, issues);
  }
  return checkDocument(body, what);
}

function checkDocument({ text, value }: JsonBody, what: string): Json {
  if (text.length > MAX_DOCUMENT_LENGTH) {
    throw problem(413, "TooLarge", `${what} has more than ${MAX_DOCUMENT_LENGTH} characters.`);
  }
  const { id } = value as { id: string };
  if (id.length > MAX_ID_LENGTH || /\p{Cc}/u.test(id) || !id.isWellFormed()) {
    throw invalidDocument(what, [
      {
        path: "/id",
        rule: `must have at most ${MAX_ID_LENGTH} characters, none of them a control character`,
        value: id,
      },
    ]);
  }
  if (text.includes("\\u0000") || /\\u[dD][89a-fA-F]/.test(text)) {
    checkTexts(text, value, what);
  }
  return value as Json;
}

/** PostgreSQL keeps neither U+0000 nor halves of surrogate pairs. */
function checkTexts(text: string, value: unknown, what: string): void {
  const isKept = guard(what, () => {
    findMembers(text);
    const all = JSON.stringify(value);
    return !/(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(all);
  });
  if (!isKept) {
    throw invalidDocument(what, [{ path: "", rule: "must not have U+0000 or halves of surrogate pairs in its texts" }]);
  }
}

function guard<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof GeometryError) {
      throw invalidDocument(what, [{ path: `/geometry${error.path}`, rule: error.message }]);
    }
    if (error instanceof JsonStructureError) {
      throw invalidDocument(what, [{ path: "", rule: error.message }]);
    }
    throw error;
  }
}
