import { StacError } from "./errors.ts";
import { findLink, resolveHref } from "./links.ts";
import { isStac, parseStac } from "./read.ts";
import type { StacCatalog, StacCollection, StacItem, StacItemCollection, StacObject } from "./types.ts";

/** An item with the address that its relative links start from. */
export interface FoundItem {
  readonly item: StacItem;
  readonly href: string;
  /** Address of the document that it was read from, whatever the item says of itself. */
  readonly document: string;
}

export interface WalkOptions {
  /**
   * Reads the JSON document at an absolute address that the document `from` links to with the relation `rel` (item, child, items, next). The
   * answer's `href` is its address after redirects.
   */
  readonly read: (
    href: string,
    from: string,
    rel: string,
  ) => Promise<{ readonly value: unknown; readonly href: string }>;
  /** Catalogues, collections, items and pages that are read at most (10,000). */
  readonly maxDocuments?: number;
  /** Catalogues inside each other (32). */
  readonly maxDepth?: number;
  /** Documents of a catalogue that are read at the same time (4). They come in the catalogue's order all the same. */
  readonly parallel?: number;
  /** Told of every collection on the way. */
  readonly onCollection?: (collection: StacCollection, href: string) => void;
  /** Told of a catalogue that lies too deep, which is then left out; without it the walk ends with an error. */
  readonly onTooDeep?: (error: StacError) => void;
}

/**
 * Every item of a STAC object: of an item itself, of an item collection and its further pages (`next`, GET), of a catalogue
 * and its children. A document is read once, however often it is linked, so circles end. Stop early by leaving the loop.
 * @param start a document that was read already
 * @throws {StacError} for documents that are not STAC and catalogues beyond the bounds; and what `read` throws
 */
export async function* walkItems(
  start: { readonly value: unknown; readonly href: string },
  options: WalkOptions,
): AsyncGenerator<FoundItem> {
  const { maxDocuments = 10_000, maxDepth = 32, parallel = 4 } = options;
  const seen = new Set<string>([withoutFragment(start.href)]);
  const open = async (href: string, from: string, rel: string) => {
    if (seen.size > maxDocuments) {
      throw new StacError(start.href, `leads to more than ${maxDocuments} documents; name a smaller part of it`);
    }
    const document = await options.read(href, from, rel);
    seen.add(withoutFragment(document.href));
    return { object: parseStac(document.value, document.href), href: document.href };
  };
  const isNew = (href: string): boolean => {
    const key = withoutFragment(href);
    return !seen.has(key) && seen.add(key) !== undefined;
  };

  async function* visit(object: StacObject, href: string, depth: number): AsyncGenerator<FoundItem> {
    switch (object.type) {
      case "Feature":
        yield { item: object, href, document: href };
        return;
      case "FeatureCollection":
        yield* visitPages(object, href);
        return;
      case "Catalog":
      case "Collection":
        if (depth > maxDepth) {
          const error = new StacError(href, `lies more than ${maxDepth} catalogues deep in ${start.href}`);
          if (options.onTooDeep === undefined) {
            throw error;
          }
          options.onTooDeep(error);
          return;
        }
        yield* visitCatalog(object, href, depth);
    }
  }

  async function* visitPages(first: StacItemCollection, firstHref: string): AsyncGenerator<FoundItem> {
    let [page, href] = [first, firstHref];
    for (;;) {
      for (const item of page.features) {
        const self = findLink(item.links, "self");
        yield { item, href: self === undefined ? href : resolveHref(self.href, href), document: href };
      }
      const next = findLink(page.links, "next");
      if (next === undefined || page.features.length === 0) {
        return;
      }
      if (next["method"] !== undefined && next["method"] !== "GET") {
        throw new StacError(href, "continues by POST only; use the address of a search by GET (?collections=…&bbox=…)");
      }
      const target = resolveHref(next.href, href);
      if (!isNew(target)) {
        throw new StacError(href, `its next page (${target}) was read before: the search never ends`);
      }
      const opened = await open(target, href, "next");
      if (opened.object.type !== "FeatureCollection") {
        throw new StacError(opened.href, `is the next page of ${href}, but a ${opened.object.type}`);
      }
      [page, href] = [opened.object, opened.href];
    }
  }

  async function* visitCatalog(
    catalog: StacCatalog | StacCollection,
    href: string,
    depth: number,
  ): AsyncGenerator<FoundItem> {
    if (catalog.type === "Collection") {
      options.onCollection?.(catalog, href);
    }
    const below = catalog.links.filter(({ rel }) => rel === "item" || rel === "child");
    // A collection of a STAC API lists its items at one address; static catalogues link each of them.
    const links = below.length > 0 ? below : catalog.links.filter(({ rel }) => rel === "items");
    const targets = links
      .map(({ rel, href: target }) => ({ rel, target: resolveHref(target, href) }))
      .filter(({ target }) => isNew(target));
    const ahead: ReturnType<typeof open>[] = [];
    for (let next = 0; next < targets.length || ahead.length > 0;) {
      for (; ahead.length < parallel && next < targets.length; next += 1) {
        const { rel, target } = targets[next] as (typeof targets)[number];
        const opening = open(target, href, rel);
        // Its failure is met when its turn comes, or never, when the caller has seen enough.
        opening.catch(() => undefined);
        ahead.push(opening);
      }
      const opened = await ahead.shift();
      if (opened !== undefined) {
        yield* visit(opened.object, opened.href, depth + 1);
      }
    }
  }

  if (!isStac(start.value)) {
    throw new StacError(start.href, "is not a STAC item, collection, catalogue or item collection");
  }
  yield* visit(parseStac(start.value, start.href), start.href, 0);
}

const withoutFragment = (href: string): string => href.replace(/#.*$/, "");
