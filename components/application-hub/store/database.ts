import { type PooledDatabase, inTransaction, openPool } from "@swath/postgres/pool";
import { hash, randomBytes } from "node:crypto";

/** Statements on the hub's tables. */
export interface Sql {
  readonly rows: <T>(text: string, values?: readonly unknown[]) => Promise<readonly T[]>;
  readonly first: <T>(text: string, values?: readonly unknown[]) => Promise<T | undefined>;
  /** Statements in one transaction, which holds a lock on `key` so that others with the same key wait. */
  readonly exclusive: <T>(key: string, work: (sql: Sql) => Promise<T>) => Promise<T>;
}

export interface HubDatabase extends Sql {
  readonly audit: PooledDatabase["audit"];
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Options {
  readonly url: string;
  readonly connections?: number;
  readonly onError: (error: Error) => void;
  readonly onUnavailable?: (reason: string | undefined) => void;
}

export const CHANNEL = "application_hub";

export async function openHubDatabase({ url, connections = 8, onError, onUnavailable }: Options): Promise<HubDatabase> {
  const database = await openPool({
    url,
    schema: "application_hub",
    migrations: `${import.meta.dirname}/../migrations`,
    connections,
    onError,
    ...(onUnavailable && { onUnavailable }),
  });
  const { pool } = database;
  return {
    ...createSql((text, values) => pool.query(text, values)),
    exclusive: (key, work) =>
      inTransaction(pool, async (client) => {
        await client.query("select pg_advisory_xact_lock(hashtext($1))", [key]);
        return work(createSql((text, values) => client.query(text, values)));
      }),
    audit: database.audit,
    check: database.check,
    close: database.close,
  };
}

type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>;

function createSql(query: Query): Sql {
  const rows = async <T>(text: string, values: readonly unknown[] = []) =>
    (await query(text, [...values])).rows as readonly T[];
  return {
    rows,
    first: async <T>(text: string, values?: readonly unknown[]) => (await rows<T>(text, values))[0],
    // Already in one.
    exclusive: (_key, work) => work(createSql(query)),
  };
}

/** A secret that is given out once; only its hash is kept. */
export function createSecret(): { readonly secret: string; readonly hash: string } {
  const secret = randomBytes(32).toString("base64url");
  return { secret, hash: hashSecret(secret) };
}

export const hashSecret = (secret: string): string => hash("sha256", secret);
