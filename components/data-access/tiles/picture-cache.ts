import { createHash } from "node:crypto";

import {
  type ImageRequest,
  type ImageResult,
  type RasterPool,
  type SourceLocation,
  describeLocation,
} from "@swath/raster";
import { LRUCache } from "lru-cache";

import { createFileVersions } from "./file-versions.ts";
import type { PictureStore } from "./picture-store.ts";

/** What pictures look like for a request; raised when the same request makes another picture. */
const RENDERING = 2;
/** Larger pictures are asked for once; tiles again and again. */
const MAX_PIXELS = 1024 * 1024;
const ENTRY_BYTES = 1024;
const MAX_GROUP = 300;
/** Of a picture of more files each request asks whether they are the same. */
const MAX_RECALLED_FILES = 16;

/** A picture without what the request says: that which is kept. */
export interface KeptPicture {
  readonly contentType: string;
  readonly isEmpty: boolean;
  /** Version of each file that it was made from. */
  readonly versions: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

interface PictureCacheOptions {
  readonly pool: Pick<RasterPool, "image" | "version">;
  readonly memoryBytes: number;
  readonly store?: PictureStore | undefined;
}

/** A picture, and how to find it again without asking for it. */
export interface Picture extends ImageResult {
  /** The same picture while it is in memory and certainly still what its files show. Left out where it is not kept. */
  readonly recall?: () => Uint8Array | undefined;
}

export interface Pictures {
  /** `group`: what pictures are purged by, such as the layer. */
  readonly render: (request: ImageRequest, group: string, signal?: AbortSignal) => Promise<Picture>;
}

/**
 * Pictures of before. Their names are made of everything that decides how they look: scenes in their order, bands, style, grid. Scenes
 * are those that the catalogue gave to who asks, so that nobody is shown a picture of what they may not see. A kept picture is used
 * only while each file that it was made from is the same.
 */
export function createPictureCache({ pool, memoryBytes, store }: PictureCacheOptions): Pictures {
  const memory = new LRUCache<string, KeptPicture>({
    // Without any memory, nothing is small enough to be kept.
    maxSize: Math.max(1, memoryBytes),
    sizeCalculation: (picture) => picture.bytes.length + ENTRY_BYTES,
  });
  const files = createFileVersions(pool);

  const isCurrent = async ({ versions }: KeptPicture, locations: Locations): Promise<boolean> => {
    const checks = Object.entries(versions).map(async ([id, version]) => {
      const location = locations.get(id);
      return location !== undefined && (await files.read(location)) === version;
    });
    return (await Promise.all(checks)).every(Boolean);
  };
  const createRecall = (name: string, versions: KeptPicture["versions"], locations: Locations): Picture["recall"] => {
    const used = Object.entries(versions).flatMap(([id, version]) => {
      const location = locations.get(id);
      return location === undefined ? [] : [{ location, version }];
    });
    return used.length > MAX_RECALLED_FILES
      ? undefined
      : () => {
          const picture = memory.peek(name);
          if (
            picture?.versions !== versions ||
            !used.every(({ location, version }) => files.isCurrent(location, version))
          ) {
            return undefined;
          }
          memory.get(name);
          return picture.bytes;
        };
  };
  const find = async (name: string, locations: Locations): Promise<KeptPicture | undefined> => {
    const inMemory = memory.get(name);
    const picture = inMemory ?? (await store?.get(name));
    try {
      if (picture !== undefined && (await isCurrent(picture, locations))) {
        if (inMemory === undefined || memory.get(name) !== inMemory) {
          memory.set(name, picture);
        }
        return picture;
      }
    } catch {
      // A file that cannot be asked for: rendering says what is wrong with it.
    }
    memory.delete(name);
    return undefined;
  };

  return {
    render: async (request, group, signal) => {
      const { width, height, crs, bbox } = request.grid;
      if (
        width === undefined ||
        height === undefined ||
        crs === undefined ||
        bbox === undefined ||
        request.grid.bboxCrs !== undefined ||
        request.clip !== undefined ||
        request.format === "npy" ||
        request.format === "tif" ||
        width * height > MAX_PIXELS
      ) {
        return pool.image(request, signal);
      }
      const name = nameOf(request, group);
      const locations = locationsOf(request);
      const kept = await find(name, locations);
      if (kept !== undefined) {
        return withRecall({ ...kept, width, height, crs, bbox }, createRecall(name, kept.versions, locations));
      }
      const image = await pool.image(request, signal);
      const { contentType, isEmpty, versions: made } = image;
      const picture = { contentType, isEmpty, versions: made, bytes: image.bytes };
      memory.set(name, picture);
      store?.put(name, picture);
      return withRecall(image, createRecall(name, made, locations));
    },
  };
}

const withRecall = (image: ImageResult, recall: Picture["recall"]): Picture =>
  recall === undefined ? image : { ...image, recall };

type Locations = ReadonlyMap<string, SourceLocation>;

const locationsOf = ({ scenes }: ImageRequest): Locations =>
  new Map(
    scenes.flatMap(({ assets }) =>
      Object.values(assets).map(({ location }) => [describeLocation(location), location] as const),
    ),
  );

/** `<group>/<digest>`; secrets of locations decide nothing, and are not in it. */
function nameOf(request: ImageRequest, group: string): string {
  const { scenes, grid, ...look } = request;
  const facts = {
    rendering: RENDERING,
    scenes: scenes.map(({ assets }) =>
      Object.entries(assets).map(([key, { location, ...rest }]) => [key, describeLocation(location), rest]),
    ),
    grid: [grid.crs?.id, grid.bbox, grid.width, grid.height],
    look: Object.entries(look).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  };
  const digest = createHash("sha256").update(JSON.stringify(facts)).digest("base64url");
  // Names of saved searches are as long as the searches; those of objects are bounded.
  const folder = encodeURIComponent(group);
  return `${folder.length > MAX_GROUP ? createHash("sha256").update(group).digest("base64url") : folder}/${digest}`;
}
