import { createHash } from "node:crypto";
import { join } from "node:path";

import type { AsyncReadable, RangeQuery } from "zarrita";

import { RasterError } from "../../errors.ts";
import { MAX_METADATA_BYTES, MAX_STORED_BLOCK_BYTES } from "../../limits.ts";
import { openSource } from "../../sources/open-source.ts";
import type { SourceLocation } from "../../sources/source.ts";
import { checkMetadata } from "./check-metadata.ts";
import { METADATA, pathOf, withPath } from "./location-path.ts";

const MAX_KEY_CHARACTERS = 1000;

/** The files of a Zarr hierarchy by their keys, read as any other source: the same hosts and addresses are refused. */
export interface ZarrStore extends AsyncReadable {
  readonly getRange: (
    key: `/${string}`,
    range: RangeQuery,
    options?: { signal?: AbortSignal },
  ) => Promise<Uint8Array | undefined>;
  /** The content of the metadata that was read so far, in few characters. */
  readonly digest: () => string;
  /** `forbidden` where metadata was refused rather than not there. */
  readonly refusal: () => RasterError | undefined;
}

export function createZarrStore(root: SourceLocation): ZarrStore {
  const seen = new Map<string, string>();
  let refusal: RasterError | undefined;
  const read = async (
    key: string,
    work: (source: Awaited<ReturnType<typeof openSource>>) => Promise<Uint8Array>,
  ): Promise<Uint8Array | undefined> => {
    try {
      const source = await openSource(locateKey(root, key));
      try {
        return await work(source);
      } finally {
        await source.close();
      }
    } catch (error) {
      if (error instanceof RasterError && error.code === "not-found") {
        return undefined;
      }
      // Object storages that may not be listed say so of files that are not there.
      if (error instanceof RasterError && error.code === "forbidden" && METADATA.test(key)) {
        refusal = error;
        return undefined;
      }
      throw error;
    }
  };
  return {
    get: async (key, { signal } = {}) => {
      const isMetadata = METADATA.test(key);
      const limit = isMetadata ? MAX_METADATA_BYTES : MAX_STORED_BLOCK_BYTES;
      const bytes = await read(key, (source) => source.read(0, limit, signal));
      if (bytes?.length === limit) {
        throw new RasterError("invalid-raster", "A piece of the Zarr data is larger than what is read.");
      }
      if (isMetadata) {
        await checkMetadata(bytes ?? new Uint8Array());
        seen.set(
          key,
          createHash("sha256")
            .update(bytes ?? "none")
            .digest("base64url"),
        );
      }
      return bytes;
    },
    getRange: async (key, range, { signal } = {}) =>
      read(key, async (source) => {
        const length = "suffixLength" in range ? range.suffixLength : range.length;
        if (!(length >= 0 && length <= MAX_STORED_BLOCK_BYTES)) {
          throw new RasterError("invalid-raster", `A piece of the Zarr data claims ${length} bytes.`);
        }
        if (!("suffixLength" in range)) {
          return source.read(range.offset, length, signal);
        }
        // How large it is, a source knows once it was read.
        await source.read(0, 1, signal);
        return source.read(Math.max(0, (source.size ?? 0) - length), length, signal);
      }),
    digest: () =>
      createHash("sha256")
        .update(JSON.stringify([...seen].map(String).toSorted()))
        .digest("base64url")
        .slice(0, 22),
    refusal: () => refusal,
  };
}

/** Where a key is below a root; the root may be given by the file of its metadata. */
function locateKey(root: SourceLocation, key: string): SourceLocation {
  const parts = key.split("/").filter((part) => part !== "");
  // Names of variables come from the data.
  if (key.length > MAX_KEY_CHARACTERS || parts.some((part) => part === "." || part === ".." || /[\\\0]/.test(part))) {
    throw new RasterError("invalid-raster", "The Zarr data has names that lead out of it.");
  }
  const base = pathOf(root);
  switch (root.kind) {
    case "file":
      return withPath(root, join(base, ...parts));
    case "http":
      return withPath(root, [base, ...parts.map(encodeURIComponent)].join("/"));
    case "s3":
      return withPath(root, [base, ...parts].join("/"));
  }
}
