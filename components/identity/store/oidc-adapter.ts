import type { Adapter, AdapterPayload } from "oidc-provider";

import type { Queryable } from "./database.ts";

/** Records of the protocol engine in PostgreSQL; clients come from `findClientMetadata`. */
export function createOidcAdapter(
  db: Queryable,
  realmId: string,
  findClientMetadata: (clientId: string) => Promise<AdapterPayload | undefined>,
): (model: string) => Adapter {
  return (model) => {
    const find = async (column: "id" | "uid", value: string): Promise<AdapterPayload | undefined> => {
      const { rows } = await db.query<{ payload: AdapterPayload; consumed: number | null }>(
        `select payload, extract(epoch from consumed_at)::float8 as consumed from oidc_record
         where realm_id = $1 and model = $2 and ${column} = $3 and (expires_at is null or expires_at > now())`,
        [realmId, model, value],
      );
      const row = rows[0];
      return row && { ...row.payload, ...(row.consumed !== null && { consumed: Math.floor(row.consumed) }) };
    };
    return {
      upsert: async (id, payload, expiresIn) => {
        await db.query(
          `insert into oidc_record (realm_id, model, id, payload, grant_id, uid, account_id, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, case when $8::float8 is null then null
             else now() + $8 * interval '1 second' end)
           on conflict (realm_id, model, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
             uid = excluded.uid, account_id = excluded.account_id, expires_at = excluded.expires_at`,
          [
            realmId,
            model,
            id,
            payload,
            payload.grantId ?? null,
            payload.uid ?? null,
            payload.accountId ?? null,
            expiresIn ?? null,
          ],
        );
      },
      find: (id) => (model === "Client" ? findClientMetadata(id) : find("id", id)),
      findByUid: (uid) => find("uid", uid),
      // The device flow, which alone has user codes, is not offered.
      findByUserCode: () => Promise.resolve(undefined),
      consume: async (id) => {
        await db.query("update oidc_record set consumed_at = now() where realm_id = $1 and model = $2 and id = $3", [
          realmId,
          model,
          id,
        ]);
      },
      destroy: async (id) => {
        await db.query("delete from oidc_record where realm_id = $1 and model = $2 and id = $3", [realmId, model, id]);
      },
      revokeByGrantId: async (grantId) => {
        await db.query("delete from oidc_record where realm_id = $1 and grant_id = $2", [realmId, grantId]);
      },
    };
  };
}

export interface CodeRecord {
  readonly payload: AdapterPayload;
  /** True for the one who came first. */
  readonly fresh: boolean;
}

/** Takes an authorization code: of several at once exactly one finds it fresh. */
export async function takeCode(db: Queryable, realmId: string, code: string): Promise<CodeRecord | undefined> {
  const { rows } = await db.query<{ payload: AdapterPayload; fresh: boolean }>(
    `with taken as (
       update oidc_record set consumed_at = now()
       where realm_id = $1 and model = 'AuthorizationCode' and id = $2 and consumed_at is null and expires_at > now()
       returning payload)
     select payload, true as fresh from taken
     union all
     select payload, false from oidc_record where realm_id = $1 and model = 'AuthorizationCode' and id = $2
       and not exists (select 1 from taken)`,
    [realmId, code],
  );
  return rows[0];
}

/** What came of a code: a chain of refresh tokens, and an access token (`exp` in seconds). */
export interface Issued {
  readonly sessionId: string;
  readonly chain: string;
  readonly jti: string | undefined;
  readonly exp: number | undefined;
}

/** Keeps it with the code: it ends when the code is brought again. */
export async function noteIssued(db: Queryable, realmId: string, code: string, issued: Issued): Promise<void> {
  await db.query(
    `update oidc_record set payload = payload || jsonb_build_object('issued', $3::jsonb)
     where realm_id = $1 and model = 'AuthorizationCode' and id = $2`,
    [realmId, code, issued],
  );
}

interface PutRecord {
  readonly model: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

/** Keeps something of our own among the engine's records until it ends. */
export async function putRecord(
  db: Queryable,
  realmId: string,
  { model, id, payload, seconds }: PutRecord,
): Promise<void> {
  await db.query(
    `insert into oidc_record (realm_id, model, id, payload, expires_at)
     values ($1, $2, $3, $4, now() + $5 * interval '1 second')`,
    [realmId, model, id, payload, seconds],
  );
}

/** Takes such a record away and gives what it held: to one of those who ask at once. */
export async function takeRecord(
  db: Queryable,
  realmId: string,
  model: string,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { rows } = await db.query<{ payload: Record<string, unknown> }>(
    "delete from oidc_record where realm_id = $1 and model = $2 and id = $3 and expires_at > now() returning payload",
    [realmId, model, id],
  );
  return rows[0]?.payload;
}
