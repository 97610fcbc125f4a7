import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import { inTransaction } from "./transaction.ts";

/** How long a load stands in PostgreSQL's queue for the lock at a time; in between it looks whether its client is still there. */
const QUEUE_MS = 1000;
/** Pause between two attempts, in which no connection is held. */
const PAUSE_MS = 100;
/** While a load waits, its body is not read, and a client that goes is not noticed where it has sent more than is read ahead. */
const MAX_LOAD_WAIT_MS = 120_000;
/** Other writers wait as long as those of one record; their clients may send the same again. */
const MAX_WAIT_MS = 10_000;
const LOCK_NOT_AVAILABLE = "55P03";

/** A load of the collection is under way, or many records are written into it. */
export class LoadInProgress extends Error {
  override readonly name = "LoadInProgress";

  constructor() {
    super("Another load of this collection is under way, and nothing was written; send this again when it has ended.");
  }
}

/**
 * Held while many records are written: `exclusive` by loads that write batch by batch, `shared` by those that lock all ids at once.
 * Two writers that lock the same ids in different orders would wait for each other. The transaction is to be rolled back, and begun again
 * by `inTransactionBetweenLoads`, where this throws.
 * @throws {LoadInProgress}
 */
export async function lockForLoading(
  client: pg.PoolClient,
  collection: number,
  mode: "exclusive" | "shared",
): Promise<void> {
  const suffix = mode === "exclusive" ? "" : "_shared";
  const key = "(hashtext('catalogue load'), $1)";
  const { rows } = await client.query<{ is_held: boolean }>(
    `select pg_try_advisory_xact_lock${suffix}${key} as is_held`,
    [collection],
  );
  if (rows[0]?.is_held === true) {
    return;
  }
  if (mode === "shared") {
    throw new LoadInProgress();
  }
  // From within the queue: writers of batches that come one after the other would never leave the lock free.
  await client.query(`set local lock_timeout = ${QUEUE_MS}`);
  try {
    await client.query(`select pg_advisory_xact_lock${key}`, [collection]);
  } catch (error) {
    throw (error as { code?: string }).code === LOCK_NOT_AVAILABLE ? new LoadInProgress() : error;
  }
  await client.query("set local lock_timeout to default");
}

interface WaitOptions {
  /** Aborts when the client goes. */
  readonly signal?: AbortSignal | undefined;
  /** The work is a load: it waits for two minutes, and is not repeated after a deadlock, as its body is read once. */
  readonly isLoad?: boolean;
}

/**
 * Runs work that calls `lockForLoading` in a transaction, from its beginning whenever a load is under way. Between two attempts no connection is
 * held: those of all writers would otherwise be gone while one client takes its time to send a load.
 * @throws {LoadInProgress} after ten seconds, of a load after two minutes
 * @throws the reason of the signal when that aborts
 */
export async function inTransactionBetweenLoads<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { signal, isLoad = false }: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + (isLoad ? MAX_LOAD_WAIT_MS : MAX_WAIT_MS);
  for (;;) {
    try {
      return await inTransaction(pool, work, isLoad ? 1 : undefined);
    } catch (error) {
      if (!(error instanceof LoadInProgress) || Date.now() > deadline) {
        throw error;
      }
      signal?.throwIfAborted();
    }
    await sleep(PAUSE_MS * (0.5 + Math.random()));
  }
}
