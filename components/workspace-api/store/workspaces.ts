import type { Kysely, Selectable } from "kysely";
import { sql } from "kysely";

import type { DataFate, Phase, Role, Tables } from "./tables.ts";

export interface Member {
  readonly username: string;
  readonly userId: string | null;
  readonly role: Role;
}

/** A workspace as it is wanted. */
export interface Workspace {
  readonly name: string;
  readonly preferredName: string;
  readonly owner: string;
  readonly ownerId: string | null;
  readonly ownerName: string | null;
  readonly phase: Phase;
  readonly data: DataFate | null;
  readonly quotaMb: number | null;
  readonly keyVersion: number;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly idempotencyKey: string | null;
  readonly createdAt: Date;
  readonly checkedAt: Date | null;
  /** The owner first, the others by name. */
  readonly members: readonly Member[];
}

export interface NewWorkspace {
  readonly name: string;
  readonly preferredName: string;
  readonly owner: string;
  readonly ownerId?: string;
  readonly ownerName?: string;
  readonly idempotencyKey?: string;
  readonly createdBy?: string;
}

export interface Changes {
  readonly quotaMb?: number | null;
  /** Everybody but the owner, whole. */
  readonly members?: readonly { readonly username: string; readonly role: "writer" | "reader" }[];
  readonly rotateKeys?: boolean;
}

/** Channel on which changes of what is wanted are told to the reconciler. */
export const WORKSPACE_CHANNEL = "workspace_change";

type Db = Kysely<Tables>;

/**
 * Stores a new workspace. `false` where one of that name exists or keeps data: nothing is changed then. `limit`: how many the owner
 * may have with it.
 * @throws {TooManyWorkspacesError}
 */
export async function insertWorkspace(db: Db, workspace: NewWorkspace, limit?: number): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    if (limit !== undefined) {
      await refuseBeyond(transaction, workspace, limit);
    }
    const { numInsertedOrUpdatedRows: inserted } = await transaction
      .insertInto("workspace")
      .values({
        name: workspace.name,
        preferred_name: workspace.preferredName,
        owner: workspace.owner,
        owner_id: workspace.ownerId ?? null,
        owner_name: workspace.ownerName ?? null,
        idempotency_key: workspace.idempotencyKey ?? null,
        created_by: workspace.createdBy ?? null,
      })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .executeTakeFirstOrThrow();
    if (Number(inserted ?? 0) === 0) {
      return false;
    }
    await notify(transaction, workspace.name);
    return true;
  });
}

/**
 * Gives a deleted workspace whose data was kept back to its owner. `false` where that is not the case.
 */
export async function restoreWorkspace(db: Db, workspace: NewWorkspace): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const revived = await transaction
      .updateTable("workspace")
      .set({
        phase: "active",
        data: null,
        preferred_name: workspace.preferredName,
        idempotency_key: workspace.idempotencyKey ?? null,
        created_by: workspace.createdBy ?? null,
        ...nextGeneration(),
      })
      .where("name", "=", workspace.name)
      .where("phase", "=", "kept")
      .where((where) =>
        where.or([
          where("owner", "=", workspace.owner),
          ...(workspace.ownerId === undefined ? [] : [where("owner_id", "=", workspace.ownerId)]),
        ]),
      )
      .executeTakeFirst();
    if (Number(revived.numUpdatedRows) === 0) {
      return false;
    }
    await notify(transaction, workspace.name);
    return true;
  });
}

/** One workspace with its members, also one that is being deleted or only keeps data. */
export async function findWorkspace(db: Db, name: string): Promise<Workspace | undefined> {
  const row = await db.selectFrom("workspace").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toWorkspace(row, await membersOf(db, [name]));
}

interface ListOptions {
  /** Only workspaces that this user is a member of. */
  readonly user?: { readonly id: string; readonly username?: string };
  readonly limit: number;
  /** Names after this one. */
  readonly after?: string;
}

/** Workspaces by name that are not deleted. */
export async function listWorkspaces(db: Db, { user, limit, after = "" }: ListOptions): Promise<readonly Workspace[]> {
  let query = db.selectFrom("workspace").selectAll().where("phase", "<>", "kept").where("name", ">", after);
  if (user !== undefined) {
    query = query.where((where) =>
      where.or([
        where("owner_id", "=", user.id),
        where.and([where("owner_id", "is", null), where("owner", "in", namesOf(user))]),
        where.exists(
          where
            .selectFrom("member")
            .whereRef("member.workspace", "=", "workspace.name")
            .where((member) =>
              member.or([
                member("user_id", "=", user.id),
                member.and([member("user_id", "is", null), member("username", "in", namesOf(user))]),
              ]),
            )
            .select("member.username"),
        ),
      ]),
    );
  }
  const rows = await query.orderBy("name").limit(limit).execute();
  const members = await membersOf(
    db,
    rows.map(({ name }) => name),
  );
  return rows.map((row) => toWorkspace(row, members));
}

/** The owner has as many workspaces as one user may have. */
export class TooManyWorkspacesError extends Error {
  override readonly name = "TooManyWorkspacesError";
}

