import { Kysely, PostgresDialect } from "kysely";

import { type DatabaseOptions, type PooledDatabase, openPool } from "./open-pool.ts";

export type { DatabaseOptions };

/** A component's own corner of the deployment's PostgreSQL. */
export interface Database<Tables> extends PooledDatabase {
  readonly db: Kysely<Tables>;
}

/** Opens the pool, waits for the database, brings the schema up to date, and gives typed queries on it. */
export async function openDatabase<Tables>(options: DatabaseOptions): Promise<Database<Tables>> {
  const database = await openPool(options);
  return { ...database, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: database.pool }) }) };
}
