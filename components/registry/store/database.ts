import { join } from "node:path";

import { type PooledDatabase, openPool } from "@swath/postgres/pool";
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

/** Deadlock detected, serialization failure. */
const RETRIED = new Set(["40P01", "40001"]);
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
  const query: Sql["query"] = async <Row extends object>(text: string, values?: readonly unknown[]) =>
    (await pool.query<Row>(text, values as unknown[])).rows;

  const attempt = async <T>(work: (tx: Sql) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let broken = false;
    try {
      await client.query("begin");
      const result = await work({
        query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
          (await client.query<Row>(text, values as unknown[])).rows,
      });
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  };

  return {
    pool,
    query,
    transact: async (work) => {
      for (let attempts = 1; ; attempts++) {
        try {
          return await attempt(work);
        } catch (error) {
          if (attempts === MAX_ATTEMPTS || !RETRIED.has((error as { code?: string }).code ?? "")) {
            throw error;
          }
        }
      }
    },
    audit: database.audit,
    check: database.check,
    close: database.close,
  };
}
