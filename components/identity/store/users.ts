import { deleteOwnerPolicies } from "./authz-policies.ts";
import { publishChange } from "./changes.ts";
import type { Queryable } from "./database.ts";
import { announceRules } from "./resource-servers.ts";

export interface User {
  readonly id: string;
  readonly username: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
  readonly enabled: boolean;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  readonly requiredActions: readonly string[];
  /** Set for the account of a client itself. */
  readonly serviceClient: string | undefined;
  readonly createdAt: Date;
  /** A code of a device is needed beside the password. */
  readonly hasOtp: boolean;
  readonly hasPasskey: boolean;
}

/** Effective roles and groups: what goes into tokens. */
export interface UserAccess {
  /** Milliseconds since 1970: what changed later is not in it. */
  readonly readAt: number;
  readonly realm: readonly string[];
  readonly clients: Readonly<Record<string, readonly string[]>>;
  readonly groups: readonly string[];
}

export interface UserRow {
  id: string;
  username: string;
  email: string | null;
  email_verified: boolean;
  first_name: string | null;
  last_name: string | null;
  enabled: boolean;
  attributes: Record<string, string[]>;
  required_actions: string[];
  service_client: string | null;
  created_at: Date;
  has_otp: boolean;
  has_passkey: boolean;
}

export const USER_COLUMNS = `u.id, u.username, u.email, u.email_verified, u.first_name, u.last_name, u.enabled,
  u.attributes, u.required_actions, u.service_client, u.created_at,
  exists (select 1 from otp_device o where o.user_id = u.id) as has_otp,
  exists (select 1 from passkey p where p.user_id = u.id) as has_passkey`;

export async function findUser(db: Queryable, realmId: string, id: string): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(
    `select ${USER_COLUMNS} from app_user u where u.realm_id = $1 and u.id = $2`,
    [realmId, id],
  );
  return rows[0] && toUser(rows[0]);
}

export async function findUserByName(db: Queryable, realmId: string, username: string): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(
    `select ${USER_COLUMNS} from app_user u where u.realm_id = $1 and u.username = lower($2)`,
    [realmId, username],
  );
  return rows[0] && toUser(rows[0]);
}

export interface LoginRecord {
  readonly user: User;
  readonly access: UserAccess;
  readonly passwordHash: string | undefined;
}

/** The account that a login name, or else an e-mail address, belongs to. Accounts of clients cannot log in. */
export async function findLogin(db: Queryable, realmId: string, name: string): Promise<LoginRecord | undefined> {
  const readAt = Date.now();
  const { rows } = await db.query<UserRow & { access: Omit<UserAccess, "readAt">; password_hash: string | null }>({
    name: "find-login",
    text: `select ${USER_COLUMNS}, user_access(u.id) as access, c.password_hash
      from app_user u left join credential c on c.user_id = u.id
      where u.realm_id = $1 and u.service_client is null and (u.username = lower($2) or lower(u.email) = lower($2))
      order by u.username = lower($2) desc limit 1`,
    values: [realmId, name],
  });
  const row = rows[0];
  return (
    row && {
      user: toUser(row),
      access: { ...row.access, readAt },
      passwordHash: row.password_hash ?? undefined,
    }
  );
}

export interface UserWithAccess {
  readonly user: User;
  readonly access: UserAccess;
}

/** A user with effective roles. */
export const findUserWithAccess = (db: Queryable, realmId: string, id: string): Promise<UserWithAccess | undefined> =>
  findWithAccess(db, "find-user-with-access", "u.id = $2", [realmId, id]);

/** The same by name. */
export const findNamedUserWithAccess = (
  db: Queryable,
  realmId: string,
  username: string,
): Promise<UserWithAccess | undefined> =>
  findWithAccess(db, "find-named-user-with-access", "u.username = lower($2)", [realmId, username]);

