import { CwlError } from "../errors.ts";
import { isObject } from "../model/values.ts";
import { Budget, defaultLoadLimits } from "./budget.ts";
import type { LoadLimits } from "./budget.ts";
import type { Fetcher } from "./fetcher.ts";
import { readDocumentText } from "./fetcher.ts";
import { baseOf, deriveOrigin, locationOf, problemAt } from "./origin.ts";
import { findById, indexIds } from "./raw-index.ts";
import type { RawObject } from "./raw-index.ts";
import { measure } from "./tree-size.ts";
import { filePath, fragmentOf, resolveReference, withoutFragment } from "./uri.ts";
import { parseText } from "./yaml.ts";

export interface LoadOptions {
  readonly fetcher?: Fetcher | undefined;
  /** Whether `file:` references are followed (default true). A server that takes documents from strangers says no. */
  readonly localFiles?: boolean | undefined;
  readonly limits?: Partial<LoadLimits> | undefined;
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
  readonly index: ReadonlyMap<string, RawObject>;
}

/** Imports that lead to each other without a circle: deeper than anybody writes them. */
const MAX_IMPORT_DEPTH = 100;

/** Reads each file once and resolves each directive in it once. */
export class DocumentStore {
  readonly budget: Budget;
  private readonly options: LoadOptions;
  private readonly limits: LoadLimits;
  private readonly documents = new Map<string, Promise<RawDocument>>();
  private readonly texts = new Map<string, string>();
  private readonly parsed = new Map<string, Promise<unknown>>();
  /** Files, and objects inside files by their fragment, with directives resolved. */
  private readonly resolved = new Map<string, Promise<unknown>>();
  private readonly directives = new WeakMap<object, boolean>();

  constructor(options: LoadOptions = {}) {
    this.options = options;
    this.limits = { ...defaultLoadLimits, ...options.limits };
    this.budget = new Budget(this.limits);
  }

  /** Gives the store a text that no fetch can find, such as the body of a request. */
  addText(uri: string, text: string): void {
    this.texts.set(uri, text);
  }

  load(uri: string): Promise<RawDocument> {
    const key = withoutFragment(uri);
    let document = this.documents.get(key);
    if (document === undefined) {
      document = this.open(key);
      this.documents.set(key, document);
    }
    return document;
  }

  /** URIs of all files read so far, imported and included ones too. */
  read(): readonly string[] {
    return [...new Set([...this.documents.keys(), ...this.texts.keys()])];
  }

  /** URIs of the documents read so far. */
  loaded(): readonly string[] {
    return [...this.documents.keys()];
  }

  private async open(uri: string): Promise<RawDocument> {
    const root = await this.resolveTarget(uri, []);
    const { nodes, depth } = measure(root);
    this.budget.takeNodes(nodes, uri);
    if (depth > this.limits.depth) {
      throw new CwlError(
        "limit",
        `${uri}: with its imports the document is nested deeper than ${this.limits.depth} levels`,
      );
    }
    const header = isObject(root) ? root : {};
    const namespaces = header["$namespaces"] ?? {};
    if (!isObject(namespaces) || header["$namespaces"] === null) {
      const hint = "write {prefix: address, …}, or leave it out";
      throw new CwlError("invalid-document", [
        problemAt(header, "$namespaces", "$namespaces must be an object from prefixes to addresses", { hint }),
      ]);
    }
    const schemas = Array.isArray(header["$schemas"]) ? (header["$schemas"] as unknown[]) : [];
    return {
      uri,
      root,
      namespaces: Object.fromEntries(
        Object.entries(namespaces).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      ),
      schemas: schemas.filter((item) => typeof item === "string").map((item) => resolveReference(item, uri)),
      version: typeof header["cwlVersion"] === "string" ? header["cwlVersion"] : undefined,
      index: indexIds(root),
    };
  }

  private async text(uri: string): Promise<string> {
    const known = this.texts.get(uri);
    if (known !== undefined) {
      return known;
    }
    this.budget.takeDocument(uri);
    const text = await readDocumentText(uri, {
      fetcher: this.options.fetcher,
      limit: this.limits.documentBytes,
      localFiles: this.options.localFiles ?? true,
      signal: this.options.signal,
    });
    this.budget.takeText(text, uri);
    this.texts.set(uri, text);
    return text;
  }

  private parse(uri: string): Promise<unknown> {
    let parsed = this.parsed.get(uri);
    if (parsed === undefined) {
      parsed = this.parseNow(uri);
      this.parsed.set(uri, parsed);
    }
    return parsed;
  }

  private async parseNow(uri: string): Promise<unknown> {
    const text = await this.text(uri);
    await this.budget.pause(uri);
    const { value } = parseText({ uri, text }, this.limits);
    await this.budget.pause(uri);
    return value;
  }

