import { type PooledDatabase, openPool } from "@swath/postgres/pool";
import { type TestServer, startTestServer } from "@swath/postgres/server";

import { type Queue, createQueue } from "../src/index.ts";

export interface Row {
  readonly id: string;
  readonly attempts: number;
  readonly state: string;
}

/** The two kinds of tables that components have: with a column for the lease, and with one column for both. */
export const kinds = ["lease_until", undefined] as const;

export const createTestQueue = (leaseUntil: string | undefined, leaseSeconds: number): Queue<Row> =>
  createQueue<Row>({
    table: "item",
    key: ["id"],
    isOpen: "q.state = 'open'",
    ...(leaseUntil !== undefined && { leaseUntil }),
    leaseSeconds,
    onClaim: "attempts = q.attempts + 1",
  });

export async function openTestDatabase(): Promise<{
  readonly server: TestServer;
  readonly database: PooledDatabase;
  readonly reset: (items: number) => Promise<void>;
}> {
  const server = await startTestServer();
  const database = await openPool({ url: server.url, schema: "work", connections: 20, onError: () => {} });
  await database.pool.query(`create table item (
    id text primary key, state text not null default 'open', attempts int not null default 0, holder text,
    done int not null default 0, next_at timestamptz not null default now(), lease_until timestamptz)`);
  return {
    server,
    database,
    reset: async (items) => {
      await database.pool.query("truncate item");
      await database.pool.query("insert into item (id) select 'item ' || i from generate_series(1, $1::int) i", [
        items,
      ]);
    },
  };
}