/** Some users with effective roles, by name. */
export async function listUsersWithAccess(
  db: Queryable,
  realmId: string,
  filter: UserFilter & { readonly first: number; readonly max: number },
): Promise<readonly UserWithAccess[]> {
  const readAt = Date.now();
  const { rows } = await db.query<UserRow & { access: Omit<UserAccess, "readAt"> }>(
    `select ${USER_COLUMNS}, user_access(u.id) as access from app_user u where ${MATCHES}
     order by u.username offset $10 limit $11`,
    [...filterValues(realmId, filter), filter.first, filter.max],
  );
  return rows.map((row) => ({ user: toUser(row), access: { ...row.access, readAt } }));
}

async function findWithAccess(
  db: Queryable,
  name: string,
  condition: string,
  values: readonly [realmId: string, value: string],
): Promise<UserWithAccess | undefined> {
  const readAt = Date.now();
  const { rows } = await db.query<UserRow & { access: Omit<UserAccess, "readAt"> }>({
    name,
    text: `select ${USER_COLUMNS}, user_access(u.id) as access from app_user u where u.realm_id = $1 and ${condition}`,
    values: [...values],
  });
  return rows[0] && { user: toUser(rows[0]), access: { ...rows[0].access, readAt } };
}

export interface UserFilter {
  /** In names and the e-mail address: a part of them, `"exactly"`, or a pattern with `*` for any text, as in Keycloak. */
  readonly search?: string | undefined;
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly exact?: boolean | undefined;
  /** Attributes that a user must have, each with this among its values. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

const MATCHES = `u.realm_id = $1 and u.service_client is null
  and ($2::text is null or u.username like $2 or lower(u.email) like $2 or lower(u.first_name) like $2 or lower(u.last_name) like $2
    or lower(concat_ws(' ', u.first_name, u.last_name)) like $2)
  and ($3::text is null or case when $7 then u.username = lower($3) else strpos(u.username, lower($3)) > 0 end)
  and ($4::text is null or case when $7 then lower(u.email) = lower($4) else strpos(lower(u.email), lower($4)) > 0 end)
  and ($5::text is null or strpos(lower(u.first_name), lower($5)) > 0)
  and ($6::text is null or strpos(lower(u.last_name), lower($6)) > 0)
  and ($8::boolean is null or u.enabled = $8)
  and not exists (select 1 from jsonb_each_text($9::jsonb) as wanted
    where not coalesce(u.attributes -> wanted.key ? wanted.value, false))`;

const filterValues = (realmId: string, filter: UserFilter) => [
  realmId,
  filter.search === undefined ? null : toPattern(filter.search),
  filter.username ?? null,
  filter.email ?? null,
  filter.firstName ?? null,
  filter.lastName ?? null,
  filter.exact ?? false,
  filter.enabled ?? null,
  filter.attributes ?? {},
];

/** A pattern of LIKE for what was typed into a search. */
function toPattern(search: string): string {
  const escape = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
  const text = search.toLowerCase().trim();
  const [, exact] = /^"(.*)"$/.exec(text) ?? [];
  if (exact !== undefined) {
    return escape(exact);
  }
  return text.includes("*") ? text.split("*").map(escape).join("%") : `%${escape(text)}%`;
}

export async function listUsers(
  db: Queryable,
  realmId: string,
  filter: UserFilter & { readonly first: number; readonly max: number },
): Promise<readonly User[]> {
  const { rows } = await db.query<UserRow>(
    `select ${USER_COLUMNS} from app_user u where ${MATCHES} order by u.username offset $10 limit $11`,
    [...filterValues(realmId, filter), filter.first, filter.max],
  );
  return rows.map(toUser);
}

export async function countUsers(db: Queryable, realmId: string, filter: UserFilter): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from app_user u where ${MATCHES}`,
    filterValues(realmId, filter),
  );
  return Number(rows[0]?.count);
}

export interface UserFields {
  readonly username: string;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly attributes?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly requiredActions?: readonly string[] | undefined;
}

export async function insertUser(
  db: Queryable,
  realmId: string,
  user: UserFields & {
    readonly id?: string | undefined;
    readonly serviceClient?: string;
    readonly createdAt?: Date | undefined;
  },
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into app_user (id, realm_id, username, email, email_verified, first_name, last_name, enabled, attributes,
       required_actions, service_client, created_at)
     values (coalesce($1::uuid, gen_random_uuid()), $2, lower($3), $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, now()))
     returning id`,
    [user.id ?? null, realmId, ...fieldValues(user), user.serviceClient ?? null, user.createdAt ?? null],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateUser(db: Queryable, id: string, user: UserFields): Promise<void> {
  await db.query(
    `update app_user set username = lower($2), email = $3, email_verified = $4, first_name = $5, last_name = $6,
       enabled = $7, attributes = $8, required_actions = $9 where id = $1`,
    [id, ...fieldValues(user)],
  );
}

const fieldValues = (user: UserFields) => [
  user.username,
  user.email || null,
  user.emailVerified ?? false,
  user.firstName ?? null,
  user.lastName ?? null,
  user.enabled ?? true,
  user.attributes ?? {},
  user.requiredActions ?? [],
];

export async function deleteUser(db: Queryable, id: string): Promise<void> {
  for (const { realm, ...client } of await deleteOwnerPolicies(db, id)) {
    await announceRules(db, realm, client);
  }
  await db.query("delete from oidc_record where account_id = $1", [id]);
  await db.query("delete from app_user where id = $1", [id]);
}

/** As many former passwords are kept as a realm may ask for. */
export const MAX_FORMER_PASSWORDS = 24;

/** Hashes of the last passwords, the present one first. */
export async function listFormerPasswords(db: Queryable, userId: string, count: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ password_hash: string }>(
    "select password_hash from password_history where user_id = $1 order by id desc limit $2",
    [userId, count],
  );
  return rows.map(({ password_hash: hash }) => hash);
}

