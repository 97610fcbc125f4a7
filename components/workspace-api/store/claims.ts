import { type Lease, createQueue } from "@swath/work";
import type { Kysely } from "kysely";

import type { Tables } from "./tables.ts";

/** A reconciler that died gives its workspaces up after this. */
const LEASE_SECONDS = 120;
export const RENEW_MS = 30_000;

/** Workspaces that are to be looked at, the one that has waited longest first. */
export const workspaceQueue = createQueue<{ readonly name: string }>({
  table: "workspace",
  key: ["name"],
  isOpen: "q.phase <> 'kept'",
  leaseUntil: "lease_until",
  leaseSeconds: LEASE_SECONDS,
  returning: "q.name",
});

interface Release {
  /** The generation that was carried out, when it was carried out whole. */
  readonly observed?: number;
  /** Seconds until the next look. A change of what is wanted in the meantime comes first. */
  readonly nextIn: number;
  /** The generation that was looked at. */
  readonly generation: number;
}

/** Gives a workspace back after a look. */
export async function releaseWorkspace(lease: Lease, { observed, nextIn, generation }: Release): Promise<void> {
  await lease.end(
    `checked_at = now(), observed_generation = greatest(observed_generation, $1),
     next_at = case when generation = $2 then now() + make_interval(secs => $3) else now() end`,
    [observed ?? 0, generation, nextIn],
  );
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
