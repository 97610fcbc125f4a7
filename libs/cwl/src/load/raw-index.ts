import { isObject } from "../model/values.ts";

export type RawObject = { readonly [key: string]: unknown };

const definedTypes = new Set<unknown>(["record", "enum", "array", "union", "map"]);

/** Processes by the fragment of their id. What imports share is looked at once. */
export function indexIds(root: unknown): Map<string, RawObject> {
  return collect(root, (item) => (typeof item["class"] === "string" ? item["id"] : undefined));
}

const typeIndexes = new WeakMap<object, Map<string, RawObject>>();
const idIndexes = new WeakMap<object, Map<string, RawObject>>();

/** What a fragment names: a process by its id, or a type by its name. */
export function findById(root: unknown, fragment: string): RawObject | undefined {
  if (typeof root !== "object" || root === null) {
    return undefined;
  }
  return (
    remembered(idIndexes, root, () => indexIds(root)).get(fragment) ??
    remembered(typeIndexes, root, () => indexTypes(root)).get(fragment)
  );
}

function remembered<T>(cache: WeakMap<object, T>, key: object, make: () => T): T {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    cache.set(key, value);
  }
  return value;
}

/** Schema-defined types by the fragment of their name, or of an id that a packed document gave them. */
function indexTypes(root: unknown): Map<string, RawObject> {
  const names = collect(root, (item) => (definedTypes.has(item["type"]) ? item["name"] : undefined));
  for (const [id, item] of collect(root, (entry) => (entry["class"] === undefined ? entry["id"] : undefined))) {
    if (!names.has(id)) {
      names.set(id, item);
    }
  }
  return names;
}

function collect(root: unknown, keyOf: (item: RawObject) => unknown): Map<string, RawObject> {
  const index = new Map<string, RawObject>();
  const seen = new Set<object>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) {
      return;
    }
    seen.add(value);
    if (isObject(value)) {
      const key = keyOf(value);
      if (typeof key === "string" && !index.has(idFragment(key))) {
        index.set(idFragment(key), value);
      }
    }
    for (const item of Object.values(value)) {
      visit(item);
    }
  };
  visit(root);
  return index;
}

function idFragment(id: string): string {
  const hash = id.indexOf("#");
  return hash === -1 ? id : id.slice(hash + 1);
}
