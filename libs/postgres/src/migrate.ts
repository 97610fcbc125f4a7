import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type pg from "pg";

import { isLoginFailure, isTransient } from "./is-passing.ts";

interface MigrateOptions {
  readonly pool: pg.Pool;
  readonly schema: string;
  /** Folder with `0001-name.sql`, `0002-…`. */
  readonly directory: string;
  readonly onUnavailable?: OnUnavailable;
}

/** Told why the database cannot be reached, at each attempt; undefined once it can. */
export type OnUnavailable = (reason: string | undefined) => void;

/**
 * Applies every migration that this database has not seen, each in a transaction of its own, under a lock that makes a
 * second process wait. Forward only.
 * @throws {Error} naming the file when one fails, or when the database is newer than this code
 */
export async function migrate({
  pool,
  schema,
  directory,
  onUnavailable = () => {},
}: MigrateOptions): Promise<readonly string[]> {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .sort();
  for (const [index, file] of files.entries()) {
    if (Number(file.slice(0, 4)) !== index + 1) {
      throw new Error(`${join(directory, file)} should have the number ${String(index + 1).padStart(4, "0")}`);
    }
  }
  const client = await connect(pool, onUnavailable);
  try {
    // A migration may take as long as it takes, and another process waits for it.
    await client.query("set lock_timeout = 0");
    // One lock a schema: the first of several replicas migrates, the others find the work done.
    await client.query("select pg_advisory_lock(hashtext($1))", [`migrate ${schema}`]);
    // A role of its own has its schema already, and may not make another.
    const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
    if (rowCount === 0) {
      await client.query(`create schema if not exists ${schema}`);
    }
    await client.query(
      `create table if not exists ${schema}.migrations (name text primary key, applied_at timestamptz not null default now())`,
    );
    const { rows } = await client.query<{ name: string }>(`select name from ${schema}.migrations order by name`);
    const done = new Set(rows.map(({ name }) => name));
    const unknown = [...done].filter((name) => !files.includes(name));
    if (unknown.length > 0) {
      throw new Error(
        `schema ${schema} has migrations that this version does not know (${unknown.join(", ")}); deploy a newer version`,
      );
    }
    const pending = files.filter((file) => !done.has(file));
    for (const file of pending) {
      await apply(client, schema, directory, file);
    }
    return pending;
  } finally {
    await client.query("select pg_advisory_unlock(hashtext($1))", [`migrate ${schema}`]).catch(() => {});
    await client.query("reset lock_timeout").catch(() => {});
    client.release();
  }
}

async function apply(client: pg.PoolClient, schema: string, directory: string, file: string): Promise<void> {
  try {
    await client.query("begin");
    await client.query(readFileSync(join(directory, file), "utf8"));
    await client.query(`insert into ${schema}.migrations (name) values ($1)`, [file]);
    await client.query("commit");
  } catch (cause) {
    await client.query("rollback").catch(() => {});
    throw new Error(
      `migration ${file} of schema ${schema} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

const INITIAL_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2000;

/** How long a login that is refused is tried again: where everything starts at once, the role may not be there yet. */
const LOGIN_TIMEOUT_MS = 15_000;

/**
 * Waits for a database that is starting, restarting or unreachable, for as long as that takes: a process that ended instead would
 * be started again into the same wait, ever more slowly. A login that goes on being refused is an error, anything else at once.
 */
async function connect(pool: pg.Pool, onUnavailable: OnUnavailable): Promise<pg.PoolClient> {
  const began = performance.now();
  for (let delayMs = INITIAL_BACKOFF_MS; ; delayMs = Math.min(delayMs * 2, MAX_BACKOFF_MS)) {
    try {
      const client = await pool.connect();
      onUnavailable(undefined);
      return client;
    } catch (error) {
      const failure = error as NodeJS.ErrnoException;
      const mayPass = isLoginFailure(failure) && performance.now() - began < LOGIN_TIMEOUT_MS;
      if (!isTransient(failure) && !mayPass) {
        throw error;
      }
      onUnavailable(`the database cannot be reached: ${failure.message}`);
      await sleep(delayMs);
    }
  }
}
