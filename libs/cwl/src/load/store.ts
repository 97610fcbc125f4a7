import { CwlError } from "../errors.ts";
import { isObject } from "../model/values.ts";
import type { Fetcher } from "./fetcher.ts";
import { readDocumentText } from "./fetcher.ts";
import { baseOf, deriveOrigin, placeOf, problemAt, setOrigin } from "./origin.ts";
import { fragmentOf, resolveReference, withoutFragment } from "./uri.ts";
import { defaultParseLimits, parseYaml } from "./yaml.ts";
import type { ParseLimits } from "./yaml.ts";

export interface LoadOptions {
  readonly fetcher?: Fetcher | undefined;
  /** Whether `file:` references are followed (default true). A server that takes documents from strangers says no. */
  readonly localFiles?: boolean | undefined;
  readonly limits?: Partial<ParseLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A file with every `$import`, `$include` and `$mixin` replaced by what it names. */
export interface RawDocument {
  readonly uri: string;
  readonly root: unknown;
  readonly namespaces: { readonly [prefix: string]: string };
  readonly schemas: readonly string[];
  readonly version: string | undefined;
  /** Objects by the fragment of their id. */
  readonly index: ReadonlyMap<string, { readonly [key: string]: unknown }>;
}

const maximumImports = 1000;

/** Reads each file once and resolves the directives in it. */
export class DocumentStore {
  private readonly options: LoadOptions;
  private readonly limits: ParseLimits;
  private readonly documents = new Map<string, Promise<RawDocument>>();
  private readonly texts = new Map<string, string>();
  private imports = 0;

  constructor(options: LoadOptions = {}) {
    this.options = options;
    this.limits = { ...defaultParseLimits, ...options.limits };
  }

  /** Gives the store a text that no fetch can find, such as the body of a request. */
  addText(uri: string, text: string): void {
    this.texts.set(uri, text);
  }

  load(uri: string): Promise<RawDocument> {
    const key = withoutFragment(uri);
    let document = this.documents.get(key);
    if (document === undefined) {
      document = this.read(key);
      this.documents.set(key, document);
    }
    return document;
  }

  /** URIs of the files read so far. */
  loaded(): readonly string[] {
    return [...this.documents.keys()];
  }

  private async read(uri: string): Promise<RawDocument> {
    const root = await this.resolve(await this.parse(uri), [uri]);
    const header = isObject(root) ? root : {};
    const namespaces = isObject(header["$namespaces"]) ? header["$namespaces"] : {};
    const schemas = Array.isArray(header["$schemas"]) ? (header["$schemas"] as unknown[]) : [];
    const index = new Map<string, { readonly [key: string]: unknown }>();
    indexIds(root, index);
    return {
      uri,
      root,
      namespaces: Object.fromEntries(
        Object.entries(namespaces).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      ),
      schemas: schemas.filter((item) => typeof item === "string").map((item) => resolveReference(item, uri)),
      version: typeof header["cwlVersion"] === "string" ? header["cwlVersion"] : undefined,
      index,
    };
  }

  private async text(uri: string): Promise<string> {
    return (
      this.texts.get(uri) ??
      (await readDocumentText(uri, {
        fetcher: this.options.fetcher,
        limit: this.limits.documentBytes,
        localFiles: this.options.localFiles ?? true,
        signal: this.options.signal,
      }))
    );
  }

  private async parse(uri: string): Promise<unknown> {
    return parseYaml({ uri, text: await this.text(uri) }, this.limits);
  }

