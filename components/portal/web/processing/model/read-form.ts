import { type Polygon, findBoxProblem, findPolygonProblem, formatBox, formatWkt } from "./areas.ts";
import type { InputProblem } from "./check-inputs.ts";
import type { Field, Kind } from "./form-fields.ts";
import {
  type BoxDraft,
  type Draft,
  type Drafts,
  EMPTY_BOX,
  type ListEntry,
  type UnionDraft,
  textOf,
} from "./form-values.ts";

/** What a filled-in form says, and what is wrong with it. */
export interface ReadForm {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly problems: readonly InputProblem[];
}

/** The inputs that a form stands for. What is left empty is left out, so that the process's own default holds. */
export function readForm(fields: readonly Field[], drafts: Drafts): ReadForm {
  const problems: InputProblem[] = [];
  const { values, missing } = readFields(fields, drafts, "inputs", problems);
  return { inputs: values, problems: [...problems, ...missing] };
}

function readFields(
  fields: readonly Field[],
  drafts: Drafts,
  path: string,
  problems: InputProblem[],
): { readonly values: Readonly<Record<string, unknown>>; readonly missing: readonly InputProblem[] } {
  const values: Record<string, unknown> = {};
  const missing: InputProblem[] = [];
  for (const field of fields) {
    const here = `${path}.${field.name}`;
    const before = problems.length;
    const value = readDraft(field.kind, drafts[field.name], here, problems);
    if (value !== undefined) {
      values[field.name] = value;
    } else if (field.isRequired && problems.length === before) {
      missing.push({ path: here, message: `${field.title} is needed.` });
    }
  }
  return { values, missing };
}

/** @returns `undefined` when nothing was given */
function readDraft(kind: Kind, draft: Draft, path: string, problems: InputProblem[]): unknown {
  const wrong = (message: string): undefined => {
    problems.push({ path, message });
    return undefined;
  };
  switch (kind.kind) {
    case "text":
    case "date":
      return draft === "" || draft === undefined ? undefined : draft;
    case "choice":
      return kind.options.find((option) => String(option) === draft);
    case "boolean":
      return draft;
    case "number":
      return readNumber(kind, draft, wrong);
    case "address": {
      const text = textOf(draft).trim();
      if (text === "") {
        return undefined;
      }
      return /^(https?|s3|data):/i.test(text)
        ? { href: text }
        : wrong("An address begins with https://, http://, s3:// or data:.");
    }
    case "box":
      return readBox(kind.as, (draft ?? EMPTY_BOX) as BoxDraft, wrong);
    case "area":
      return readArea(kind.as, draft, wrong);
    case "list":
      return readList(kind, (draft ?? []) as readonly ListEntry[], path, problems);
    case "record": {
      const before = problems.length;
      const { values, missing } = readFields(kind.fields, (draft ?? {}) as Drafts, path, problems);
      // Nothing in any of its fields: no record, rather than one that lacks everything.
      if (Object.keys(values).length === 0 && problems.length === before) {
        return undefined;
      }
      problems.push(...missing);
      return values;
    }
    case "union": {
      const { option, value } = (draft ?? { option: 0, value: undefined }) as UnionDraft;
      const chosen = kind.options[option];
      return chosen === undefined ? undefined : readDraft(chosen.kind, value, path, problems);
    }
    case "json":
      return readJson(textOf(draft), wrong);
  }
}

type Wrong = (message: string) => undefined;

function readNumber(kind: Extract<Kind, { kind: "number" }>, draft: Draft, wrong: Wrong): number | undefined {
  const { isInteger, minimum = -Infinity, maximum = Infinity } = kind;
  const text = textOf(draft).trim();
  if (text === "") {
    return undefined;
  }
  const value = Number(text);
  if (!Number.isFinite(value)) {
    return wrong(`"${text}" is not a number.`);
  }
  if (isInteger && !Number.isInteger(value)) {
    return wrong(`${text} is not a whole number.`);
  }
  return value < minimum || value > maximum ? wrong(`${value} is out of range: ${minimum} to ${maximum}.`) : value;
}

function readBox(as: "text" | "array" | "object", draft: BoxDraft, wrong: Wrong): unknown {
  if (draft.every((text) => text.trim() === "")) {
    return undefined;
  }
  const bbox = draft.map((text) => (text.trim() === "" ? Number.NaN : Number(text)));
  const problem = findBoxProblem(bbox);
  if (problem !== undefined) {
    return wrong(problem);
  }
  const [west = 0, south = 0, east = 0, north = 0] = bbox;
  return as === "text"
    ? formatBox([west, south, east, north])
    : as === "array"
      ? bbox
      : { bbox: bbox, crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84" };
}

function readArea(as: "geojson" | "geojson-text" | "wkt", draft: Draft, wrong: Wrong): unknown {
  if (draft === undefined) {
    return undefined;
  }
  const problem = findPolygonProblem(draft);
  if (problem !== undefined) {
    return wrong(problem);
  }
  return as === "geojson" ? draft : as === "wkt" ? formatWkt(draft as Polygon) : JSON.stringify(draft);
}

function readList(
  kind: Extract<Kind, { kind: "list" }>,
  entries: readonly ListEntry[],
  path: string,
  problems: InputProblem[],
): unknown {
  const { items, minItems, maxItems = Infinity } = kind;
  const values: unknown[] = [];
  const before = problems.length;
  for (const [index, { value }] of entries.entries()) {
    const item = readDraft(items, value, `${path}[${index}]`, problems);
    if (item !== undefined) {
      values.push(item);
    }
  }
  if (values.length === 0 && problems.length === before) {
    return undefined;
  }
  if (problems.length === before && (values.length < minItems || values.length > maxItems)) {
    const allowed = maxItems === Infinity ? `at least ${minItems}` : `${minItems} to ${maxItems}`;
    problems.push({ path, message: `${values.length} entries; allowed: ${allowed}.` });
  }
  return values;
}

function readJson(text: string, wrong: Wrong): unknown {
  if (text.trim() === "") {
    return undefined;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return wrong(`Not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
