import { ProductError } from "../errors.ts";
import { type XmlNode, parseXml } from "../xml.ts";

/** Fields of a Landsat MTL file by group; groups of Collection 1 and 2 alike. */
export interface Mtl {
  /** The value of a field, in the first of the groups that has it, or in any group when none is named. */
  readonly get: (field: string, ...groups: readonly string[]) => string | undefined;
  readonly number: (field: string, ...groups: readonly string[]) => number | undefined;
  /** Fields that begin so, in the order of the file, each once. */
  readonly fields: (prefix: string) => readonly (readonly [string, string])[];
}

const MAX_MTL_BYTES = 2 ** 20;

/** Reads MTL as text (ODL), XML or JSON. @throws {ProductError} */
export async function parseMtl(bytes: Buffer, path: string): Promise<Mtl> {
  if (bytes.length > MAX_MTL_BYTES) {
    throw new ProductError(`${path} has more than ${MAX_MTL_BYTES} bytes.`);
  }
  const groups = /\.json$/i.test(path)
    ? fromTree(parseJson(bytes, path))
    : /\.xml$/i.test(path)
      ? fromTree(await parseXml(bytes, path))
      : fromText(bytes.toString("utf8"));
  if (groups.size === 0) {
    throw new ProductError(`${path} has no groups of fields; it is no MTL file.`);
  }
  const get = (field: string, ...requested: readonly string[]): string | undefined => {
    for (const name of requested.length === 0 ? groups.keys() : requested) {
      const value = groups.get(name)?.get(field);
      if (value !== undefined) {
        return value;
      }
    }
    return undefined;
  };
  return {
    get,
    number: (field, ...requested) => {
      const value = Number(get(field, ...requested) ?? Number.NaN);
      return Number.isFinite(value) ? value : undefined;
    },
    fields: (prefix) => {
      const found = new Map<string, string>();
      for (const [group, fields] of groups) {
        for (const [name, value] of fields) {
          // Level-2 files also list what they were made of.
          if (!group.startsWith("LEVEL1_") && name.startsWith(prefix) && !found.has(name)) {
            found.set(name, value);
          }
        }
      }
      return [...found];
    },
  };
}

type Groups = Map<string, Map<string, string>>;

function fromText(text: string): Groups {
  const groups: Groups = new Map();
  const open: string[] = [];
  // Lists go on over several lines.
  for (const line of text.replaceAll(/,\s*\n\s*/g, ", ").split(/\r?\n/)) {
    const [, name = "", raw = ""] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "GROUP") {
      open.push(raw);
    } else if (name === "END_GROUP") {
      open.pop();
    } else if (name !== "" && open.length > 0) {
      put(groups, open.at(-1) ?? "", name, raw.replace(/^"(.*)"$/, "$1"));
    }
  }
  return groups;
}

function fromTree(tree: unknown): Groups {
  const groups: Groups = new Map();
  const visit = (node: object, group: string): void => {
    for (const [name, value] of Object.entries(node as XmlNode)) {
      if (typeof value === "string" || typeof value === "number") {
        put(groups, group, name, String(value));
      } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        visit(value, name);
      }
    }
  };
  visit((tree ?? {}) as object, "");
  return groups;
}

function put(groups: Groups, group: string, name: string, value: string): void {
  const fields = groups.get(group) ?? new Map<string, string>();
  groups.set(group, fields);
  if (!fields.has(name)) {
    fields.set(name, value);
  }
}

function parseJson(bytes: Buffer, path: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new ProductError(`${path} is not valid JSON: ${(cause as Error).message}.`, { cause });
  }
}
