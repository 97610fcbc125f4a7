import type { Queryable } from "./database.ts";

/** Whose failures are counted: `user:<name>`, that one from an address `user:<name>@<ip>`, or `address:<ip>`. */
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

/** How long failures beyond the limit must wait: the same again with each, or twice as long. */
export interface BackOff {
  readonly incrementSeconds: number;
  readonly maxSeconds: number;
  readonly doubles: boolean;
}

interface CountedFailure {
  readonly subject: FailureSubject;
  readonly limit: number;
  readonly backOff: BackOff;
  readonly forgetAfterSeconds: number;
}

/**
 * Counts a failure. From the `limit`-th on, each makes the subject wait for a time that grows with every further failure.
 * @returns how many there were, with this one
 */
export async function countFailure(
  db: Queryable,
  realmId: string,
  { subject, limit, backOff, forgetAfterSeconds }: CountedFailure,
): Promise<number> {
  const { rows } = await db.query<{ failures: number }>({
    name: "count-login-failure",
    text: `insert into login_failure as f (realm_id, subject, failures, last_failure, locked_until)
      values ($1, $2, 1, now(), case when $3 <= 1 then now() + $4 * interval '1 second' end)
      on conflict (realm_id, subject) do update set
        failures = case when f.last_failure < now() - $6 * interval '1 second' then 1 else f.failures + 1 end,
        last_failure = now(),
        locked_until = case
          when f.last_failure < now() - $6 * interval '1 second' then null
          when f.failures + 1 >= $3
          then now() + least($5::float8, $4::float8 *
            case when $7 then power(2, least(30, f.failures + 1 - $3)) else f.failures + 2 - $3 end)
            * interval '1 second' end
      returning failures`,
    values: [
      realmId,
      subject,
      limit,
      backOff.incrementSeconds,
      backOff.maxSeconds,
      forgetAfterSeconds,
      backOff.doubles,
    ],
  });
  return rows[0]?.failures ?? 0;
}

/** Forgets the failures of one subject, of an account from every address, or all. */
export async function forgetFailures(db: Queryable, realmId: string, subject?: FailureSubject): Promise<void> {
  await db.query({
    name: "forget-login-failures",
    text: `delete from login_failure where realm_id = $1
      and ($2::text is null or subject = $2 or starts_with(subject, $2 || '@'))`,
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
     where realm_id = $1 and (subject = $2 or starts_with(subject, $2 || '@')) order by subject`,
    [realmId, subject],
  );
  return {
    numFailures: rows[0]?.failures ?? 0,
    disabled: rows.some(({ locked }) => locked),
    lastFailure: rows[0]?.last_failure,
  };
}

/** Addresses whose failures are counted, the worst first. */
export async function listAddressFailures(
  db: Queryable,
  realmId: string,
): Promise<readonly (FailureStatus & { readonly address: string })[]> {
  const { rows } = await db.query<{ subject: string; failures: number; last_failure: Date; locked: boolean }>(
    `select subject, failures, last_failure, coalesce(locked_until > now(), false) as locked from login_failure
     where realm_id = $1 and starts_with(subject, 'address:') order by failures desc, subject limit 100`,
    [realmId],
  );
  return rows.map(({ subject, failures, last_failure: lastFailure, locked }) => ({
    address: subject.slice("address:".length),
    numFailures: failures,
    disabled: locked,
    lastFailure,
  }));
}
