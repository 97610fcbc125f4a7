import { type PooledDatabase, openPool } from "@swath/postgres/pool";

interface Options {
  readonly url: string;
  readonly connections?: number;
  /** A search that takes longer is ended by PostgreSQL. */
  readonly searchTimeoutSeconds?: number;
  /** A single write waits so long for records that a load or another write holds; its connection is one of few. */
  readonly writeWaitSeconds?: number;
  readonly onError: (error: Error) => void;
}

interface CatalogueDatabase extends PooledDatabase {
  /** Connections of their own for searches, which clients make slow: writes and single records do not wait for them. */
  readonly searchPool: PooledDatabase["pool"];
  /** Connections of their own for loads. A load holds one for as long as its client takes to send. */
  readonly loadPool: PooledDatabase["pool"];
}

/** Shares of the connections; the rest is for everything else. */
const SEARCH_SHARE = 0.5;
const LOAD_SHARE = 0.25;

/** The catalogue's schema, brought up to date. Its statements are its own: what a search reads is composed, what a load writes is copied. */
export async function openCatalogueDatabase({
  url,
  connections = 20,
  searchTimeoutSeconds = 20,
  writeWaitSeconds = 2,
  onError,
}: Options): Promise<CatalogueDatabase> {
  const forSearches = Math.max(1, Math.floor(connections * SEARCH_SHARE));
  const forLoads = Math.max(1, Math.floor(connections * LOAD_SHARE));
  const database = await openPool({
    url,
    schema: "catalogue",
    migrations: `${import.meta.dirname}/../migrations`,
    connections: Math.max(1, connections - forSearches - forLoads),
    parameters: { lock_timeout: `${writeWaitSeconds}s` },
    onError,
  });
  const searches = await openPool({
    url,
    schema: "catalogue",
    connections: forSearches,
    parameters: {
      statement_timeout: `${searchTimeoutSeconds}s`,
      // Compares all conditions of a filter with each other for each partition: 25 s for 800 of them, 2 s without. Partitions are
      // chosen by their keys, which this has no part in.
      constraint_exclusion: "off",
    },
    onError,
  });
  const loads = await openPool({ url, schema: "catalogue", connections: forLoads, onError });
  return {
    ...database,
    searchPool: searches.pool,
    loadPool: loads.pool,
    close: async () => {
      await searches.close();
      await loads.close();
      await database.close();
    },
  };
}
