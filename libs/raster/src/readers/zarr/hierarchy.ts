import {
  type DataType,
  InvalidMetadataError,
  NotFoundError,
  type Readable,
  type Array as ZarrArray,
  open,
  root,
  withRangeCoalescing,
} from "zarrita";

import { RasterError, invalidRaster } from "../../errors.ts";
import type { SourceLocation } from "../../sources/source.ts";
import { checkCount } from "./check-count.ts";
import { readConsolidated } from "./consolidated.ts";
import { listArrays } from "./list-arrays.ts";
import { pathOf, withPath } from "./location-path.ts";
import { type ZarrStore, createZarrStore } from "./zarr-store.ts";

export type AnyArray = ZarrArray<DataType, Readable>;
export type Attributes = Readonly<Record<string, unknown>>;

/** Groups above an address whose metadata may list what is below it, where no name ends in `.zarr`. */
const MAX_PARENTS = 3;
const CONCURRENCY = 8;

/** A Zarr hierarchy, and the group or array in it that an address is of. */
export interface Hierarchy {
  /** Gives its metadata and chunks by their keys. */
  readonly files: Readable;
  /** The content of the metadata that was read so far, in few characters. */
  readonly digest: () => string;
  readonly version: 2 | 3;
  /** Path of the addressed group or array from the root, without slashes at its ends; empty for the root. */
  readonly path: string;
  /** Paths of the arrays of the whole hierarchy; undefined where nothing lists them. */
  readonly arrays: readonly string[] | undefined;
}

/**
 * Finds where the hierarchy begins that an address leads into. Its metadata may be consolidated at the root alone, while STAC assets lead
 * to groups and arrays in it: the part of the path that ends in `.zarr` is looked at first, then the address, then what is between.
 * @throws {RasterError} `invalid-raster` where there is no Zarr data, `forbidden` where its metadata may not be read
 */
export async function findHierarchy(location: SourceLocation, signal?: AbortSignal): Promise<Hierarchy> {
  const stores: { readonly store: ZarrStore; readonly path: string; readonly location: SourceLocation }[] = [];
  for (const { location: candidate, path } of listRoots(location)) {
    const store = createZarrStore(candidate);
    stores.push({ store, path, location: candidate });
    for (const version of [2, 3] as const) {
      const found = await readConsolidated(store, version);
      if (found !== undefined && [...found.groups, ...found.arrays].some((name) => isAtOrBelow(name, path))) {
        checkCount(found.arrays);
        return { files: found.store, digest: store.digest, version, path, arrays: found.arrays };
      }
    }
  }
  // Nothing is consolidated: the address itself is what there is.
  for (const { store, path, location: candidate } of stores.toSorted((a, b) => b.path.length - a.path.length)) {
    for (const version of [2, 3] as const) {
      const node = await orUndefined(() => openNode(store, version, path, signal));
      if (node !== undefined) {
        const arrays = node.kind === "array" ? [path] : await listArrays(candidate, path, signal);
        return { files: withRangeCoalescing(store), digest: store.digest, version, path, arrays };
      }
    }
  }
  const refusal = stores.map(({ store }) => store.refusal()).find((found) => found !== undefined);
  throw refusal ?? invalidRaster("There is no Zarr group or array at the address.");
}

/** Opens arrays by their paths; those of a kind that the library does not know are left out. */
export async function openArrays(
  { files, version }: Pick<Hierarchy, "files" | "version">,
  paths: Iterable<string>,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, AnyArray>> {
  const arrays = new Map<string, AnyArray>();
  const waiting = [...paths].values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const path of waiting) {
        const node = await openNode(files, version, path, signal).catch((error: unknown) => {
          if (error instanceof RasterError) {
            throw error;
          }
          return undefined;
        });
        if (node?.kind === "array") {
          arrays.set(path, node as AnyArray);
        }
      }
    }),
  );
  return new Map([...arrays].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Attributes of a group; none where there is no such group. */
export async function readGroupAttributes(
  { files, version }: Pick<Hierarchy, "files" | "version">,
  path: string,
  signal?: AbortSignal,
): Promise<Attributes> {
  const node = await orUndefined(() => openNode(files, version, path, signal));
  return node?.kind === "group" ? node.attrs : {};
}

async function openNode(files: Readable, version: 2 | 3, path: string, signal: AbortSignal | undefined) {
  if (!isKept(path)) {
    throw new NotFoundError("a node whose name the library keeps", { path: `/${path}` });
  }
  const place = root(files).resolve(path === "" ? "/" : path);
  const options = signal === undefined ? {} : { signal };
  return version === 2 ? open.v2(place, options) : open.v3(place, options);
}

/** The library makes URLs of paths: with `#` or `?` in a name, it would read another array, and `%` or `..` lead elsewhere. */
const isKept = (path: string) =>
  !/[#?%\\\p{Cc}]/u.test(path) && !path.split("/").some((part) => /^\.{1,2}$/.test(part));

const isAtOrBelow = (path: string, above: string) => above === "" || path === above || path.startsWith(`${above}/`);

/** Addresses that may be the root, with the path from there. */
function* listRoots(location: SourceLocation): Generator<{ readonly location: SourceLocation; readonly path: string }> {
  const parts = pathOf(location).split("/");
  const named = parts.findIndex((part) => /\.zarr$/i.test(part));
  const end = parts.length;
  const at = (length: number) => ({
    location: length === end ? location : withPath(location, parts.slice(0, length).join("/")),
    path: parts
      .slice(length)
      .map((part) => (location.kind === "http" ? decode(part) : part))
      .join("/"),
  });
  const least = named >= 0 ? named + 1 : Math.max(2, end - MAX_PARENTS);
  if (named >= 0 && least < end) {
    yield at(least);
  }
  yield at(end);
  // The rights to an object say nothing of what lies above it: only within the product that the name shows.
  for (let length = end - 1; length > least - (named >= 0 ? 0 : 1) && location.kind !== "s3"; length -= 1) {
    yield at(length);
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // No escape: it is meant as it stands.
    return part;
  }
}

/** @returns undefined where the metadata is not there, or none */
async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof InvalidMetadataError) {
      return undefined;
    }
    throw error;
  }
}
