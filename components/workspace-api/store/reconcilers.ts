import type { Kysely } from "kysely";
import { sql } from "kysely";

import type { Tables } from "./tables.ts";

/** Says that a reconciler is at work; those that have been silent for a day are forgotten. */
export async function beat(db: Kysely<Tables>, id: string): Promise<void> {
  await db
    .insertInto("reconciler")
    .values({ id })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at: sql`now()` }))
    .execute();
  await db
    .deleteFrom("reconciler")
    .where("seen_at", "<", sql<Date>`now() - interval '1 day'`)
    .execute();
}

/** When a reconciler was last seen at work; `undefined` where none ever was. */
export async function lastBeat(db: Kysely<Tables>): Promise<Date | undefined> {
  const row = await db
    .selectFrom("reconciler")
    .select((select) => select.fn.max("seen_at").as("at"))
    .executeTakeFirst();
  return row?.at ?? undefined;
}
