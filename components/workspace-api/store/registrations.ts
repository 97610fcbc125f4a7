import type { Kysely } from "kysely";

import type { Tables } from "./tables.ts";

/** What is to be registered, and for whom. */
export interface NewRegistration {
  readonly workspace: string;
  /** Which service takes it: `harvester`, `ades`, `catalogue`, `xml`, `application`, `collection`, `json`, `deregister`. */
  readonly queue: string;
  readonly payload: object;
  readonly requestedBy?: string;
}

/** Keeps a request until the service that carries it out takes it. */
export async function addRegistration(
  db: Kysely<Tables>,
  { workspace, queue, payload, requestedBy }: NewRegistration,
): Promise<string> {
  const { id } = await db
    .insertInto("registration")
    .values({ workspace, queue, payload: JSON.stringify(payload), requested_by: requestedBy ?? null, message: null })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
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
