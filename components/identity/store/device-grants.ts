import { hash } from "node:crypto";

import type { Queryable } from "./database.ts";

const idOf = (deviceCode: string) => hash("sha256", deviceCode, "base64url");

interface NewDeviceGrant {
  readonly realmId: string;
  readonly client: string;
  readonly deviceCode: string;
  readonly userCode: string;
  readonly scope: string;
  readonly seconds: number;
  readonly intervalSeconds: number;
}

/** @returns false when the user code is in use */
export async function insertDeviceGrant(db: Queryable, grant: NewDeviceGrant): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into device_grant (id, realm_id, client, user_code, scope, interval_seconds, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
     on conflict (realm_id, user_code) do nothing`,
    [
      idOf(grant.deviceCode),
      grant.realmId,
      grant.client,
      grant.userCode,
      grant.scope,
      grant.intervalSeconds,
      grant.seconds,
    ],
  );
  return rowCount === 1;
}

export interface PendingDevice {
  readonly clientId: string;
  readonly clientName: string;
  readonly scope: string;
}

/** What waits for a decision under a user code. */
export async function findPendingDevice(
  db: Queryable,
  realmId: string,
  userCode: string,
): Promise<PendingDevice | undefined> {
  const { rows } = await db.query<{ client_id: string; name: string | null; scope: string }>(
    `select c.client_id, c.settings ->> 'name' as name, g.scope from device_grant g join client c on c.id = g.client
     where g.realm_id = $1 and g.user_code = $2 and g.is_allowed is null and g.expires_at > now()`,
    [realmId, userCode],
  );
  const row = rows[0];
  return row && { clientId: row.client_id, clientName: row.name || row.client_id, scope: row.scope };
}

/** @returns false when nothing waits under that code any more */
export async function decideDevice(
  db: Queryable,
  realmId: string,
  userCode: string,
  decision: { readonly userId: string; readonly isAllowed: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update device_grant set is_allowed = $4, user_id = $3, decided_at = now()
     where realm_id = $1 and user_code = $2 and is_allowed is null and expires_at > now()`,
    [realmId, userCode, decision.userId, decision.isAllowed],
  );
  return rowCount === 1;
}

export type DevicePoll =
  | { readonly kind: "unknown" | "expired" | "too-early" | "pending" | "denied" }
  | { readonly kind: "allowed"; readonly userId: string; readonly scope: string; readonly decidedAt: Date };

/** Seconds that polling too early adds to the interval (RFC 8628 §3.5). */
const SLOW_DOWN_SECONDS = 5;

/** What has become of a device authorization of this client. An allowed or denied one is taken away: one poll gets it. */
export async function pollDevice(
  db: Queryable,
  realmId: string,
  client: string,
  deviceCode: string,
): Promise<DevicePoll> {
  const key = [realmId, client, idOf(deviceCode)];
  const { rows: decided } = await db.query<{ is_allowed: boolean; user_id: string; scope: string; decided_at: Date }>(
    `delete from device_grant where realm_id = $1 and client = $2 and id = $3 and is_allowed is not null and expires_at > now()
     returning is_allowed, user_id, scope, decided_at`,
    key,
  );
  const [decision] = decided;
  if (decision !== undefined) {
    return decision.is_allowed
      ? { kind: "allowed", userId: decision.user_id, scope: decision.scope, decidedAt: decision.decided_at }
      : { kind: "denied" };
  }
  const { rows } = await db.query<{ expired: boolean; early: boolean }>(
    `with known as (
       select id, expires_at <= now() as expired,
         coalesce(polled_at + interval_seconds * interval '1 second' > now(), false) as early
       from device_grant where realm_id = $1 and client = $2 and id = $3),
     polled as (
       update device_grant g set polled_at = now(),
         interval_seconds = g.interval_seconds + case when k.early then ${SLOW_DOWN_SECONDS} else 0 end
       from known k where g.id = k.id)
     select expired, early from known`,
    key,
  );
  const [known] = rows;
  return { kind: known === undefined ? "unknown" : known.expired ? "expired" : known.early ? "too-early" : "pending" };
}