export async function setPasswordHash(
  db: Queryable,
  userId: string,
  { hash, temporary }: { hash: string; temporary: boolean },
): Promise<void> {
  await db.query(
    `with former as (insert into password_history (user_id, password_hash) values ($1, $2)),
       old as (delete from password_history where user_id = $1 and id not in (
         select id from password_history where user_id = $1 order by id desc limit ${MAX_FORMER_PASSWORDS - 1}))
     insert into credential (user_id, password_hash, temporary) values ($1, $2, $3)
     on conflict (user_id) do update set password_hash = $2, temporary = $3, changed_at = now()`,
    [userId, hash, temporary],
  );
}

/** Another hash of the same password. It stays as old as it is; one that was changed meanwhile is left alone. */
export async function renewPasswordHash(
  db: Queryable,
  userId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await db.query(
    `with history as (update password_history set password_hash = $3 where user_id = $1 and password_hash = $2)
     update credential set password_hash = $3 where user_id = $1 and password_hash = $2`,
    [userId, from, to],
  );
}

export async function findPassword(
  db: Queryable,
  userId: string,
): Promise<{ hash: string; temporary: boolean; changedAt: Date } | undefined> {
  const { rows } = await db.query<{ password_hash: string; temporary: boolean; changed_at: Date }>(
    "select password_hash, temporary, changed_at from credential where user_id = $1",
    [userId],
  );
  return rows[0] && { hash: rows[0].password_hash, temporary: rows[0].temporary, changedAt: rows[0].changed_at };
}

/** Tells services that what they know of the user is old. */
export function publishUserChange(db: Queryable, realm: string, sub: string): Promise<void> {
  return publishChange(db, { kind: "user", realm, sub });
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    email: row.email ?? undefined,
    emailVerified: row.email_verified,
    firstName: row.first_name ?? undefined,
    lastName: row.last_name ?? undefined,
    enabled: row.enabled,
    attributes: row.attributes,
    requiredActions: row.required_actions,
    serviceClient: row.service_client ?? undefined,
    createdAt: row.created_at,
    hasOtp: row.has_otp,
    hasPasskey: row.has_passkey,
  };
}
