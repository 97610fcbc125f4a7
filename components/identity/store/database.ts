import { join } from "node:path";

import { type Database, openDatabase } from "@swath/postgres";
import type pg from "pg";

/** What stores run their statements on: the pool, or a client inside a transaction. */
export interface Queryable {
  query: <Row extends pg.QueryResultRow>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ) => Promise<pg.QueryResult<Row>>;
}

/** Opens the schema `identity` and brings it up to date. */
export function openIdentityDatabase(
  url: string,
  onError: (error: Error) => void,
  connections = 20,
  onUnavailable: (reason: string | undefined) => void = () => {},
): Promise<Database<unknown>> {
  return openDatabase({
    url,
    schema: "identity",
    migrations: join(import.meta.dirname, "..", "migrations"),
    connections,
    onError,
    onUnavailable,
  });
}

/** Runs `work` in a transaction: all of it happened, or none. `onCommit` is called once it has. */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  onCommit: (client: pg.PoolClient) => void = () => {},
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    onCommit(client);
    return result;
  } catch (error) {
    await client.query("rollback").catch((cause: Error) => (broken = cause));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** PostgreSQL's code of a violated unique constraint. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Guards columns of type uuid against anything else: the database would answer with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
