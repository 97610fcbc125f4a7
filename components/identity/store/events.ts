import type { Queryable } from "./database.ts";

export const EVENT_TYPES = [
  "LOGIN",
  "LOGIN_ERROR",
  "LOGOUT",
  "CLIENT_LOGIN",
  "CLIENT_LOGIN_ERROR",
  "CODE_TO_TOKEN",
  "CODE_TO_TOKEN_ERROR",
  "REFRESH_TOKEN_ERROR",
  "PERMISSION_TOKEN",
  "REVOKE_GRANT",
  "UPDATE_PASSWORD",
  "UPDATE_PASSWORD_ERROR",
  "UPDATE_PROFILE",
  "USER_DISABLED_BY_TEMPORARY_LOCKOUT",
  "GRANT_CONSENT",
  "UPDATE_TOTP",
  "UPDATE_TOTP_ERROR",
  "REMOVE_TOTP",
  "REMOVE_TOTP_ERROR",
  "UPDATE_CREDENTIAL",
  "UPDATE_CREDENTIAL_ERROR",
  "REMOVE_CREDENTIAL",
  "REMOVE_CREDENTIAL_ERROR",
  "DELETE_ACCOUNT",
  "DELETE_ACCOUNT_ERROR",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface LoginEvent {
  readonly type: EventType;
  readonly userId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly ip?: string | undefined;
  readonly error?: string | undefined;
  readonly details?: Readonly<Record<string, string>> | undefined;
}

export async function insertEvent(db: Queryable, realmId: string, event: LoginEvent): Promise<void> {
  await db.query({
    name: "insert-event",
    text: `insert into event (realm_id, type, user_id, client_id, session_id, ip, error, details)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      realmId,
      event.type,
      event.userId ?? null,
      event.clientId?.slice(0, 255) ?? null,
      event.sessionId ?? null,
      event.ip ?? null,
      event.error ?? null,
      event.details ?? {},
    ],
  });
}

export interface EventFilter {
  readonly types?: readonly string[] | undefined;
  readonly user?: string | undefined;
  readonly client?: string | undefined;
  readonly ip?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly first: number;
  readonly max: number;
}

export interface EventRow {
  id: string;
  at: Date;
  type: string;
  user_id: string | null;
  client_id: string | null;
  session_id: string | null;
  ip: string | null;
  error: string | null;
  details: Record<string, string>;
}

export async function listEvents(db: Queryable, realmId: string, filter: EventFilter): Promise<readonly EventRow[]> {
  const { rows } = await db.query<EventRow>(
    `select id, at, type, user_id, client_id, session_id, ip, error, details from event
     where realm_id = $1 and ($2::text[] is null or type = any($2)) and ($3::text is null or user_id = $3)
       and ($4::text is null or client_id = $4) and ($5::text is null or ip = $5)
       and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at <= $7)
     order by at desc, id desc offset $8 limit $9`,
    [
      realmId,
      filter.types ?? null,
      filter.user ?? null,
      filter.client ?? null,
      filter.ip ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.first,
      filter.max,
    ],
  );
  return rows;
}

export async function clearEvents(db: Queryable, realmId: string, kind: "event" | "admin_event"): Promise<void> {
  await db.query(`delete from ${kind} where realm_id = $1`, [realmId]);
}

export interface AdminEvent {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "ACTION";
  readonly resourceType: string;
  readonly resourcePath: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly actorClient: string;
  readonly ip: string | undefined;
}

export async function insertAdminEvent(db: Queryable, realmId: string, event: AdminEvent): Promise<void> {
  await db.query(
    `insert into admin_event (realm_id, operation, resource_type, resource_path, actor_id, actor_name, actor_client, ip)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      realmId,
      event.operation,
      event.resourceType,
      event.resourcePath,
      event.actorId,
      event.actorName,
      event.actorClient,
      event.ip ?? null,
    ],
  );
}

export interface AdminEventRow {
  id: string;
  at: Date;
  operation: string;
  resource_type: string;
  resource_path: string;
  actor_id: string | null;
  actor_name: string | null;
  actor_client: string | null;
  ip: string | null;
}

export interface AdminEventFilter {
  readonly operations?: readonly string[] | undefined;
  readonly resourceTypes?: readonly string[] | undefined;
  readonly user?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly first: number;
  readonly max: number;
}

export async function listAdminEvents(
  db: Queryable,
  realmId: string,
  filter: AdminEventFilter,
): Promise<readonly AdminEventRow[]> {
  const { rows } = await db.query<AdminEventRow>(
    `select id, at, operation, resource_type, resource_path, actor_id, actor_name, actor_client, ip from admin_event
     where realm_id = $1 and ($2::text[] is null or operation = any($2))
       and ($3::text[] is null or resource_type = any($3)) and ($4::text is null or actor_id = $4)
       and ($5::timestamptz is null or at >= $5) and ($6::timestamptz is null or at <= $6)
     order by at desc, id desc offset $7 limit $8`,
    [
      realmId,
      filter.operations ?? null,
      filter.resourceTypes ?? null,
      filter.user ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.first,
      filter.max,
    ],
  );
  return rows;
}
