import type { Queryable } from "./database.ts";

export type EntryKind = "license" | "api" | "storage";

/** Something that a user keeps in the profile: the fields of its kind, by name. */
export interface ProfileEntry {
  readonly id: string;
  readonly fields: Readonly<Record<string, string>>;
}

export async function listEntries(db: Queryable, userId: string, kind: EntryKind): Promise<readonly ProfileEntry[]> {
  const { rows } = await db.query<ProfileEntry>(
    "select id, fields from profile_entry where user_id = $1 and kind = $2 order by created_at, id",
    [userId, kind],
  );
  return rows;
}

/** @returns false where the user has `max` of them already */
export async function insertEntry(
  db: Queryable,
  userId: string,
  kind: EntryKind,
  fields: ProfileEntry["fields"],
  max: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into profile_entry (user_id, kind, fields)
     select $1, $2, $3 where (select count(*) from profile_entry where user_id = $1 and kind = $2) < $4`,
    [userId, kind, fields, max],
  );
  return rowCount === 1;
}

export async function deleteEntry(db: Queryable, userId: string, kind: EntryKind, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from profile_entry where id = $1 and user_id = $2 and kind = $3", [
    id,
    userId,
    kind,
  ]);
  return rowCount === 1;
}

interface Confirmation {
  readonly userId: string;
  readonly email: string;
}

/** @returns false where the user was sent `max` within the last day, or one within the last minute */
export async function insertConfirmation(
  db: Queryable,
  { userId, email }: Confirmation,
  tokenHash: string,
  { max, seconds }: { readonly max: number; readonly seconds: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into email_confirmation (token_hash, user_id, email, expires_at)
     select $1, $2, $3, now() + make_interval(secs => $5)
     where (select count(*) < $4 and coalesce(max(created_at) < now() - interval '1 minute', true)
       from email_confirmation where user_id = $2 and created_at > now() - interval '1 day')`,
    [tokenHash, userId, email, max, seconds],
  );
  return rowCount === 1;
}

/** Takes a confirmation back whose message could not be sent. */
export async function deleteConfirmation(db: Queryable, tokenHash: string): Promise<void> {
  await db.query("delete from email_confirmation where token_hash = $1", [tokenHash]);
}

export async function findConfirmation(db: Queryable, tokenHash: string): Promise<Confirmation | undefined> {
  const { rows } = await db.query<{ user_id: string; email: string }>(
    "select user_id, email from email_confirmation where token_hash = $1 and expires_at > now()",
    [tokenHash],
  );
  return rows[0] && { userId: rows[0].user_id, email: rows[0].email };
}

/** Marks the address as the user's own, if it still is the user's address. */
export async function confirmEmail(db: Queryable, { userId, email }: Confirmation): Promise<boolean> {
  const { rowCount } = await db.query("update app_user set email_verified = true where id = $1 and email = $2", [
    userId,
    email,
  ]);
  await db.query("update email_confirmation set expires_at = now() where user_id = $1 and expires_at > now()", [
    userId,
  ]);
  return rowCount === 1;
}

/** Asks for the removal of an account; asking again does not make it later. */
export async function requestRemoval(db: Queryable, userId: string, seconds: number): Promise<Date> {
  const { rows } = await db.query<{ due_at: Date }>(
    `insert into account_removal (user_id, due_at) values ($1, now() + make_interval(secs => $2))
     on conflict (user_id) do update set due_at = account_removal.due_at returning due_at`,
    [userId, seconds],
  );
  return (rows[0] as { due_at: Date }).due_at;
}

export async function withdrawRemoval(db: Queryable, userId: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from account_removal where user_id = $1", [userId]);
  return rowCount === 1;
}

export async function findRemoval(db: Queryable, userId: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ due_at: Date }>("select due_at from account_removal where user_id = $1", [userId]);
  return rows[0]?.due_at;
}

/** Accounts whose time to think again has ended. The rows are locked, so that nobody withdraws meanwhile. */
export async function listDueRemovals(
  db: Queryable,
): Promise<readonly { readonly userId: string; readonly realmId: string; readonly realm: string }[]> {
  const { rows } = await db.query<{ user_id: string; realm_id: string; realm: string }>(
    `select a.user_id, u.realm_id, r.name as realm from account_removal a
     join app_user u on u.id = a.user_id join realm r on r.id = u.realm_id
     where a.due_at <= now() order by a.due_at limit 100 for update of a skip locked`,
  );
  return rows.map(({ user_id: userId, realm_id: realmId, realm }) => ({ userId, realmId, realm }));
}
