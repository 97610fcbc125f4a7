import type { RealmSettings } from "../realm-settings.ts";
import type { Queryable } from "./database.ts";

/** Whose failures are counted: `user:<name>` or `address:<ip>`. */
export type FailureSubject = `user:${string}` | `address:${string}`;

/** Until when one of the subjects must wait; undefined when none must. */
export async function findLock(
  db: Queryable,
  realmId: string,
  subjects: readonly FailureSubject[],
): Promise<Date | undefined> {
  const { rows } = await db.query<{ until: Date | null }>({
    name: "find-login-lock",
    text: `select max(locked_until) as until from login_failure
      where realm_id = $1 and subject = any($2) and locked_until > now()`,
    values: [realmId, subjects],
  });
  return rows[0]?.until ?? undefined;
}

/**
 * Counts a failure. From the `limit`-th on, each locks the subject for a time that grows with every further failure.
 * @returns true when it is locked now
 */
export async function countFailure(
  db: Queryable,
  realmId: string,
  subject: FailureSubject,
  limit: number,
  settings: RealmSettings,
): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>({
    name: "count-login-failure",
    text: `insert into login_failure as f (realm_id, subject, failures, last_failure, locked_until)
      values ($1, $2, 1, now(), case when $3 <= 1 then now() + $4 * interval '1 second' end)
      on conflict (realm_id, subject) do update set
        failures = case when f.last_failure < now() - $6 * interval '1 second' then 1 else f.failures + 1 end,
        last_failure = now(),
        locked_until = case
          when f.last_failure < now() - $6 * interval '1 second' then null
          when f.failures + 1 >= $3
          then now() + least($5::float8, $4::float8 * (f.failures + 2 - $3)) * interval '1 second' end
      returning coalesce(locked_until > now(), false) as locked`,
    values: [
      realmId,
      subject,
      limit,
      settings.waitIncrementSeconds,
      settings.maxFailureWaitSeconds,
      settings.maxDeltaTimeSeconds,
    ],
  });
  return rows[0]?.locked ?? false;
}

export async function forgetFailures(db: Queryable, realmId: string, subject?: FailureSubject): Promise<void> {
  await db.query({
    name: "forget-login-failures",
    text: "delete from login_failure where realm_id = $1 and ($2::text is null or subject = $2)",
    values: [realmId, subject ?? null],
  });
}

export interface FailureStatus {
  readonly numFailures: number;
  readonly disabled: boolean;
  readonly lastFailure: Date | undefined;
}

export async function findFailures(db: Queryable, realmId: string, subject: FailureSubject): Promise<FailureStatus> {
  const { rows } = await db.query<{ failures: number; last_failure: Date; locked: boolean }>(
    `select failures, last_failure, coalesce(locked_until > now(), false) as locked from login_failure
     where realm_id = $1 and subject = $2`,
    [realmId, subject],
  );
  return {
    numFailures: rows[0]?.failures ?? 0,
    disabled: rows[0]?.locked ?? false,
    lastFailure: rows[0]?.last_failure,
  };
}
