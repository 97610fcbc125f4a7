import type pg from "pg";

/** One thing that somebody did. Holds no secret: whoever administers can read it. */
export interface AuditEntry {
  /** What was done: `DELETE /workspaces/:name`, `LOGIN`. */
  readonly action: string;
  /** Who did it: the subject of a token, or `anonymous`. */
  readonly actor: string;
  readonly actorName?: string | undefined;
  /** What it was done to. */
  readonly target?: string | undefined;
  readonly ip?: string | undefined;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** Notes what a service lets people do. Never in the way of a request. */
export interface AuditLog {
  readonly note: (entry: AuditEntry) => void;
  /** Seals what triggers of the database note, every so often, until it is closed. */
  readonly sealEvery: (milliseconds: number) => void;
  readonly close: () => Promise<void>;
}

const FLUSH_MS = 500;
const RETRY_MS = 5000;
/** Entries that wait while the database is away. */
const MAX_WAITING = 10_000;
const BATCH = 200;
const LOOK_AGAIN_MS = 30_000;

/**
 * Writes entries in batches, and seals them. A database whose roles the deployment did not make (`DATABASE_ROLES=shared`) has no trail:
 * nothing is noted then, and `swath audit` says so.
 * @param onError is told what was lost
 */
export function createAuditLog(pool: Pick<pg.Pool, "query">, onError: (error: Error) => void): AuditLog {
  let waiting: AuditEntry[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let hasTrail: boolean | undefined;
  let lookedAt = 0;
  let sealing: NodeJS.Timeout | undefined;

  /** Looks for the trail again from time to time: a service that does not wait for the database may be there before it is made. */
  const lacksTrail = () => hasTrail === false && Date.now() - lookedAt < LOOK_AGAIN_MS;
  const look = async (): Promise<boolean> => {
    if (hasTrail !== true && !lacksTrail()) {
      hasTrail = await findTrail(pool);
      lookedAt = Date.now();
    }
    return hasTrail === true;
  };
  const write = async (): Promise<void> => {
    if (!(await look())) {
      waiting = [];
      return;
    }
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      await pool.query("select audit.note(value) from jsonb_array_elements($1::jsonb)", [JSON.stringify(batch)]);
      waiting = waiting.slice(batch.length);
    }
    await pool.query("select audit.seal()");
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= write()
      .catch((error: unknown) => {
        onError(error as Error);
        schedule(RETRY_MS);
      })
      .finally(() => (writing = undefined));
    return writing;
  };
  const schedule = (milliseconds = FLUSH_MS): void => {
    if (waiting.length > 0) {
      timer ??= setTimeout(() => void flush(), milliseconds).unref();
    }
  };
  return {
    note: (entry) => {
      if (lacksTrail()) {
        return;
      }
      if (waiting.length >= MAX_WAITING) {
        onError(new Error(`the database is away and ${MAX_WAITING} entries of the audit trail wait: one was lost`));
        return;
      }
      waiting.push(entry);
      schedule();
    },
    sealEvery: (milliseconds) => {
      sealing = setInterval(() => {
        const seal = async () => {
          if (await look()) {
            await pool.query("select audit.seal()");
          }
        };
        seal().catch((error: unknown) => onError(error as Error));
      }, milliseconds).unref();
    },
    close: async () => {
      clearInterval(sealing);
      // What came while a batch was written needs another one.
      await writing;
      if (waiting.length > 0) {
        await flush();
      }
    },
  };
}

async function findTrail(pool: Pick<pg.Pool, "query">): Promise<boolean> {
  const { rows } = await pool.query<{ has: boolean }>(
    `select case when to_regnamespace('audit') is null then false
       when not has_schema_privilege('audit', 'usage') then false
       else to_regprocedure('audit.note(jsonb)') is not null end as has`,
  );
  return rows[0]?.has === true;
}
