/** Values that inputs, outputs and expressions carry: JSON plus 64-bit integers. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | FileValue
  | DirectoryValue
  | ValueObject;

export interface ValueObject {
  readonly [key: string]: Value | undefined;
}

/** A CWL File. `location` is a URI; `path` exists only for the tool that it is staged for. */
export interface FileValue {
  readonly class: "File";
  readonly location?: string | undefined;
  readonly path?: string | undefined;
  readonly basename?: string | undefined;
  readonly dirname?: string | undefined;
  readonly nameroot?: string | undefined;
  readonly nameext?: string | undefined;
  readonly checksum?: string | undefined;
  readonly size?: number | undefined;
  readonly secondaryFiles?: readonly FileOrDirectory[] | undefined;
  readonly format?: string | undefined;
  readonly contents?: string | undefined;
  readonly [key: string]: Value | undefined;
}

/** A CWL Directory; without `location` it is a literal and `listing` says what is in it. */
export interface DirectoryValue {
  readonly class: "Directory";
  readonly location?: string | undefined;
  readonly path?: string | undefined;
  readonly basename?: string | undefined;
  readonly listing?: readonly FileOrDirectory[] | undefined;
  readonly [key: string]: Value | undefined;
}

export type FileOrDirectory = FileValue | DirectoryValue;

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isFile(value: unknown): value is FileValue {
  return isObject(value) && value["class"] === "File";
}

export function isDirectory(value: unknown): value is DirectoryValue {
  return isObject(value) && value["class"] === "Directory";
}

export function isFileOrDirectory(value: unknown): value is FileOrDirectory {
  return isFile(value) || isDirectory(value);
}

/** JSON text of a value; integers beyond 2^53 keep every digit, `undefined` members are left out. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, item: unknown) => (typeof item === "bigint" ? rawJson(String(item)) : item),
    indent,
  );
}

function rawJson(text: string): unknown {
  // Not yet in the type library of the language level we compile for; every supported Node has it.
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(text);
}

/** Calls `change` on every File and Directory in a value, outermost first, and returns the changed copy. */
export function mapFiles(value: Value, change: (item: FileOrDirectory) => FileOrDirectory): Value {
  if (isFileOrDirectory(value)) {
    return change(value);
  }
  if (Array.isArray(value)) {
    const items = value as readonly Value[];
    return items.map((item) => mapFiles(item, change));
  }
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        item === undefined ? undefined : mapFiles(item as Value, change),
      ]),
    );
  }
  return value;
}

/** The same for a change that has to wait for something; items are visited one after the other. */
export async function mapFilesAsync(
  value: Value,
  change: (item: FileOrDirectory) => Promise<FileOrDirectory>,
): Promise<Value> {
  if (isFileOrDirectory(value)) {
    return await change(value);
  }
  if (Array.isArray(value)) {
    const result: Value[] = [];
    for (const item of value as readonly Value[]) {
      result.push(needsVisit(item) ? await mapFilesAsync(item, change) : item);
    }
    return result;
  }
  if (isObject(value)) {
    const result: Record<string, Value | undefined> = {};
    for (const [key, item] of Object.entries(value)) {
      result[key] = needsVisit(item) ? await mapFilesAsync(item as Value, change) : (item as Value);
    }
    return result;
  }
  return value;
}

function needsVisit(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Every File and Directory in a value, outermost only (not secondary files or listings). */
export function* filesIn(value: unknown): Generator<FileOrDirectory> {
  if (isFileOrDirectory(value)) {
    yield value;
  } else if (Array.isArray(value)) {
    for (const item of value) {
      yield* filesIn(item);
    }
  } else if (isObject(value)) {
    for (const item of Object.values(value)) {
      yield* filesIn(item);
    }
  }
}
