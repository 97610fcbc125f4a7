import pg from "pg";

import { type AuditLog, createAuditLog } from "./audit/audit-log.ts";
import { type OnUnavailable, migrate } from "./migrate.ts";
import { PreparedClient } from "./prepared-client.ts";

/** A component's own corner of the deployment's PostgreSQL, for statements of its own. */
export interface PooledDatabase {
  readonly pool: pg.Pool;
  /** The audit trail of the deployment. Takes nothing where the database has none. */
  readonly audit: AuditLog;
  /** Rejects with the reason when the database does not answer; for readiness. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`, or `…@/database?host=/socket/folder`. */
  readonly url: string;
  /** PostgreSQL schema that holds the component's tables; made when missing. Names without a schema mean it. */
  readonly schema: string;
  /** Folder of numbered `.sql` files, applied once each, in order. */
  readonly migrations?: string;
  /** Connections at most; 10 when left out. */
  readonly connections?: number;
  /** Settings of PostgreSQL for these connections, such as `statement_timeout`. Values have no blanks. `lock_timeout` is 10 s unless given. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Called for a connection that broke; statements on it fail by themselves. */
  readonly onError: (error: Error) => void;
  /** Told why the database cannot be reached, while it is waited for. */
  readonly onUnavailable?: OnUnavailable;
}

/** How long a statement waits for rows that another transaction holds. Every waiting statement keeps a connection that others need. */
const LOCK_TIMEOUT = "10s";

/** Opens the pool, waits for the database, and brings the schema up to date. */
export async function openPool({
  url,
  schema,
  migrations,
  connections = 10,
  parameters = {},
  onError,
  onUnavailable,
}: DatabaseOptions): Promise<PooledDatabase> {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TypeError(`"${schema}" is not a schema name; allowed: lower-case letters, digits and _`);
  }
  const pool = new pg.Pool({
    Client: PreparedClient,
    connectionString: url,
    max: connections,
    options: Object.entries({ search_path: `${schema},public`, lock_timeout: LOCK_TIMEOUT, ...parameters })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // The pool listens only while a connection is idle; one that breaks between two statements of a transaction would end the
  // process for want of a listener.
  pool.on("connect", (client) => client.on("error", onError));
  pool.on("error", () => {});
  if (migrations !== undefined) {
    await migrate({ pool, schema, directory: migrations, ...(onUnavailable && { onUnavailable }) });
  }
  const audit = createAuditLog(pool, onError);
  return {
    pool,
    audit,
    check: async () => {
      await pool.query("select 1");
    },
    close: async () => {
      await audit.close();
      await pool.end();
    },
  };
}