/** One after the other for each owner, so that requests that come at once do not all find room for one more. */
async function refuseBeyond(transaction: Db, { name, ownerId, owner }: NewWorkspace, limit: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`workspaces of ${ownerId ?? owner}`}))`.execute(transaction);
  const owned = (await listOwned(transaction, ownerId ?? owner)).filter((workspace) => workspace.name !== name);
  if (owned.length >= limit) {
    throw new TooManyWorkspacesError(`${ownerId ?? owner} has ${owned.length} workspaces`);
  }
}

/** Workspaces in use that this user owns, by name; the user as the identity service calls it, or by id. */
export async function listOwned(db: Db, user: string): Promise<readonly Workspace[]> {
  const rows = await db
    .selectFrom("workspace")
    .selectAll()
    .where("phase", "=", "active")
    .where((where) =>
      where.or([
        where("owner_name", "=", user),
        where("owner_id", "=", user),
        where.and([where("owner_id", "is", null), where("owner", "=", user)]),
      ]),
    )
    .orderBy("created_at")
    .execute();
  return rows.map((row) => toWorkspace(row, []));
}

/** Changes what is wanted. `false` where there is no such workspace in use. */
export async function changeWorkspace(db: Db, name: string, changes: Changes): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { quotaMb, members, rotateKeys } = changes;
    const changed = await transaction
      .updateTable("workspace")
      .set({
        ...nextGeneration(),
        ...(quotaMb !== undefined && { quota_mb: quotaMb }),
        ...(rotateKeys === true && { key_version: sql<number>`key_version + 1` }),
      })
      .where("name", "=", name)
      .where("phase", "=", "active")
      .executeTakeFirst();
    if (Number(changed.numUpdatedRows) === 0) {
      return false;
    }
    if (members !== undefined) {
      await replaceMembers(transaction, name, members);
    }
    await notify(transaction, name);
    return true;
  });
}

/** Asks for the end of a workspace, or for the end of the data that a deleted one left. `false` where there is none. */
export async function deleteWorkspace(db: Db, name: string, data: DataFate): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const changed = await transaction
      .updateTable("workspace")
      .set({ phase: "deleting", data, ...nextGeneration() })
      .where("name", "=", name)
      .where((where) =>
        where.or([where("phase", "=", "active"), ...(data === "purge" ? [where("phase", "<>", "active")] : [])]),
      )
      .executeTakeFirst();
    if (Number(changed.numUpdatedRows) === 0) {
      return false;
    }
    await notify(transaction, name);
    return true;
  });
}

/** Has the reconciler look at a workspace now. */
export async function requeueNow(db: Db, name: string): Promise<void> {
  await db
    .updateTable("workspace")
    .set({ next_at: sql`now()` })
    .where("name", "=", name)
    .execute();
  await notify(db, name);
}

async function replaceMembers(
  db: Db,
  workspace: string,
  members: readonly { readonly username: string; readonly role: Role }[],
): Promise<void> {
  const names = members.map(({ username }) => username);
  await db
    .deleteFrom("member")
    .where("workspace", "=", workspace)
    .$if(names.length > 0, (query) => query.where("username", "not in", names))
    .execute();
  if (members.length > 0) {
    await db
      .insertInto("member")
      .values(members.map(({ username, role }) => ({ workspace, username, user_id: null, role })))
      .onConflict((conflict) =>
        conflict.columns(["workspace", "username"]).doUpdateSet((set) => ({ role: set.ref("excluded.role") })),
      )
      .execute();
  }
}

function nextGeneration() {
  return {
    generation: sql<string>`generation + 1`,
    updated_at: sql<Date>`now()`,
    next_at: sql<Date>`now()`,
  };
}

async function notify(db: Db, name: string): Promise<void> {
  await sql`select pg_notify(${WORKSPACE_CHANNEL}, ${name})`.execute(db);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * What an unresolved owner or member may be called so that it means this user: the user name, or the id. A user name that looks
 * like an id is never one: people choose their names.
 */
export function namesOf({ id, username }: { readonly id: string; readonly username?: string }): readonly string[] {
  return [id, ...(username === undefined || looksLikeId(username) ? [] : [username])];
}

/** Whether a name could be the id of a user. */
export function looksLikeId(name: string): boolean {
  return UUID.test(name);
}

async function membersOf(db: Db, names: readonly string[]) {
  return names.length === 0
    ? []
    : db.selectFrom("member").selectAll().where("workspace", "in", names).orderBy("username").execute();
}

function toWorkspace(
  row: Selectable<Tables["workspace"]>,
  members: readonly Selectable<Tables["member"]>[],
): Workspace {
  return {
    name: row.name,
    preferredName: row.preferred_name,
    owner: row.owner,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    phase: row.phase,
    data: row.data,
    quotaMb: row.quota_mb,
    keyVersion: row.key_version,
    generation: Number(row.generation),
    observedGeneration: Number(row.observed_generation),
    idempotencyKey: row.idempotency_key,
    createdAt: row.created_at,
    checkedAt: row.checked_at,
    members: [
      { username: row.owner_name ?? row.owner, userId: row.owner_id, role: "owner" },
      ...members
        .filter(({ workspace }) => workspace === row.name)
        .map(({ username, user_id, role }) => ({ username, userId: user_id, role })),
    ],
  };
}
