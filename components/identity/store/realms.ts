import { randomBytes } from "node:crypto";

import { DEFAULT_REALM_SETTINGS, type RealmSettings } from "../realm-settings.ts";
import { publishChange } from "./changes.ts";
import type { Queryable } from "./database.ts";

export interface Realm {
  readonly id: string;
  readonly name: string;
  readonly displayName: string | undefined;
  readonly enabled: boolean;
  readonly settings: RealmSettings;
  readonly secret: string;
}

interface RealmRow {
  id: string;
  name: string;
  display_name: string | null;
  enabled: boolean;
  settings: Partial<RealmSettings>;
  secret: string;
}

const COLUMNS = "id, name, display_name, enabled, settings, secret";

export async function findRealm(db: Queryable, name: string): Promise<Realm | undefined> {
  const { rows } = await db.query<RealmRow>(`select ${COLUMNS} from realm where name = $1`, [name]);
  return rows[0] && toRealm(rows[0]);
}

export async function listRealms(db: Queryable): Promise<readonly Realm[]> {
  const { rows } = await db.query<RealmRow>(`select ${COLUMNS} from realm order by name`);
  return rows.map(toRealm);
}

export interface NewRealm {
  readonly name: string;
  readonly id?: string | undefined;
  readonly displayName?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly settings?: Partial<RealmSettings> | undefined;
}

/** Adds the realm's row alone; `createRealm` of ../create-realm.ts adds what every realm has. */
export async function insertRealm(db: Queryable, realm: NewRealm): Promise<Realm> {
  const { rows } = await db.query<RealmRow>(
    `insert into realm (id, name, display_name, enabled, settings, secret)
     values (coalesce($1::uuid, gen_random_uuid()), $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    [
      realm.id ?? null,
      realm.name,
      realm.displayName ?? null,
      realm.enabled ?? true,
      realm.settings ?? {},
      randomBytes(32).toString("base64url"),
    ],
  );
  return toRealm(rows[0] as RealmRow);
}

export interface RealmUpdate {
  readonly displayName?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly settings: Partial<RealmSettings>;
}

export async function updateRealm(db: Queryable, name: string, update: RealmUpdate): Promise<void> {
  await db.query(
    `update realm set display_name = coalesce($2, display_name), enabled = coalesce($3, enabled),
       settings = settings || $4::jsonb where name = $1`,
    [name, update.displayName ?? null, update.enabled ?? null, update.settings],
  );
  await publishChange(db, { kind: "realm", realm: name });
}

export async function deleteRealm(db: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from realm where name = $1", [name]);
  await publishChange(db, { kind: "realm", realm: name, keys: true });
  return rowCount === 1;
}

function toRealm(row: RealmRow): Realm {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name ?? undefined,
    enabled: row.enabled,
    settings: { ...DEFAULT_REALM_SETTINGS, ...row.settings },
    secret: row.secret,
  };
}
