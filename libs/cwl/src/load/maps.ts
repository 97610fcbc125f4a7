import { isObject } from "../model/values.ts";
import { describe, join } from "./fields.ts";
import { deriveOrigin } from "./origin.ts";
import { report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { shortName } from "./uri.ts";

export type RawObject = { readonly [key: string]: unknown };

export interface NamedObject {
  readonly name: string;
  readonly object: RawObject;
  readonly path: string;
}

/**
 * Schema salad's idMap: a list of objects that carry their name in `subject`, or a map from name to object. In a map a
 * value that is no object stands for the field `predicate`. Problems with the form are reported, names made unique.
 */
export function namedObjects(
  scope: Scope,
  holder: RawObject,
  member: string,
  options: { subject: string; predicate?: string; path: string; keepName?: boolean },
): NamedObject[] {
  const raw = holder[member];
  const path = join(options.path, member);
  const result: NamedObject[] = [];
  const seen = new Set<string>();
  const add = (name: string, object: RawObject): void => {
    const short = options.keepName === true ? name : shortName(name);
    if (seen.has(short)) {
      report(scope, object, undefined, `"${short}" is there twice in ${member}`, { path });
      return;
    }
    seen.add(short);
    result.push({ name: short, object, path: join(path, short) });
  };
  if (Array.isArray(raw)) {
    for (const [index, item] of (raw as unknown[]).entries()) {
      if (!isObject(item)) {
        report(scope, raw, index, `an entry of ${member} is ${describe(item)}`, { path, hint: "expected an object" });
      } else if (typeof item[options.subject] !== "string") {
        report(scope, item, undefined, `an entry of ${member} has no "${options.subject}"`, {
          path: `${path}[${index}]`,
        });
      } else {
        add(item[options.subject] as string, item);
      }
    }
  } else if (isObject(raw)) {
    for (const [key, value] of Object.entries(raw)) {
      if (isObject(value)) {
        add(key, deriveOrigin({ ...value, [options.subject]: key }, value));
      } else if (options.predicate !== undefined) {
        const object = { [options.subject]: key, [options.predicate]: value };
        add(key, deriveOrigin(object, raw));
      } else if (value === null) {
        add(key, deriveOrigin({ [options.subject]: key }, raw));
      } else {
        report(scope, raw, key, `"${key}" is ${describe(value)}`, { path, hint: "expected an object" });
      }
    }
  }
  return result;
}

/** A field that may be one thing or a list of things. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : value === undefined || value === null ? [] : [value];
}

export function asStrings(value: unknown): readonly string[] {
  return asList(value).filter((item): item is string => typeof item === "string");
}

export function asText(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return asStrings(value).join("\n");
  }
  return typeof value === "string" ? value : undefined;
}

/** A string that may hold expressions; numbers and booleans that YAML made of it count as their text. */
export function asExpression(value: unknown): string | undefined {
  return typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean" || typeof value === "bigint"
      ? String(value)
      : undefined;
}
