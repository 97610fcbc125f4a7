import type pg from "pg";

import { type BackgroundWork, startBackgroundWork } from "./background-work.ts";
import { QUERYABLE_INDEX_PATTERN, type QueryableIndex, toQueryableIndex } from "../query/queryable-index.ts";
import type { QueryableSchema } from "../query/queryables.ts";

const INTERVAL_MS = 60_000;
/** Every index is written to with every record: there are never more. */
const MAX_INDEXES = 32;

interface Options {
  readonly pool: pg.Pool;
  readonly onError: (error: Error) => void;
}

/** Places within a collection, as migration 0006 says; made here where that took too long at a start. */
const PLACE_INDEX = {
  suffix: "_scope",
  definition: "using gist ((bbox + point(0, 1000.0::float8 * collection)), span)",
};

interface RequestedIndex {
  readonly table: string;
  readonly definition: string;
}

/**
 * Keeps an index for each property that collections of the platform declare as a queryable, and for no other. They are made and dropped
 * while records are read and written, by one process at a time; one that a process left unfinished is made anew.
 */
export function startQueryableIndexes({ pool, onError }: Options): BackgroundWork {
  return startBackgroundWork({
    pool,
    lock: "catalogue queryable indexes",
    intervalMs: INTERVAL_MS,
    work: updateIndexes,
    onError,
  });
}

async function updateIndexes(client: pg.PoolClient, isClosed: () => boolean): Promise<void> {
  const desired = await readDesired(client);
  const existing = await readExisting(client);
  const tables = await readPartitions(client);
  const requested = new Map<string, RequestedIndex>(
    tables.flatMap((table): (readonly [string, RequestedIndex])[] => [
      [`${table}${PLACE_INDEX.suffix}`, { table, definition: PLACE_INDEX.definition }],
      ...desired.map(({ name, expression }): readonly [string, RequestedIndex] => [
        `${table}${name}`,
        { table, definition: `(collection, ${expression})` },
      ]),
    ]),
  );
  for (const { name, is_valid: isValid } of existing) {
    if (!isClosed() && (!isValid || !requested.has(name))) {
      await client.query(`drop index concurrently if exists ${name}`);
    }
  }
  const kept = new Set(existing.filter(({ is_valid: isValid }) => isValid).map(({ name }) => name));
  for (const [name, { table, definition }] of requested) {
    if (!isClosed() && !kept.has(name)) {
      await client.query(`create index concurrently ${name} on ${table} ${definition}`);
      // How often its values occur is what makes a plan use it.
      await client.query(`analyze ${table}`);
    }
  }
}

async function readDesired(client: pg.PoolClient): Promise<readonly QueryableIndex[]> {
  const { rows } = await client.query<{ name: string; schema: QueryableSchema }>(
    `select q.key as name, q.value as schema from collection c, jsonb_each(c.queryables) q
     where c.workspace is null and c.queryables is not null group by q.key, q.value order by count(*) desc, q.key`,
  );
  const indexes = new Map<string, QueryableIndex>();
  for (const { name, schema } of rows) {
    const index = toQueryableIndex(name, schema);
    if (index !== undefined && indexes.size < MAX_INDEXES) {
      indexes.set(index.name, index);
    }
  }
  return [...indexes.values()];
}

async function readExisting(
  client: pg.PoolClient,
): Promise<readonly { readonly name: string; readonly is_valid: boolean }[]> {
  const { rows } = await client.query<{ name: string; is_valid: boolean }>(
    `select c.relname as name, i.indisvalid as is_valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace and c.relname like 'record\\_%'`,
  );
  return rows.filter(({ name }) => name.endsWith(PLACE_INDEX.suffix) || QUERYABLE_INDEX_PATTERN.test(name));
}

async function readPartitions(client: pg.PoolClient): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'record'::regclass and not i.inhdetachpending",
  );
  return rows.map(({ name }) => name);
}
