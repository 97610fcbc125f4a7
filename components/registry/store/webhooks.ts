import { type Claim, createBackOff, createQueue } from "@swath/work";

import type { Sql } from "./database.ts";

/** Events as the known product names them. */
export const EVENTS = [
  "PUSH_ARTIFACT",
  "PULL_ARTIFACT",
  "DELETE_ARTIFACT",
  "TAG_RETENTION",
  "QUOTA_WARNING",
  "QUOTA_EXCEED",
  "SCANNING_COMPLETED",
  "SCANNING_FAILED",
] as const;
export type WebhookEvent = (typeof EVENTS)[number];

export interface Webhook {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly isEnabled: boolean;
  readonly events: readonly WebhookEvent[];
  readonly address: string;
  readonly hasAuthHeader: boolean;
  readonly skipsVerification: boolean;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WebhookValues {
  readonly name: string;
  readonly description: string;
  readonly isEnabled: boolean;
  readonly events: readonly WebhookEvent[];
  readonly address: string;
  /** Undefined keeps the one that is there, as long as the address leads to the same origin; empty for none. */
  readonly authHeader: string | undefined;
  /** The receiver's certificate is not looked at. */
  readonly skipsVerification: boolean;
}

export async function listWebhooks(sql: Sql, projectId: string): Promise<readonly Webhook[]> {
  const rows = await sql.query<{
    id: string;
    name: string;
    description: string;
    is_enabled: boolean;
    events: readonly WebhookEvent[];
    address: string;
    auth_header: string | null;
    skips_verification: boolean;
    created_by: string;
    created_at: Date;
    updated_at: Date;
  }>("select * from webhook where project_id = $1 order by id", [projectId]);
  return rows.map((row) => ({
    id: Number(row.id),
    name: row.name,
    description: row.description,
    isEnabled: row.is_enabled,
    events: row.events,
    address: row.address,
    hasAuthHeader: row.auth_header !== null,
    skipsVerification: row.skips_verification,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** Undefined when the name is taken. */
export async function insertWebhook(
  sql: Sql,
  { projectId, createdBy, ...values }: WebhookValues & { readonly projectId: string; readonly createdBy: string },
): Promise<number | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into webhook (project_id, name, description, is_enabled, events, address, auth_header, created_by, skips_verification)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (project_id, name) do nothing returning id`,
    [
      projectId,
      values.name,
      values.description,
      values.isEnabled,
      values.events,
      values.address,
      values.authHeader || null,
      createdBy,
      values.skipsVerification,
    ],
  );
  return row && Number(row.id);
}

/** False when the project has no such webhook. */
export async function updateWebhook(sql: Sql, projectId: string, id: number, values: WebhookValues): Promise<boolean> {
  const rows = await sql.query(
    `update webhook set name = $3, description = $4, is_enabled = $5, events = $6, address = $7,
       auth_header = case when $8::text is not null then nullif($8, '')
         when substring(address from '^[a-z]+://[^/?#]+') = substring($7 from '^[a-z]+://[^/?#]+') then auth_header end,
       skips_verification = $9, updated_at = now()
     where project_id = $1 and id = $2 returning 1 as updated`,
    [
      projectId,
      id,
      values.name,
      values.description,
      values.isEnabled,
      values.events,
      values.address,
      values.authHeader ?? null,
      values.skipsVerification,
    ],
  );
  return rows.length > 0;
}

export async function deleteWebhook(sql: Sql, projectId: string, id: number): Promise<boolean> {
  const rows = await sql.query("delete from webhook where project_id = $1 and id = $2 returning 1 as deleted", [
    projectId,
    id,
  ]);
  return rows.length > 0;
}

export interface HookedEvent {
  readonly projectId: string;
  readonly project: string;
  readonly event: WebhookEvent;
  readonly operator: string;
  /** With the project; left out where it is about the project. */
  readonly repository?: string;
  /** What it is about, in words. */
  readonly details?: string;
  readonly resources: readonly { readonly digest: string | undefined; readonly tag: string | undefined }[];
}

/** Notes what is to be told, in the transaction that it tells of: what happened is told, and nothing else. */
export async function tellWebhooks(tx: Sql, told: HookedEvent): Promise<void> {
  const payload = {
    type: told.event,
    occur_at: Math.floor(Date.now() / 1000),
    operator: told.operator,
    event_data: {
      resources: told.resources,
      repository: {
        name: told.repository?.slice(told.project.length + 1) ?? "",
        namespace: told.project,
        repo_full_name: told.repository ?? told.project,
      },
      ...(told.details !== undefined && { custom_attributes: { Details: told.details } }),
    },
  };
  const rows = await tx.query(
    `insert into webhook_delivery (webhook_id, event, payload)
     select id, $2, $3 from webhook where project_id = $1 and is_enabled and $2 = any(events) returning 1 as noted`,
    [told.projectId, told.event, JSON.stringify(payload)],
  );
  if (rows.length > 0) {
    await tx.query("notify registry_webhooks");
  }
}

/** Tells of a refusal for want of room, which leaves nothing else behind; once in ten minutes, not once a layer. */
export async function tellQuotaExceeded(
  database: { readonly transact: <T>(work: (tx: Sql) => Promise<T>) => Promise<T> },
  projectId: string,
  details: string,
): Promise<void> {
  await database.transact(async (tx) => {
    const [project] = await tx.query<{ name: string }>("select name from project where id = $1 for update", [
      projectId,
    ]);
    const told = await tx.query(
      `select from webhook_delivery d join webhook w on w.id = d.webhook_id
       where w.project_id = $1 and d.event = 'QUOTA_EXCEED' and d.created_at > now() - interval '10 minutes' limit 1`,
      [projectId],
    );
    if (project !== undefined && told.length === 0) {
      await tellWebhooks(tx, {
        projectId,
        project: project.name,
        event: "QUOTA_EXCEED",
        operator: "registry",
        details,
        resources: [],
      });
    }
  });
}

export interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly payload: object;
  readonly attempts: number;
  readonly address: string;
  readonly authHeader: string | null;
  readonly skipsVerification: boolean;
}

/** A delivery of a process that died is another one's after this. */
const LEASE_SECONDS = 20;
export const RENEW_MS = 5000;
/** Given up after more than a day. */
const backOff = createBackOff({ firstSeconds: 10, factor: 3, maxSeconds: 21_600, maxAttempts: 12 });

export const deliveryQueue = createQueue<Delivery>({
  table: "webhook_delivery",
  key: ["id"],
  isOpen: "q.state = 'pending'",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "attempts = q.attempts + 1",
  join: { from: "webhook w", on: "w.id = q.webhook_id" },
  returning: `q.id, q.event, q.payload, q.attempts, w.address, w.auth_header as "authHeader", w.skips_verification as "skipsVerification"`,
});

/** Notes what came of an attempt; `isFinal` gives it up. */
export async function noteDelivery(
  { row: { attempts }, lease }: Claim<Delivery>,
  { isDelivered, said, isFinal }: { readonly isDelivered: boolean; readonly said: string; readonly isFinal: boolean },
): Promise<void> {
  const pause = isDelivered || isFinal ? undefined : backOff(attempts);
  const state = isDelivered ? "delivered" : pause === undefined ? "failed" : "pending";
  await lease.end(
    `state = $1, said = $2, ended_at = case when $1 <> 'pending' then now() end, next_at = now() + make_interval(secs => $3)`,
    [state, said.slice(0, 500), pause ?? 0],
  );
}

/** What was told is shown for a week. */
export async function deleteOldDeliveries(sql: Sql): Promise<void> {
  await sql.query("delete from webhook_delivery where state <> 'pending' and ended_at < now() - interval '7 days'");
}

export interface DeliveryRecord {
  readonly id: string;
  readonly event: string;
  readonly state: string;
  readonly attempts: number;
  readonly said: string | null;
  readonly createdAt: Date;
}

/** The latest deliveries of a webhook. */
export async function listDeliveries(
  sql: Sql,
  projectId: string,
  webhookId: number,
): Promise<readonly DeliveryRecord[]> {
  const rows = await sql.query<Omit<DeliveryRecord, "createdAt"> & { created_at: Date }>(
    `select d.id, d.event, d.state, d.attempts, d.said, d.created_at from webhook_delivery d join webhook w on w.id = d.webhook_id
     where w.project_id = $1 and w.id = $2 order by d.created_at desc limit 100`,
    [projectId, webhookId],
  );
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}
