import { type TSchema, Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";

import { members } from "./common.ts";
import { Collection } from "./collection.ts";
import { EXTENSION_FIELDS } from "./extensions.ts";
import { Item } from "./item.ts";
import { collectionRules, itemRules } from "./rules.ts";

/** What is wrong with a document. */
export interface StacIssue {
  /** JSON pointer to the member at fault. */
  readonly path: string;
  /** The rule that it breaks, as a text that goes on from the path: "must be …". */
  readonly rule: string;
  /** The value at fault, shortened; left out where a member is missing. */
  readonly value?: unknown;
}

/** Issues that are told at once. */
const MAX_ISSUES = 20;
const MAX_VALUE_LENGTH = 200;

export type StacValidator = (value: unknown) => readonly StacIssue[];

/** A function that tells what is wrong with an item; nothing for a valid one. Of the geometry rings that cross themselves are told alone. */
export function createItemValidator(): StacValidator {
  const core = createValidator(Item, itemRules);
  const checkExtensions = createExtensionChecker();
  return (value) => {
    const issues = core(value);
    return issues.length > 0 ? issues : checkExtensions(value as Json).slice(0, MAX_ISSUES);
  };
}

/** A function that tells what is wrong with a collection; nothing for a valid one. */
export function createCollectionValidator(): StacValidator {
  const core = createValidator(Collection, collectionRules);
  const checkExtensions = createExtensionChecker();
  return (value) => {
    const issues = core(value);
    return issues.length > 0 ? issues : checkExtensions(value as Json).slice(0, MAX_ISSUES);
  };
}

type Json = Readonly<Record<string, unknown>>;

const EXTENSION = /^https:\/\/stac-extensions\.github\.io\/([\w-]+)\/(v\d+)/;

/** Looks at the fields of the extensions that a document names, where it may have them: in its properties, its assets, the assets of its items. */
function createExtensionChecker(): (document: Json) => readonly StacIssue[] {
  const compiled = new Map<string, Validator>();
  const validatorOf = (name: string): Validator | undefined => {
    const fields = Object.hasOwn(EXTENSION_FIELDS, name) ? EXTENSION_FIELDS[name] : undefined;
    if (fields !== undefined && !compiled.has(name)) {
      compiled.set(name, Compile(Type.Object(members(fields))));
    }
    return compiled.get(name);
  };
  const validatorsOf = (address: string): readonly Validator[] => {
    const [, name = "", major = ""] = EXTENSION.exec(address) ?? [];
    return [validatorOf(name), validatorOf(`${name}/${major}`)].filter((validator) => validator !== undefined);
  };
  return (document) => {
    const issues: StacIssue[] = [];
    const { properties, assets = {}, item_assets: itemAssets } = document;
    for (const address of (document["stac_extensions"] ?? []) as readonly string[]) {
      for (const validator of validatorsOf(address)) {
        if (properties !== undefined && !validator.Check(properties)) {
          issues.push(...toIssuesAt("/properties", validator, properties));
        }
        issues.push(...checkEach("/assets", validator, assets as Json));
        if (itemAssets !== undefined) {
          issues.push(...checkEach("/item_assets", validator, itemAssets as Json));
        }
      }
    }
    return issues;
  };
}

function checkEach(place: string, validator: Validator, assets: Json): readonly StacIssue[] {
  const wrong = Object.keys(assets).filter((key) => !validator.Check(assets[key]));
  return wrong.flatMap((key) =>
    toIssuesAt(`${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, validator, assets[key]),
  );
}

const toIssuesAt = (place: string, validator: Validator, value: unknown): readonly StacIssue[] =>
  toIssues(validator, value).map((issue) => ({ ...issue, path: `${place}${issue.path}` }));

function createValidator(schema: TSchema, rules: (value: Json) => readonly StacIssue[]): StacValidator {
  const compiled: Validator = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) {
      return rules(value as Json).slice(0, MAX_ISSUES);
    }
    return toIssues(compiled, value);
  };
}

function toIssues(compiled: Validator, value: unknown): readonly StacIssue[] {
  const issues = new Map<string, StacIssue>();
  for (const { instancePath, message, keyword, params } of compiled.Errors(value)) {
    if (keyword === "anyOf" && issues.has(instancePath)) {
      continue;
    }
    const missing =
      keyword === "required" ? (params as { requiredProperties?: readonly string[] }).requiredProperties : undefined;
    for (const name of missing ?? [undefined]) {
      const path = name === undefined ? instancePath : `${instancePath}/${name}`;
      if (!issues.has(path) && issues.size < MAX_ISSUES) {
        issues.set(path, {
          path,
          rule: name === undefined ? toRule(message) : "is required",
          ...(name === undefined && { value: shorten(valueAt(value, instancePath)) }),
        });
      }
    }
  }
  return [...issues.values()];
}

const toRule = (message: string): string => (/^must|^is/.test(message) ? message : `must be valid: ${message}`);

function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    found = (found as Json | null | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return found;
}

function shorten(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "";
  return text.length <= MAX_VALUE_LENGTH ? value : `${text.slice(0, MAX_VALUE_LENGTH)}…`;
}
