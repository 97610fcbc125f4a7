import type { Queryable } from "./database.ts";

/** An authenticator of a user (Web Authentication §4, public key credential source), as this service knows it. */
export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** What the authenticator calls it, in base64url. */
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly label: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | undefined;
}

interface PasskeyRow {
  id: string;
  user_id: string;
  credential_id: string;
  public_key: Buffer;
  counter: string;
  transports: string[];
  label: string;
  created_at: Date;
  last_used_at: Date | null;
}

export async function listPasskeys(db: Queryable, userId: string): Promise<readonly Passkey[]> {
  const { rows } = await db.query<PasskeyRow>({
    name: "list-passkeys",
    text: "select * from passkey where user_id = $1 order by created_at, id",
    values: [userId],
  });
  return rows.map(toPasskey);
}

export async function findPasskey(db: Queryable, realmId: string, credentialId: string): Promise<Passkey | undefined> {
  const { rows } = await db.query<PasskeyRow>("select * from passkey where realm_id = $1 and credential_id = $2", [
    realmId,
    credentialId,
  ]);
  return rows[0] && toPasskey(rows[0]);
}

/** @returns false when the authenticator is known already, to whomever */
export async function insertPasskey(
  db: Queryable,
  realmId: string,
  passkey: Pick<Passkey, "userId" | "credentialId" | "publicKey" | "counter" | "transports" | "label">,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into passkey (realm_id, user_id, credential_id, public_key, counter, transports, label)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (realm_id, credential_id) do nothing`,
    [
      realmId,
      passkey.userId,
      passkey.credentialId,
      Buffer.from(passkey.publicKey),
      passkey.counter,
      passkey.transports,
      passkey.label,
    ],
  );
  return rowCount === 1;
}

/** Notes a use. @returns false when the counter has not grown since: a copy of the authenticator was used (§6.1.1) */
export async function notePasskeyUse(db: Queryable, id: string, counter: number): Promise<boolean> {
  const { rowCount } = await db.query(
    "update passkey set counter = $2, last_used_at = now() where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))",
    [id, counter],
  );
  return rowCount === 1;
}

/** @returns false when the user has no such passkey */
export async function deletePasskey(db: Queryable, userId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from passkey where user_id = $1 and id = $2", [userId, id]);
  return rowCount === 1;
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: new Uint8Array(row.public_key),
    counter: Number(row.counter),
    transports: row.transports,
    label: row.label,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}
