import type pg from "pg";

/** PostgreSQL asks for the same again: a deadlock with something that is not ours, or a failed serialization. */
const AGAIN = new Set(["40P01", "40001"]);
const MAX_ATTEMPTS = 5;

/** Whether a transaction failed for what others did meanwhile, so that the same again may succeed. */
export const isInterrupted = (error: unknown): boolean => AGAIN.has((error as { code?: string }).code ?? "");

/**
 * Runs work in a transaction, and commits before this resolves.
 * @param maxAttempts 1 for work that cannot be repeated, as what it read is gone
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  maxAttempts = MAX_ATTEMPTS,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let isBroken = false;
    try {
      await client.query("begin");
      const result = await work(client);
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => {
        // The connection went away with the transaction.
        isBroken = true;
      });
      if (isBroken || !isInterrupted(error) || attempt === maxAttempts) {
        throw error;
      }
    } finally {
      client.release(isBroken);
    }
  }
}
