import type pg from "pg";

interface TransactionOptions {
  /** How often the work may be tried where it fails for what others did meanwhile. 1, and so never again, when left out. */
  readonly maxAttempts?: number;
  /** Called once the transaction is committed, before its connection is given back. */
  readonly onCommit?: (client: pg.PoolClient) => void;
}

/** Deadlock, failed serialization. */
const INTERRUPTIONS = new Set(["40P01", "40001"]);

/** Whether a transaction failed for what others did meanwhile, so that the same again may succeed. */
export const isInterrupted = (error: unknown): boolean => INTERRUPTIONS.has((error as { code?: string }).code ?? "");

/**
 * Runs `work` in a transaction on a connection of its own, and commits before this resolves.
 * @throws what `work` or the database throws; then nothing of it has happened
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { maxAttempts = 1, onCommit }: TransactionOptions = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let failure: Error | undefined;
    try {
      await client.query("begin");
      const result = await work(client);
      await client.query("commit");
      onCommit?.(client);
      return result;
    } catch (error) {
      // A connection that cannot roll back went away with the transaction, and must not be used again.
      await client.query("rollback").catch((cause: Error) => {
        failure = cause;
      });
      if (failure !== undefined || attempt >= maxAttempts || !isInterrupted(error)) {
        throw error;
      }
    } finally {
      client.release(failure);
    }
  }
}
