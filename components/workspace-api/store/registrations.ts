import type { Kysely } from "kysely";

import type { Tables } from "./tables.ts";

/** A registration that was accepted while no service took it. */
export interface KeptRegistration {
  readonly id: string;
  readonly workspace: string;
  readonly queue: string;
  readonly payload: object;
  readonly requested_by: string | null;
}

/** The oldest that nothing has taken. */
export async function nextPending(db: Kysely<Tables>): Promise<KeptRegistration | undefined> {
  return db
    .selectFrom("registration")
    .select(["id", "workspace", "queue", "payload", "requested_by"])
    .where("state", "=", "pending")
    .orderBy("id")
    .executeTakeFirst();
}

export async function endRegistration(
  db: Kysely<Tables>,
  id: string,
  state: "done" | "failed",
  message: string,
): Promise<void> {
  await db.updateTable("registration").set({ state, message, done_at: new Date() }).where("id", "=", id).execute();
}

export async function listRegistrations(db: Kysely<Tables>, workspace: string, limit: number) {
  return db
    .selectFrom("registration")
    .select(["id", "queue", "payload", "state", "message", "requested_by", "requested_at", "done_at"])
    .where("workspace", "=", workspace)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}
