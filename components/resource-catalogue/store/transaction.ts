import { inTransaction as runInTransaction } from "@swath/postgres/pool";
import type pg from "pg";

const MAX_ATTEMPTS = 5;

/**
 * Runs work in a transaction, and commits before this resolves.
 * @param maxAttempts 1 for work that cannot be repeated, as what it read is gone
 */
export const inTransaction = <T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  maxAttempts = MAX_ATTEMPTS,
): Promise<T> => runInTransaction(pool, work, { maxAttempts });
