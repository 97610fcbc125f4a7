import { type StacCollection, type StacItem, extentOf } from "@swath/stac";
import { LRUCache } from "lru-cache";

import { RegistrationError } from "../queue/errors.ts";
import { type CatalogueClient, describeRefusal } from "./client.ts";

/** Finds and makes the collections that items are written to. */
export interface Collections {
  /**
   * The collection for items that call theirs `id`; made when it is missing. An id that is another workspace's or the platform's gets the
   * workspace's name before it, since ids are unique in the catalogue.
   * @returns its id in the catalogue
   */
  readonly ensure: (scope: string, id: string, items: readonly StacItem[]) => Promise<string>;
  /** Finds a collection's id in the catalogue, by the same rules; makes it when it is missing. */
  readonly claim: (
    scope: string,
    collection: StacCollection,
  ) => Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** Replaces what a collection says of itself. */
  readonly replace: (scope: string, collection: StacCollection) => Promise<void>;
  /** Has the collection's extent cover items that were written to it. */
  readonly cover: (scope: string, id: string, items: readonly StacItem[]) => Promise<void>;
}

const CACHE_TTL_MS = 10_000;
const MAX_CACHED = 1000;

export function createCollections(client: CatalogueClient): Collections {
  const cache = new LRUCache<string, StacCollection>({ max: MAX_CACHED, ttl: CACHE_TTL_MS });
  const remember = (scope: string, document: StacCollection): void => {
    cache.set(`${scope} ${document.id}`, document);
  };
  const find = async (scope: string, id: string): Promise<StacCollection | undefined> => {
    const known = cache.get(`${scope} ${id}`);
    if (known !== undefined) {
      return known;
    }
    const response = await client.send(scope, "GET", `/stac/collections/${encodeURIComponent(id)}`);
    if (response.status === 404) {
      return undefined;
    }
    if (response.status !== 200) {
      throw new RegistrationError(describeRefusal(response));
    }
    remember(scope, response.body as StacCollection);
    return response.body as StacCollection;
  };
  /** @returns undefined where the id is somebody else's */
  const make = async (
    scope: string,
    document: StacCollection,
  ): Promise<{ readonly id: string; readonly isNew: boolean } | undefined> => {
    const response = await client.send(scope, "POST", "/stac/collections", document);
    if (response.status === 409) {
      // Made by another worker meanwhile, or not to be seen here.
      return (await find(scope, document.id)) && { id: document.id, isNew: false };
    }
    if (response.status !== 201) {
      throw new RegistrationError(`Collection ${document.id} cannot be registered: ${describeRefusal(response)}`);
    }
    remember(scope, document);
    return { id: document.id, isNew: true };
  };
  const candidates = (scope: string, id: string): readonly string[] =>
    scope === "" || id.startsWith(`${scope}.`) ? [id] : [id, `${scope}.${id}`];
  const taken = (id: string): RegistrationError =>
    new RegistrationError(`The id ${id} is another workspace's; give the collection another id.`);

  const collections: Collections = {
    ensure: async (scope, id, items) => {
      for (const candidate of candidates(scope, id)) {
        const found = (await find(scope, candidate)) ?? (await make(scope, describeCollection(candidate, id, items)));
        if (found !== undefined) {
          return candidate;
        }
      }
      throw taken(id);
    },
    claim: async (scope, collection) => {
      for (const id of candidates(scope, collection.id)) {
        if ((await find(scope, id)) !== undefined) {
          return { id, isNew: false };
        }
        const made = await make(scope, { ...collection, id });
        if (made !== undefined) {
          return made;
        }
      }
      throw taken(collection.id);
    },
    replace: async (scope, collection) => {
      const path = `/stac/collections/${encodeURIComponent(collection.id)}`;
      const response = await client.send(scope, "PUT", path, collection);
      cache.delete(`${scope} ${collection.id}`);
      if (response.status !== 200 && !(response.status === 404 && (await make(scope, collection)) !== undefined)) {
        throw new RegistrationError(`Collection ${collection.id} cannot be registered: ${describeRefusal(response)}`);
      }
    },
    cover: async (scope, id, items) => {
      const known = await find(scope, id);
      const extent = known === undefined ? undefined : widen(known.extent, items);
      if (known === undefined || extent === undefined) {
        return;
      }
      const response = await client.send(scope, "PATCH", `/stac/collections/${encodeURIComponent(id)}`, { extent });
      if (response.status === 200) {
        remember(scope, { ...known, extent });
      }
    },
  };
  return collections;
}

/** A collection that nobody described. */
function describeCollection(id: string, title: string, items: readonly StacItem[]): StacCollection {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    id,
    title,
    description: `Items that were registered as ${title}.`,
    license: "other",
    extent: toExtent(items),
    links: [],
  };
}

const WORLD: readonly number[] = [-180, -90, 180, 90];

function toExtent(items: readonly StacItem[]): StacCollection["extent"] {
  const { spatial, temporal } = extentOf(items);
  return {
    spatial: { bbox: [toPlain(spatial.bbox[0])] },
    temporal: { interval: [temporal.interval[0] ?? [null, null]] },
  };
}

/** A box with west before east, without heights. */
function toPlain(bbox: readonly number[] | undefined): readonly number[] {
  const flat = bbox?.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  const [west = -180, south = -90, east = 180, north = 90] = (flat ?? WORLD) as readonly number[];
  return west > east ? [-180, south, 180, north] : [west, south, east, north];
}

/** The extent with the items in it; undefined where it has them already. */
function widen(extent: StacCollection["extent"], items: readonly StacItem[]): StacCollection["extent"] | undefined {
  const added = toExtent(items);
  const [west = -180, south = -90, east = 180, north = 90] = toPlain(extent.spatial.bbox[0]);
  const [w = -180, s = -90, e = 180, n = 90] = added.spatial.bbox[0] ?? WORLD;
  const [start = null, end = null] = extent.temporal.interval[0] ?? [];
  const [from = null, to = null] = added.temporal.interval[0] ?? [];
  const isEarlier = start !== null && from !== null && Date.parse(from) < Date.parse(start);
  const isLater = end !== null && to !== null && Date.parse(to) > Date.parse(end);
  if (w >= west && s >= south && e <= east && n <= north && !isEarlier && !isLater) {
    return undefined;
  }
  return {
    spatial: {
      bbox: [
        [Math.min(w, west), Math.min(s, south), Math.max(e, east), Math.max(n, north)],
        ...extent.spatial.bbox.slice(1),
      ],
    },
    temporal: {
      interval: [[isEarlier ? from : start, isLater ? to : end], ...extent.temporal.interval.slice(1)],
    },
  };
}
