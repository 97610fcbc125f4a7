import type pg from "pg";

import { QUERYABLE_INDEX_PATTERN, type QueryableIndex, toQueryableIndex } from "../query/queryable-index.ts";
import type { QueryableSchema } from "../query/queryables.ts";

const INTERVAL_MS = 60_000;
/** Every index is written to with every record: there are never more. */
const MAX_INDEXES = 32;

export interface QueryableIndexes {
  /** Looks at once what is declared. */
  readonly wake: () => void;
  readonly close: () => Promise<void>;
}

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
export function startQueryableIndexes({ pool, onError }: Options): QueryableIndexes {
  let running: Promise<void> | undefined;
  let again = false;
  let isClosed = false;
  let abort = (): void => {};
  const work = async (): Promise<void> => {
    while (again && !isClosed) {
      again = false;
      const client = await pool.connect();
      let isBroken = false;
      // A build may take long, and nobody waits for it at the end of the process: the next one looks what became of it.
      abort = () => {
        isBroken = true;
        client.release(true);
      };
      try {
        await updateIndexes(client, () => isClosed);
      } finally {
        if (!isBroken) {
          client.release();
        }
        abort = () => {};
      }
    }
  };
  const wake = (): void => {
    again = true;
    running ??= work()
      .catch((error: unknown) => {
        if (!isClosed) {
          onError(error as Error);
        }
      })
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(wake, INTERVAL_MS);
  timer.unref();
  wake();
  return {
    wake,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      abort();
      await running;
    },
  };
}

const LOCK = "hashtext('catalogue queryable indexes')";

async function updateIndexes(client: pg.PoolClient, isClosed: () => boolean): Promise<void> {
  // Not waited for: whoever waits inside of a statement is itself waited for by a build.
  const { rows } = await client.query<{ is_mine: boolean }>(`select pg_try_advisory_lock(${LOCK}) as is_mine`);
  if (rows[0]?.is_mine !== true) {
    return;
  }
  try {
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
  } finally {
    await client.query(`select pg_advisory_unlock(${LOCK})`).catch(() => {});
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
    "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'record'::regclass",
  );
  return rows.map(({ name }) => name);
}
