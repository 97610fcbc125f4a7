/**
 * A path pattern of a protected resource.
 *
 * - `/a/b` matches that path only, with or without one trailing slash
 * - `/a/*` matches everything below `/a/`, and `/a` and `/a/` themselves
 * - `/a/{id}/b`, or a lone asterisk in the middle: exactly one segment of any text
 * - `/a/*.xml`: any path below `/a/`, at any depth, that ends in `.xml`
 * - `/a/b*`: `/a/b` and every path that starts with that text
 *
 * Segments are compared as they are after the caller made the path canonical; letter case counts.
 */
export interface UriPattern {
  readonly source: string;
  readonly segments: readonly Segment[];
}

type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "any" }
  /** Last segment only: the rest of the path, ending in this text. */
  | { readonly kind: "suffix"; readonly text: string }
  /** Last segment only: the rest of the path, beginning with this text. */
  | { readonly kind: "prefix"; readonly text: string }
  /** Last segment only: nothing, or any rest. */
  | { readonly kind: "rest" };

/** Reads a pattern; a missing leading slash is added. */
export function compileUriPattern(source: string): UriPattern {
  const parts = splitPath(source.startsWith("/") ? source : `/${source}`);
  const segments = parts.map((part, index): Segment => {
    const last = index === parts.length - 1;
    if (part === "*") {
      return last ? { kind: "rest" } : { kind: "any" };
    }
    if (/^\{[^{}]*\}$/.test(part)) {
      return { kind: "any" };
    }
    if (last && part.startsWith("*.")) {
      return { kind: "suffix", text: part.slice(1) };
    }
    if (last && part.endsWith("*")) {
      return { kind: "prefix", text: part.slice(0, -1) };
    }
    return { kind: "literal", text: part };
  });
  return { source, segments };
}

/** Patterns with their owners, arranged so that a look-up costs the length of the path and not the number of patterns. */
export interface UriIndex<T> {
  /** Owners of the most specific pattern that matches; several when they have the same pattern. */
  readonly find: (path: string) => readonly T[];
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  any?: Node<T>;
  readonly suffixes: Map<string, T[]>;
  readonly prefixes: Map<string, T[]>;
  rest: T[];
  here: T[];
}

/** Builds the index. The same owner may have several patterns. */
export function createUriIndex<T>(entries: Iterable<readonly [pattern: string, owner: T]>): UriIndex<T> {
  const root = createNode<T>();
  for (const [source, owner] of entries) {
    insert(root, compileUriPattern(source).segments, owner);
  }
  return { find: (path) => find(root, splitPath(path), 0) ?? [] };
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), suffixes: new Map(), prefixes: new Map(), rest: [], here: [] };
}

function insert<T>(root: Node<T>, segments: readonly Segment[], owner: T): void {
  let node = root;
  for (const segment of segments) {
    switch (segment.kind) {
      case "literal": {
        const next = node.literals.get(segment.text) ?? createNode<T>();
        node.literals.set(segment.text, next);
        node = next;
        break;
      }
      case "any":
        node.any ??= createNode<T>();
        node = node.any;
        break;
      case "suffix":
        addOnce(node.suffixes.get(segment.text) ?? setNew(node.suffixes, segment.text), owner);
        return;
      case "prefix":
        addOnce(node.prefixes.get(segment.text) ?? setNew(node.prefixes, segment.text), owner);
        return;
      case "rest":
        addOnce(node.rest, owner);
        return;
    }
  }
  addOnce(node.here, owner);
}

function setNew<T>(map: Map<string, T[]>, key: string): T[] {
  const list: T[] = [];
  map.set(key, list);
  return list;
}

function addOnce<T>(list: T[], owner: T): void {
  if (!list.includes(owner)) {
    list.push(owner);
  }
}

/** Most specific first at every segment: literal, one segment of any text, prefix, suffix, rest. */
function find<T>(node: Node<T>, parts: readonly string[], at: number): readonly T[] | undefined {
  const part = parts[at];
  const last = parts.at(-1) ?? "";
  if (part === undefined) {
    return node.here.length > 0 ? node.here : node.rest.length > 0 ? node.rest : undefined;
  }
  const literal = node.literals.get(part);
  const deeper =
    (literal && find(literal, parts, at + 1)) ?? (node.any !== undefined ? find(node.any, parts, at + 1) : undefined);
  return (
    deeper ??
    findLongest(node.prefixes, (text) => part.startsWith(text)) ??
    findLongest(node.suffixes, (text) => last.endsWith(text) && last.length > text.length) ??
    (node.rest.length > 0 ? node.rest : undefined)
  );
}

function findLongest<T>(
  lists: ReadonlyMap<string, readonly T[]>,
  matches: (text: string) => boolean,
): readonly T[] | undefined {
  let best: string | undefined;
  for (const text of lists.keys()) {
    if (matches(text) && text.length > (best?.length ?? -1)) {
      best = text;
    }
  }
  return best === undefined ? undefined : lists.get(best);
}

/** `/a/b/` and `/a/b` are the same two segments. */
function splitPath(path: string): readonly string[] {
  const parts = path.split("/").slice(1);
  if (parts.at(-1) === "") {
    parts.pop();
  }
  return parts;
}
