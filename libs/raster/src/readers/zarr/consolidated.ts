import { type AsyncReadable, withRangeCoalescing } from "zarrita";

import { recordOf } from "../cube/record-of.ts";
import { METADATA } from "./location-path.ts";
import type { ZarrStore } from "./zarr-store.ts";

/** Metadata of a hierarchy that was read at once. */
export interface Consolidated {
  /** Gives this metadata, and chunks; what the metadata does not have is not looked for. */
  readonly store: AsyncReadable;
  /** Paths of the groups and arrays, without slashes at their ends. */
  readonly groups: readonly string[];
  readonly arrays: readonly string[];
}

type Documents = Readonly<Record<string, unknown>>;

/**
 * Reads `.zmetadata` of Zarr 2, or `consolidated_metadata` in `zarr.json` of Zarr 3.
 * @returns undefined where the metadata of this place is not consolidated
 */
export async function readConsolidated(store: ZarrStore, version: 2 | 3): Promise<Consolidated | undefined> {
  const bytes = await store.get(version === 2 ? "/.zmetadata" : "/zarr.json");
  const document = recordOf(bytes === undefined ? undefined : parse(bytes));
  const files = version === 2 ? listFiles2(document) : listFiles3(document);
  if (files === undefined) {
    return undefined;
  }
  const chunks = withRangeCoalescing(store);
  const encoder = new TextEncoder();
  const nodes = [...files].map(([key, value]) => ({ key, value, path: key.replace(METADATA, "").replace(/^\//, "") }));
  const kinds = nodes.flatMap(({ key, value, path }) => {
    const kind = key.endsWith(".zarray") ? "array" : key.endsWith(".zgroup") ? "group" : value["node_type"];
    return [{ path, kind }];
  });
  return {
    store: {
      get: async (key, options) => {
        const known = files.get(key);
        return known !== undefined
          ? encoder.encode(JSON.stringify(known))
          : METADATA.test(key)
            ? undefined
            : chunks.get(key, options);
      },
      getRange: (key, range, options) => chunks.getRange(key, range, options),
    },
    groups: kinds.filter(({ kind }) => kind === "group").map(({ path }) => path),
    arrays: kinds.filter(({ kind }) => kind === "array").map(({ path }) => path),
  };
}

function listFiles2(document: Documents | undefined): Map<string, Documents> | undefined {
  const metadata = recordOf(document?.["metadata"]);
  return metadata === undefined ? undefined : toFiles(metadata, (key) => `/${key}`);
}

function listFiles3(document: Documents | undefined): Map<string, Documents> | undefined {
  const metadata = recordOf(recordOf(document?.["consolidated_metadata"])?.["metadata"]);
  const files = metadata && toFiles(metadata, (path) => `/${path === "" ? "" : `${path}/`}zarr.json`);
  return files?.set("/zarr.json", {
    zarr_format: 3,
    node_type: "group",
    attributes: recordOf(document?.["attributes"]) ?? {},
  });
}

const toFiles = (metadata: Documents, toKey: (name: string) => string) =>
  new Map(
    Object.entries(metadata).flatMap(([name, value]) => {
      const file = recordOf(value);
      return file === undefined ? [] : [[toKey(name.replace(/^\/+|\/+$/g, "")), file] as const];
    }),
  );

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // A page of a server that answers anything.
    return undefined;
  }
}
