import type { CallerLimits } from "@swath/service/caller-limits";
import type { FastifyRequest } from "fastify";
import type pg from "pg";

import type { Reader } from "../access/reader.ts";
import type { AssetStorage } from "../assets/asset-storage.ts";
import type { PreparedBatch } from "../bulk/batch-thread.ts";
import type { Batch } from "../bulk/prepare-batch.ts";
import type { FetchSource } from "./fetch-source.ts";
import type { CollectionMemory } from "../store/collection-memory.ts";
import type { GroupInserts } from "../store/group-inserts.ts";
import type { ViewLinks } from "../model/view-links.ts";
import type { SearchRequest } from "../query/search-request.ts";
import type { SearchDeps } from "../store/run-search.ts";
import type { ChangeAnnouncer } from "../feed/change-announcer.ts";
import type { StacValidator } from "@swath/stac/schema";

/** What every interface of the catalogue works with. */
export interface CatalogueContext extends SearchDeps {
  readonly pool: pg.Pool;
  /** Connections of loads. */
  readonly loadPool: pg.Pool;
  /** How long the client of a load may send nothing. */
  readonly loadIdleMs: number;
  /** Single items that are new. */
  readonly inserts: GroupInserts;
  /** Collections that single items were written into lately. */
  readonly collections: CollectionMemory;
  /** Who asks, with what the store needs of it. @throws {Problem} 401 for a token that is not accepted */
  readonly readerOf: (request: FastifyRequest) => Promise<Reader>;
  readonly validateItem: StacValidator;
  readonly validateCollection: StacValidator;
  /** Makes many items ready for the store, in a thread. @throws {Problem} what is wrong with them */
  readonly prepareBatch: (batch: Batch) => Promise<PreparedBatch>;
  /** Up to how many matches are counted. */
  readonly countUpTo: number;
  /** The same in protocols that cannot say that there are more. */
  readonly harvestCount: Pick<SearchRequest, "countUpTo" | "estimatesBeyond">;
  readonly publicUrl: string;
  /** Where data access shows records. */
  readonly viewLinks: ViewLinks;
  /** Reads a document at an address that a client names. */
  readonly fetchSource: FetchSource;
  /** Undefined where the platform has none. */
  readonly assetStorage: AssetStorage | undefined;
  /** Tells those who follow that something was written. */
  readonly announceChange: (records?: number) => void;
  readonly announcer: ChangeAnnouncer;
  /** Places and rates of callers. */
  readonly limits: CallerLimits;
  /** Looks at once which queryables are declared. */
  readonly wakeIndexes: () => void;
  /** Whether a key is the one of the deployment's own services, which follow the changes of all collections. */
  readonly isServiceFeedKey: (key: string) => boolean;
  /** Looks at once whether a subscriber is due. */
  readonly wakeDeliveries: () => void;
}

/** Base of links: the address that the request came in by, so that answers are right on every host. No slash at the end. */
export function baseOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}
