import { badParameter } from "../http/errors.ts";

/** Which members of items are sent: paths with dots. */
export interface Fields {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** What is sent when nothing is named: a valid item, whose time may be an interval. */
const STANDARD = [
  "type",
  "stac_version",
  "id",
  "geometry",
  "bbox",
  "links",
  "assets",
  "properties.datetime",
  "properties.start_datetime",
  "properties.end_datetime",
  "collection",
];
const MAX_FIELDS = 200;

type Json = Readonly<Record<string, unknown>>;

/** The fields extension: `id,-geometry` or `{include, exclude}`. */
export function parseFields(value: unknown, isBody: boolean): Fields | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const fields = isBody ? readBody(value) : readText(value);
  if (fields.include.length + fields.exclude.length > MAX_FIELDS) {
    throw badParameter("fields", `must name at most ${MAX_FIELDS} members`);
  }
  if (fields.include.length === 0 && fields.exclude.length === 0) {
    return { include: STANDARD, exclude: [] };
  }
  return fields;
}

function readText(value: unknown): Fields {
  if (typeof value !== "string") {
    throw badParameter("fields", "must be names of members with commas between them");
  }
  const names = value
    .split(",")
    .map((name) => name.replace(/^[+ ]/, ""))
    .filter((name) => name !== "");
  const exclude = names.filter((name) => name.startsWith("-")).map((name) => name.slice(1));
  const include = names.filter((name) => !name.startsWith("-"));
  return { include: include.length === 0 && exclude.length > 0 ? standardWithout(exclude) : include, exclude };
}

function readBody(value: unknown): Fields {
  const { include, exclude } = (typeof value === "object" && value !== null ? value : {}) as Json;
  const isList = (list: unknown): list is readonly string[] =>
    Array.isArray(list) && list.every((entry) => typeof entry === "string");
  if (
    (include !== undefined && include !== null && !isList(include)) ||
    (exclude !== undefined && exclude !== null && !isList(exclude))
  ) {
    throw badParameter("fields", "must be an object with lists of names, include and exclude");
  }
  const left = isList(exclude) ? exclude : [];
  if (!isList(include)) {
    // `include` left out: everything but what is excluded; null: the standard ones.
    return { include: include === undefined && left.length > 0 ? [] : standardWithout(left), exclude: left };
  }
  return { include: include.length === 0 && left.length > 0 ? standardWithout(left) : include, exclude: left };
}

/** What is standard is not asked for: it goes where it, or what it is a part of, is excluded. */
const standardWithout = (excluded: readonly string[]): readonly string[] =>
  STANDARD.filter((name) => !excluded.some((path) => name === path || name.startsWith(`${path}.`)));

/** An item with the wanted members only. A member that is named in both lists is sent; the deeper path wins. */
export function selectFields(item: Json, { include, exclude }: Fields): Json {
  const selected = include.length === 0 ? structuredClone(item) : pick(item, include);
  for (const path of exclude) {
    if (!include.includes(path)) {
      remove(selected, path, include);
    }
  }
  return selected;
}

function pick(item: Json, paths: readonly string[]): Json {
  const picked: Record<string, unknown> = {};
  for (const path of paths) {
    copy(item, picked, split(item, path));
  }
  return picked;
}

function copy(from: Json, into: Record<string, unknown>, [name, ...rest]: readonly string[]): void {
  if (name === undefined || !Object.hasOwn(from, name)) {
    return;
  }
  const value = from[name];
  if (rest.length === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    into[name] = value;
    return;
  }
  const inside = Object.hasOwn(into, name) ? { ...(into[name] as Json) } : {};
  copy(value as Json, inside, rest);
  into[name] = inside;
}

function remove(from: Json, path: string, include: readonly string[]): void {
  const parts = split(from, path);
  let holder: Json | undefined = from;
  for (const part of parts.slice(0, -1)) {
    const next: unknown = Object.hasOwn(holder, part) ? holder[part] : undefined;
    if (typeof next !== "object" || next === null) {
      return;
    }
    holder = next as Json;
  }
  const last = parts.at(-1) ?? "";
  const deeper = include.filter((name) => name.startsWith(`${path}.`));
  if (deeper.length === 0) {
    Reflect.deleteProperty(holder, last);
  } else if (Object.hasOwn(holder, last)) {
    (holder as Record<string, unknown>)[last] = pick(
      holder[last] as Json,
      deeper.map((name) => name.slice(path.length + 1)),
    );
  }
}

/** Names of properties are known without `properties.` as well. */
function split(item: Json, path: string): readonly string[] {
  const parts = path.split(".");
  const [first = ""] = parts;
  const properties = item["properties"];
  const isProperty =
    !Object.hasOwn(item, first) &&
    typeof properties === "object" &&
    properties !== null &&
    Object.hasOwn(properties, first);
  return isProperty ? ["properties", ...parts] : parts;
}
