import type { RasterPool } from "@swath/raster";
import type pg from "pg";

import type { CatalogueClient } from "../catalogue/client.ts";
import type { CatalogueWriter } from "../catalogue/writer.ts";
import type { TaskContext } from "../queue/run-task.ts";
import type { ReadRights, Sources } from "../sources/source-types.ts";
import type { Origin } from "../store/records.ts";

/** What registrars work with. */
export interface Tools {
  readonly pool: pg.Pool;
  readonly sources: Sources;
  readonly client: CatalogueClient;
  readonly writer: CatalogueWriter;
  readonly rasters: RasterPool;
  readonly dataAccessUrl?: string;
  readonly portalUrl?: string;
  /** A bucket of a provider's data offering. */
  readonly offeredBucket?: string;
}

/** What the payload of a request for an address says. */
export interface AddressRequest {
  readonly url: string;
  readonly type: string;
  readonly parent?: string;
  readonly rights: ReadRights;
  readonly origin: Origin;
}

/** Reads the common members of a task's payload. */
export function readAddressRequest({ task }: TaskContext, { sources }: Pick<Tools, "sources">): AddressRequest {
  const { payload, scope, id } = task;
  const {
    url = "",
    type = "",
    parent_identifier: parent,
  } = payload as {
    url?: string;
    type?: string;
    parent_identifier?: string | null;
  };
  return {
    url,
    type,
    ...(typeof parent === "string" && parent !== "" && { parent }),
    rights: readRights(payload),
    origin: { scope, sequence: id, source: sources.normalize(url) },
  };
}

export function readRights(payload: Readonly<Record<string, unknown>>): ReadRights {
  const { buckets } = payload as { buckets?: readonly string[] };
  return buckets === undefined ? {} : { buckets };
}

/** The collection of items that name none. */
export const defaultCollection = (scope: string): string => (scope === "" ? "items" : `${scope}.items`);