  private async resolve(value: unknown, stack: readonly string[]): Promise<unknown> {
    if (Array.isArray(value)) {
      return hasDirective(value) ? await this.resolveList(value, stack) : value;
    }
    if (!isObject(value) || !hasDirective(value)) {
      return value;
    }
    for (const directive of ["$import", "$include", "$mixin"] as const) {
      if (directive in value) {
        return await this.follow(directive, value, stack);
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      result[key] = await this.resolve(item, stack);
    }
    return deriveOrigin(result, value);
  }

  private async resolveList(list: readonly unknown[], stack: readonly string[]): Promise<unknown[]> {
    const result: unknown[] = [];
    for (const item of list) {
      const resolved = await this.resolve(item, stack);
      // An import inside a list that yields a list is spliced in, as schema salad asks.
      if (isObject(item) && "$import" in item && Array.isArray(resolved)) {
        result.push(...(resolved as unknown[]));
      } else {
        result.push(resolved);
      }
    }
    return deriveOrigin(result, list);
  }

  private async follow(
    directive: "$import" | "$include" | "$mixin",
    value: { readonly [key: string]: unknown },
    stack: readonly string[],
  ): Promise<unknown> {
    const reference = value[directive];
    if (typeof reference !== "string") {
      throw new CwlError("invalid-document", [problemAt(value, directive, `${directive} must be a string`)]);
    }
    const target = resolveReference(reference, baseOf(value) ?? stack.at(-1) ?? "file:///");
    const uri = withoutFragment(target);
    this.imports += 1;
    if (this.imports > maximumImports) {
      throw new CwlError("limit", [problemAt(value, directive, `more than ${maximumImports} imports`)]);
    }
    if (directive === "$include") {
      return await this.at(value, directive, () => this.text(uri));
    }
    if (stack.includes(uri) && fragmentOf(target) === "") {
      const circle = [...stack.slice(stack.indexOf(uri)), uri].join(" → ");
      throw new CwlError("invalid-document", [problemAt(value, directive, `these files import each other: ${circle}`)]);
    }
    const parsed = await this.at(value, directive, () => this.parse(uri));
    const fragment = fragmentOf(target);
    const loaded = await this.resolve(parsed, [...stack, uri]);
    const wanted = fragment === "" ? loaded : findById(loaded, fragment);
    if (wanted === undefined) {
      throw new CwlError("invalid-document", [
        problemAt(value, directive, `${uri} holds nothing with id #${fragment}`),
      ]);
    }
    if (directive === "$import") {
      return wanted;
    }
    if (!isObject(wanted)) {
      throw new CwlError("invalid-document", [problemAt(value, directive, `${target} is not an object to mix in`)]);
    }
    const { $mixin: _reference, ...overrides } = value;
    return deriveOrigin({ ...wanted, ...overrides }, wanted);
  }

  /** Adds the place of a reference to a failure to follow it. */
  private async at<T>(value: object, member: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      const place = placeOf(value, member);
      const first = error instanceof CwlError ? error.problems[0] : undefined;
      if (error instanceof CwlError && first !== undefined && first.line === undefined && place !== undefined) {
        throw new CwlError(error.code, [{ ...first, ...place }], { cause: error });
      }
      throw error;
    }
  }
}

function hasDirective(value: unknown): boolean {
  if (Array.isArray(value)) {
    return value.some(hasDirective);
  }
  return (
    isObject(value) &&
    ("$import" in value || "$include" in value || "$mixin" in value || Object.values(value).some(hasDirective))
  );
}

function findById(root: unknown, fragment: string): unknown {
  const index = new Map<string, { readonly [key: string]: unknown }>();
  indexIds(root, index);
  if (index.has(fragment)) {
    return index.get(fragment);
  }
  // Schema-defined types have names, not ids.
  const named = Array.isArray(root) ? root : [root];
  return named.find(
    (item) => isObject(item) && typeof item["name"] === "string" && idFragment(item["name"]) === fragment,
  );
}

function idFragment(id: string): string {
  const hash = id.indexOf("#");
  return hash === -1 ? id : id.slice(hash + 1);
}

function indexIds(value: unknown, index: Map<string, { readonly [key: string]: unknown }>): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      indexIds(item, index);
    }
  } else if (isObject(value)) {
    const id = value["id"];
    if (typeof id === "string" && typeof value["class"] === "string" && !index.has(idFragment(id))) {
      index.set(idFragment(id), value);
    }
    for (const item of Object.values(value)) {
      indexIds(item, index);
    }
  }
}

/** A synthetic list or object that stands at the place of another. */
export function standIn<T extends object>(value: T, uri: string): T {
  setOrigin(value, { uri, text: "" }, 0);
  return value;
}
