import type { Kysely } from "kysely";
import { sql } from "kysely";

import type { Tables } from "./tables.ts";

/** How long a workspace is one reconciler's; a reconciler that died gives it up after this. */
const LEASE = "2 minutes";

/** Takes the workspace that has waited longest for a look. `undefined` when none is due. */
export async function claimWorkspace(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    update workspace set lease_until = now() + ${sql.lit(LEASE)}::interval
    where name = (
      select name from workspace
      where phase <> 'kept' and next_at <= now() and (lease_until is null or lease_until < now())
      order by next_at for update skip locked limit 1)
    returning name`.execute(db);
  return rows[0]?.name;
}

interface Release {
  readonly name: string;
  /** The generation that was carried out, when it was carried out whole. */
  readonly observed?: number;
  /** Seconds until the next look. A change of what is wanted in the meantime comes first. */
  readonly nextIn: number;
  /** The generation that was looked at. */
  readonly generation: number;
}

/** Gives a workspace back after a look. */
export async function releaseWorkspace(
  db: Kysely<Tables>,
  { name, observed, nextIn, generation }: Release,
): Promise<void> {
  await sql`
    update workspace set
      lease_until = null, checked_at = now(),
      observed_generation = greatest(observed_generation, ${observed ?? 0}),
      next_at = case when generation = ${generation} then now() + make_interval(secs => ${nextIn}) else now() end
    where name = ${name}`.execute(db);
}

/** Milliseconds until the next workspace is due; `undefined` where there is none. */
export async function untilNextDue(db: Kysely<Tables>): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from min(greatest(next_at, coalesce(lease_until, next_at))) - now()) * 1000 as ms
    from workspace where phase <> 'kept'`.execute(db);
  const ms = rows[0]?.ms;
  return ms === null || ms === undefined ? undefined : Math.max(0, Number(ms));
}

/** The end of a deletion: the workspace is forgotten, or remembered as the owner of data that was kept. */
export async function finishDeletion(db: Kysely<Tables>, name: string, generation: number): Promise<void> {
  await db
    .deleteFrom("workspace")
    .where("name", "=", name)
    .where("phase", "=", "deleting")
    .where("data", "=", "purge")
    .where("generation", "=", String(generation))
    .execute();
  await db
    .updateTable("workspace")
    .set({ phase: "kept", lease_until: null, observed_generation: String(generation) })
    .where("name", "=", name)
    .where("phase", "=", "deleting")
    .where("data", "=", "keep")
    .where("generation", "=", String(generation))
    .execute();
}

/** Notes who the owner or a member is, once the identity service has said so. */
export async function setOwner(db: Kysely<Tables>, name: string, id: string, username: string): Promise<void> {
  await db.updateTable("workspace").set({ owner_id: id, owner_name: username }).where("name", "=", name).execute();
}

/** Takes a member out that turned out to be no user. */
export async function removeMember(db: Kysely<Tables>, workspace: string, username: string): Promise<void> {
  await db
    .deleteFrom("member")
    .where("workspace", "=", workspace)
    .where("username", "=", username)
    .where("user_id", "is", null)
    .execute();
}

export async function setMemberId(db: Kysely<Tables>, workspace: string, username: string, id: string): Promise<void> {
  await db
    .updateTable("member")
    .set({ user_id: id })
    .where("workspace", "=", workspace)
    .where("username", "=", username)
    .execute();
}
