import { createHash } from "node:crypto";

import {
  type ImageRequest,
  type ImageResult,
  type RasterPool,
  type SourceLocation,
  describeLocation,
} from "@swath/raster";

import type { PictureStore } from "./picture-store.ts";

/** What pictures look like for a request; raised when the same request makes another picture. */
const RENDERING = 1;
/** Larger pictures are asked for once; tiles again and again. */
const MAX_PIXELS = 1024 * 1024;
/** How long a remote file is taken to be unchanged, as in `libs/raster`. */
const MAX_UNVERIFIED_MS = 5000;
const MAX_VERSIONS = 10_000;
const ENTRY_BYTES = 1024;
const MAX_GROUP = 300;

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

export interface Pictures {
  /** `group`: what pictures are purged by, such as the layer. */
  readonly render: (request: ImageRequest, group: string, signal?: AbortSignal) => Promise<ImageResult>;
}

/**
 * Pictures of before. Their names are made of everything that decides how they look: scenes in their order, bands, style, grid. Scenes
 * are those that the catalogue gave to who asks, so that nobody is shown a picture of what they may not see. A kept picture is used
 * only while each file that it was made from is the same.
 */
export function createPictureCache({ pool, memoryBytes, store }: PictureCacheOptions): Pictures {
  const memory = new Map<string, KeptPicture>();
  const versions = new Map<string, { readonly at: number; readonly version: Promise<string> }>();
  let bytes = 0;

  const remember = (name: string, picture: KeptPicture) => {
    forget(name);
    const size = picture.bytes.length + ENTRY_BYTES;
    if (size > memoryBytes) {
      return;
    }
    memory.set(name, picture);
    bytes += size;
    for (const oldest of memory.keys()) {
      if (bytes <= memoryBytes) {
        break;
      }
      forget(oldest);
    }
  };
  const forget = (name: string) => {
    const known = memory.get(name);
    if (known !== undefined) {
      memory.delete(name);
      bytes -= known.bytes.length + ENTRY_BYTES;
    }
  };
  const versionOf = (location: SourceLocation, id: string): Promise<string> => {
    const known = versions.get(id);
    if (known !== undefined && location.kind !== "file" && Date.now() - known.at < MAX_UNVERIFIED_MS) {
      return known.version;
    }
    if (versions.size >= MAX_VERSIONS) {
      versions.clear();
    }
    // Not bound to one caller's signal: others may join.
    const version = pool.version(location);
    version.catch(() => versions.delete(id));
    versions.set(id, { at: Date.now(), version });
    return version;
  };
  const isCurrent = async ({ versions: made }: KeptPicture, { scenes }: ImageRequest): Promise<boolean> => {
    const locations = new Map(
      scenes.flatMap(({ assets }) =>
        Object.values(assets).map(({ location }) => [describeLocation(location), location] as const),
      ),
    );
    const checks = Object.entries(made).map(async ([id, version]) => {
      const location = locations.get(id);
      return location !== undefined && (await versionOf(location, id)) === version;
    });
    return (await Promise.all(checks)).every(Boolean);
  };
  const find = async (name: string, request: ImageRequest): Promise<KeptPicture | undefined> => {
    const picture = memory.get(name) ?? (await store?.get(name));
    try {
      if (picture !== undefined && (await isCurrent(picture, request))) {
        remember(name, picture);
        return picture;
      }
    } catch {
      // A file that cannot be asked for: rendering says what is wrong with it.
    }
    forget(name);
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
      const kept = await find(name, request);
      if (kept !== undefined) {
        return { ...kept, width, height, crs, bbox };
      }
      const image = await pool.image(request, signal);
      const { contentType, isEmpty, versions: made } = image;
      const picture = { contentType, isEmpty, versions: made, bytes: image.bytes };
      remember(name, picture);
      store?.put(name, picture);
      return image;
    },
  };
}

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