  /** What a URI names, resolved once however often it is referred to. `stack` holds what is being resolved around it. */
  private resolveTarget(target: string, stack: readonly string[]): Promise<unknown> {
    let resolved = this.resolved.get(target);
    if (resolved === undefined) {
      resolved = this.resolveNow(target, [...stack, target]);
      this.resolved.set(target, resolved);
    }
    return resolved;
  }

  private async resolveNow(target: string, stack: readonly string[]): Promise<unknown> {
    const uri = withoutFragment(target);
    const fragment = fragmentOf(target);
    const parsed = await this.parse(uri);
    if (fragment === "") {
      return await this.resolve(parsed, stack);
    }
    const raw = findById(parsed, fragment);
    if (raw !== undefined) {
      return await this.resolve(raw, stack);
    }
    // It may be in something that the file itself imports.
    return stack.includes(uri) ? undefined : findById(await this.resolveTarget(uri, stack), fragment);
  }

  private async resolve(value: unknown, stack: readonly string[]): Promise<unknown> {
    if (!this.hasDirective(value)) {
      return value;
    }
    if (Array.isArray(value)) {
      return await this.resolveList(value, stack);
    }
    const object = value as RawObject;
    for (const directive of ["$import", "$include", "$mixin"] as const) {
      if (directive in object) {
        return await this.follow(directive, object, stack);
      }
    }
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(object)) {
      result[key] = await this.resolve(item, stack);
    }
    return deriveOrigin(result, object);
  }

  private async resolveList(list: readonly unknown[], stack: readonly string[]): Promise<unknown[]> {
    const result: unknown[] = [];
    for (const item of list) {
      const resolved = await this.resolve(item, stack);
      // An import inside a list that yields a list is spliced in, as schema salad asks.
      if (isObject(item) && "$import" in item && Array.isArray(resolved)) {
        for (const entry of resolved as unknown[]) {
          result.push(entry);
        }
        this.budget.takeNodes(resolved.length, stack[0] ?? "");
      } else {
        result.push(resolved);
      }
    }
    return deriveOrigin(result, list);
  }

  private async follow(
    directive: "$import" | "$include" | "$mixin",
    value: RawObject,
    stack: readonly string[],
  ): Promise<unknown> {
    const reference = value[directive];
    if (typeof reference !== "string") {
      throw new CwlError("invalid-document", [problemAt(value, directive, `${directive} must be a string`)]);
    }
    const from = baseOf(value) ?? stack.at(-1) ?? "file:///";
    const target = resolveReference(reference, from);
    const uri = withoutFragment(target);
    this.checkOrigin(uri, from, value, directive);
    if (directive === "$include") {
      return await this.at(value, directive, () => this.text(uri));
    }
    if (stack.includes(target)) {
      const circle = [...stack.slice(stack.indexOf(target)), target].join(" → ");
      throw new CwlError("invalid-document", [problemAt(value, directive, `these import each other: ${circle}`)]);
    }
    if (stack.length > MAX_IMPORT_DEPTH) {
      throw new CwlError("limit", [problemAt(value, directive, `more than ${MAX_IMPORT_DEPTH} imports in each other`)]);
    }
    await this.budget.pause(uri);
    const requested = await this.at(value, directive, () => this.resolveTarget(target, stack));
    if (requested === undefined) {
      throw new CwlError("invalid-document", [
        problemAt(value, directive, `${uri} holds nothing with id #${fragmentOf(target)}`),
      ]);
    }
    if (directive === "$import") {
      return requested;
    }
    if (!isObject(requested)) {
      throw new CwlError("invalid-document", [problemAt(value, directive, `${target} is not an object to mix in`)]);
    }
    const { $mixin: _reference, ...overrides } = value;
    return deriveOrigin({ ...requested, ...overrides }, requested);
  }

  /** A document from elsewhere has no business with the files of this machine. */
  private checkOrigin(uri: string, from: string, value: RawObject, directive: string): void {
    if (filePath(uri) !== undefined && filePath(from) === undefined) {
      throw new CwlError("unsafe", [
        problemAt(value, directive, `${from} comes from elsewhere and cannot refer to the local file ${uri}`),
      ]);
    }
  }

  private hasDirective(value: unknown): boolean {
    if (typeof value !== "object" || value === null) {
      return false;
    }
    let has = this.directives.get(value);
    if (has === undefined) {
      has =
        (!Array.isArray(value) && ("$import" in value || "$include" in value || "$mixin" in value)) ||
        Object.values(value).some((item) => this.hasDirective(item));
      this.directives.set(value, has);
    }
    return has;
  }

  /** Adds the place of a reference to a failure to follow it. */
  private async at<T>(value: object, member: string, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      const location = locationOf(value, member);
      const first = error instanceof CwlError ? error.problems[0] : undefined;
      if (error instanceof CwlError && first !== undefined && first.line === undefined && location !== undefined) {
        throw new CwlError(error.code, [{ ...first, ...location }], { cause: error });
      }
      throw error;
    }
  }
}
