import type pg from "pg";

import { notePartsChanged, tableOf } from "./create-parts.ts";
import { COMMON_PART } from "./part-map.ts";

/** Lets go of parts that are empty and get nothing new: those that others have taken the place of, and those of collections that are gone. */
export async function dropEmptyParts(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ number: number }>(
    "select number from part where number <> $1 and (is_retired or collection is null) order by number",
    [COMMON_PART],
  );
  for (const { number } of rows) {
    await forget(client, number);
  }
  await dropForgotten(client);
}

/** Ends the part, unless something is in it, or somebody who knows it from before is writing into it. */
async function forget(client: pg.ClientBase, number: number): Promise<void> {
  await client.query("begin");
  try {
    // Writers of the part hold a share of its row: they end first, and whoever comes later finds it gone and writes elsewhere.
    const { rowCount } = await client.query(
      "delete from part where number = (select number from part where number = $1 for update skip locked)",
      [number],
    );
    const { rows } = await client.query(`select 1 from ${tableOf(number)} limit 1`);
    if (rowCount === 1 && rows.length === 0) {
      await notePartsChanged(client);
      await client.query("commit");
      return;
    }
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
  await client.query("rollback");
}

/** Tables of parts that are no more: this may have been left unfinished before. */
async function dropForgotten(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; is_attached: boolean; is_pending: boolean }>(
    `select c.relname as name, i.inhrelid is not null as is_attached, coalesce(i.inhdetachpending, false) as is_pending
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname ~ '^record_[0-9]+$'
       and not exists (select 1 from part p where 'record_' || p.number = c.relname)
     order by is_pending desc, name`,
  );
  for (const { name, is_attached: isAttached, is_pending: isPending } of rows) {
    const { rows: left } = await client.query(`select 1 from ${name} limit 1`);
    if (left.length > 0) {
      throw new Error(`table ${name} is of no part of the catalogue, and has records`);
    }
    if (isAttached) {
      // Searches go on; those that began before are waited for.
      await client.query(`alter table record detach partition ${name} ${isPending ? "finalize" : "concurrently"}`);
    }
    await client.query(`drop table ${name}`);
  }
}

/** Gives up the parts of a collection that is deleted, inside a transaction that has emptied them. */
export async function releaseParts(client: pg.ClientBase, collection: number): Promise<void> {
  const { rowCount } = await client.query(
    "update part set collection = null, is_retired = true where collection = $1",
    [collection],
  );
  if (rowCount !== 0) {
    await notePartsChanged(client);
  }
}
