import { LRUCache } from "lru-cache";

import type { ChangeFeed } from "../catalogue/change-feed.ts";
import { type Reading, holds } from "./basis.ts";
import type { Caller, Layer } from "./layer.ts";

const MAX_CACHED = 1000;

/** What is read of the catalogue. */
interface Read<T> {
  readonly value: T;
  /** Collections whose changes could make it another; any when left out. */
  readonly collections?: readonly string[];
}

interface LayerCache {
  readonly find: (
    id: string,
    caller: Caller,
    read: () => Promise<Read<Layer | undefined>>,
  ) => Promise<Layer | undefined>;
  readonly list: (caller: Caller, read: () => Promise<Read<readonly Layer[]>>) => Promise<readonly Layer[]>;
  readonly forget: (id: string) => void;
}

/**
 * Layers that were read before. Those of callers without a login hold until the feed tells of a change; of others, whose rights it does not
 * tell of, and where there is no feed, for a second. Nothing is shared between callers.
 */
export function createLayerCache(feed: ChangeFeed | undefined): LayerCache {
  const cached = new LRUCache<string, { readonly reading: Reading; readonly value: Promise<unknown> }>({
    max: MAX_CACHED,
  });
  const keep = async <T>(id: string, caller: Caller, read: () => Promise<Read<T>>): Promise<T> => {
    const key = keyOf(id, caller);
    const known = cached.get(key);
    if (known !== undefined && holds(known.reading)) {
      caller.basis?.note(known.reading);
      return known.value as Promise<T>;
    }
    let collections: readonly string[] | undefined;
    const reading = createReading(feed, caller, () => collections);
    const value = read().then((found) => {
      collections = found.collections;
      return found.value;
    });
    const entry = { reading, value };
    cached.set(key, entry);
    caller.basis?.note(reading);
    value.catch(() => {
      if (cached.peek(key) === entry) {
        cached.delete(key);
      }
    });
    return value;
  };
  const keyOf = (id: string, { authorization = "", hostname = "" }: Caller) =>
    JSON.stringify([id, hostname, authorization]);
  return {
    find: (id, caller, read) => keep(id, caller, read),
    list: (caller, read) => keep("", caller, read),
    forget: (id) => {
      for (const key of cached.keys()) {
        const [name] = JSON.parse(key) as readonly string[];
        if (name === id || name === "") {
          cached.delete(key);
        }
      }
    },
  };
}

/** Begins a reading of the catalogue: to be called before it is asked. */
export function createReading(
  feed: ChangeFeed | undefined,
  { authorization }: Caller,
  collectionsOf: () => readonly string[] | undefined,
): Reading {
  const askedAt = Date.now();
  if (feed === undefined || authorization !== undefined) {
    return { askedAt };
  }
  const mark = feed.mark();
  return { askedAt, isUnchanged: () => feed.isUnchanged(mark, collectionsOf()) };
}
