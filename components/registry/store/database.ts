import { join } from "node:path";

import { type PooledDatabase, inTransaction, openPool } from "@swath/postgres/pool";
import type { Queryable } from "@swath/work";

/** Where statements run: the pool, or one connection inside a transaction. */
export interface Sql {
  readonly query: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
}

export interface RegistryDatabase extends Sql {
  readonly pool: Queryable;
  /** Runs `work` in a transaction; again from its start when it was chosen as the victim of a deadlock. */
  readonly transact: <T>(work: (tx: Sql) => Promise<T>) => Promise<T>;
  readonly audit: PooledDatabase["audit"];
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const MAX_ATTEMPTS = 5;

export async function openRegistryDatabase(url: string, onError: (error: Error) => void): Promise<RegistryDatabase> {
  const database = await openPool({
    url,
    schema: "registry",
    migrations: join(import.meta.dirname, "../migrations"),
    connections: 16,
    onError,
  });
  const { pool } = database;
  return {
    pool,
    ...createSql((text, values) => pool.query(text, values)),
    transact: (work) =>
      inTransaction(pool, (client) => work(createSql((text, values) => client.query(text, values))), {
        maxAttempts: MAX_ATTEMPTS,
      }),
    audit: database.audit,
    check: database.check,
    close: database.close,
  };
}

const createSql = (run: (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>): Sql => ({
  query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
    (await run(text, values as unknown[])).rows as Row[],
});
