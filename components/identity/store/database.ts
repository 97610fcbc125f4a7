import { hash } from "node:crypto";
import { join } from "node:path";

import { type Database, openDatabase } from "@swath/postgres";
import type pg from "pg";

/** What stores run their statements on: the pool, or a client inside a transaction. */
export interface Queryable {
  query: <Row extends pg.QueryResultRow>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ) => Promise<pg.QueryResult<Row>>;
}

/** Opens the schema `identity` and brings it up to date. */
export function openIdentityDatabase(
  url: string,
  onError: (error: Error) => void,
  connections = 20,
  onUnavailable: (reason: string | undefined) => void = () => {},
): Promise<Database<unknown>> {
  return openDatabase({
    url,
    schema: "identity",
    migrations: join(import.meta.dirname, "..", "migrations"),
    connections,
    onError,
    onUnavailable,
  });
}

/** PostgreSQL's code of a violated unique constraint. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID that always stands for the same text (RFC 9562 §5.8). */
export function toUuid(text: string): string {
  const hex = hash("sha256", text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Guards columns of type uuid against anything else: the database would answer with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
