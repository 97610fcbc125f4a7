import { type Box, type Polygon, bboxOf, findPolygonProblem, parseArea, parseBox } from "./areas.ts";
import type { Field, Kind } from "./form-fields.ts";

/**
 * What a form holds while it is filled in, by kind: text, date, choice, address, json: the text; number: the text or number;
 * boolean: `true`, `false` or `undefined`; box: four texts; area: a polygon or `undefined`; list: entries with a key each;
 * record: values by name; union: which option, and its value.
 */
export type Draft = unknown;

export interface ListEntry {
  /** Tells entries apart while some are added and removed. */
  readonly key: number;
  readonly value: Draft;
}

export interface UnionDraft {
  readonly option: number;
  readonly value: Draft;
}

export type Drafts = Readonly<Record<string, Draft>>;

/** The text of a draft that is one, or a number. */
export const textOf = (draft: Draft): string =>
  typeof draft === "string" ? draft : typeof draft === "number" ? String(draft) : "";

/** Four texts: west, south, east, north. */
export type BoxDraft = readonly [string, string, string, string];

export const EMPTY_BOX: BoxDraft = ["", "", "", ""];

/** What the service says in place of an input that the package calls secret. */
const HIDDEN = "(secret)";

/** What a form begins with: what was given before, else the defaults. Secrets have to be given anew. */
export function toDrafts(fields: readonly Field[], provided: Readonly<Record<string, unknown>> = {}): Drafts {
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      toDraft(field.kind, givenFor(field.name, provided) ?? field.default, field.isRequired),
    ]),
  );
}

function givenFor(name: string, provided: Readonly<Record<string, unknown>>): unknown {
  const value = unwrap(provided[name]);
  return value === HIDDEN ? undefined : value;
}

/** `{"value": x}` means x. */
function unwrap(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "value" in value ? value.value : value;
}

export function toDraft(kind: Kind, provided: unknown, isRequired = true): Draft {
  const value = unwrap(provided) ?? undefined;
  switch (kind.kind) {
    case "text":
    case "date":
    case "number":
      return value === undefined ? "" : scalarText(value);
    case "choice":
      return value === undefined ? null : scalarText(value);
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "address":
      return value === undefined ? "" : addressOf(value);
    case "box":
      return toBoxDraft(value);
    case "area":
      return toAreaDraft(value);
    case "list": {
      const items = value === undefined ? [] : Array.isArray(value) ? (value as unknown[]) : [value];
      // A list that must not be empty begins with a line to fill in.
      const shown = items.length === 0 && isRequired ? [undefined] : items;
      return shown.map((item, key): ListEntry => ({ key, value: toDraft(kind.items, item) }));
    }
    case "record": {
      const fields = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
      return toDrafts(kind.fields, fields);
    }
    case "union": {
      const option = Math.max(
        0,
        kind.options.findIndex((candidate) => value !== undefined && fits(candidate.kind, value)),
      );
      const chosen = kind.options[option]?.kind ?? { kind: "json" };
      return { option, value: toDraft(chosen, value) } satisfies UnionDraft;
    }
    case "json":
      return value === undefined
        ? ""
        : typeof value === "string"
          ? JSON.stringify(value)
          : JSON.stringify(value, null, 2);
  }
}

const scalarText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function addressOf(value: unknown): string {
  if (typeof value === "string") {
    return value;
  }
  const { href, location } = (typeof value === "object" && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  return typeof href === "string" ? href : typeof location === "string" ? location : "";
}

function toBoxDraft(value: unknown): BoxDraft {
  const bbox =
    typeof value === "string"
      ? parseBox(value)
      : Array.isArray(value)
        ? (value as readonly number[])
        : (value as { bbox?: readonly number[] } | undefined)?.bbox;
  return bbox?.length === 4 ? (bbox.map(String) as unknown as BoxDraft) : EMPTY_BOX;
}

function toAreaDraft(value: unknown): Polygon | undefined {
  if (typeof value === "string") {
    return parseArea(value);
  }
  const geometry = (value as { geometry?: unknown } | undefined)?.geometry ?? value;
  return findPolygonProblem(geometry) === undefined ? (geometry as Polygon) : undefined;
}

/** Whether a value could be of a kind: enough to find the option of a union that it was given for. */
function fits(kind: Kind, value: unknown): boolean {
  switch (kind.kind) {
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "record":
      return typeof value === "object" && !Array.isArray(value);
    case "choice":
      return kind.options.some((option) => option === value);
    case "text":
    case "date":
      return typeof value === "string";
    case "address":
      return addressOf(value) !== "";
    case "box":
      return toBoxDraft(value) !== EMPTY_BOX;
    case "area":
      return bboxOf(value) !== undefined;
    default:
      return true;
  }
}

export const toBoxText = (bbox: Box): BoxDraft => bbox.map(String) as unknown as BoxDraft;
