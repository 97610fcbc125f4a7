import type pg from "pg";

export interface BackgroundWork {
  /** Looks at once whether there is something to do. */
  readonly wake: () => void;
  readonly close: () => Promise<void>;
}

interface Options {
  readonly pool: pg.Pool;
  /** Replicas of the service do this one at a time. */
  readonly lock: string;
  readonly intervalMs: number;
  /** After which it is looked for the first time: a start has enough to do. At once when left out. */
  readonly delayMs?: number;
  /** Returns `true` to be called again at once. */
  readonly work: (client: pg.PoolClient, isClosed: () => boolean) => Promise<boolean | void>;
  readonly onError: (error: Error) => void;
}

/** Does something from time to time, and when it is woken, by one replica at a time: whoever finds another one at it leaves it. */
export function startBackgroundWork({ pool, lock, intervalMs, delayMs = 0, work, onError }: Options): BackgroundWork {
  let running: Promise<void> | undefined;
  let again = false;
  let isClosed = false;
  let abort = (): void => {};
  const run = async (): Promise<void> => {
    while (again && !isClosed) {
      again = false;
      const client = await pool.connect();
      let isBroken = false;
      // Work may take long, and nobody waits for it at the end of the process: the next one looks what became of it.
      abort = () => {
        isBroken = true;
        client.release(true);
      };
      try {
        const isUnfinished = await withLock(client, lock, () => work(client, () => isClosed));
        again ||= isUnfinished === true;
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
    running ??= run()
      .catch((error: unknown) => {
        if (!isClosed) {
          onError(error as Error);
        }
      })
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(wake, intervalMs);
  timer.unref();
  const first = setTimeout(wake, delayMs);
  first.unref();
  return {
    wake,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(first);
      abort();
      await running;
    },
  };
}

async function withLock<T>(client: pg.PoolClient, lock: string, work: () => Promise<T>): Promise<T | undefined> {
  // Not waited for: whoever waits inside of a statement is itself waited for by a build of an index.
  const { rows } = await client.query<{ is_mine: boolean }>("select pg_try_advisory_lock(hashtext($1)) as is_mine", [
    lock,
  ]);
  if (rows[0]?.is_mine !== true) {
    return undefined;
  }
  try {
    // A build of an index waits for every transaction that is older, such as a load.
    await client.query("set lock_timeout = 0");
    return await work();
  } finally {
    await client.query("reset lock_timeout").catch(() => {});
    await client.query("select pg_advisory_unlock(hashtext($1))", [lock]).catch(() => {});
  }
}
