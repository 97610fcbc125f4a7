import type { Queryable } from "./database.ts";

/** Whose failures are counted: those of an account, of an address, or of the account from that address. */
export interface FailureSubject {
  /** `login` when left out. */
  readonly kind?: "login" | "device-code";
  readonly account?: string;
  readonly address?: string;
}

/** Key of a subject's row; a part that is left out stands for any. */
const toKey = ({ kind = "login", account = "", address = "" }: FailureSubject): [string, string, string] => [
  kind,
  account,
  address,
];

/** Until when a subject must wait; undefined when it need not. */
export async function findLock(db: Queryable, realmId: string, subject: FailureSubject): Promise<Date | undefined> {
  const { rows } = await db.query<{ until: Date | null }>({
    name: "find-login-lock",
    text: `select locked_until as until from login_failure
      where realm_id = $1 and kind = $2 and account = $3 and address = $4 and locked_until > now()`,
    values: [realmId, ...toKey(subject)],
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
  const [kind, account, address] = toKey(subject);
  const { rows } = await db.query<{ failures: number }>({
    name: "count-login-failure",
    text: `insert into login_failure as f (realm_id, kind, account, address, failures, last_failure, locked_until)
      values ($1, $2, $8, $9, 1, now(), case when $3 <= 1 then now() + $4 * interval '1 second' end)
      on conflict (realm_id, kind, account, address) do update set
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
      kind,
      limit,
      backOff.incrementSeconds,
      backOff.maxSeconds,
      forgetAfterSeconds,
      backOff.doubles,
      account,
      address,
    ],
  });
  return rows[0]?.failures ?? 0;
}

/** Forgets failed logins: of an account from everywhere, of an address, or all of the realm. */
export async function forgetFailures(
  db: Queryable,
  realmId: string,
  { account, address }: Pick<FailureSubject, "account" | "address"> = {},
): Promise<void> {
  await db.query({
    name: "forget-login-failures",
    text: `delete from login_failure where realm_id = $1 and kind = 'login'
      and case when $2::text is not null then account = $2
               when $3::text is not null then account = '' and address = $3
               else true end`,
    values: [realmId, account ?? null, address ?? null],
  });
}

/** After a right login: forgets the failures of the account from there and, in all, of the account; those from elsewhere stay. */
export async function noteSuccess(
  db: Queryable,
  realmId: string,
  { account, address }: { readonly account: string; readonly address: string },
): Promise<void> {
  await db.query({
    name: "note-login-success",
    text: `with forgotten as (
        delete from login_failure
        where realm_id = $1 and kind = 'login' and account = $2 and address in ('', $3))
      insert into known_login (realm_id, account, address) values ($1, $2, $3)
      on conflict (realm_id, account, address) do update set last_login = now()
        where known_login.last_login < now() - interval '1 hour'`,
    values: [realmId, account, address],
  });
}

/** Whether the account has logged in from this address before. */
export async function isKnownLogin(
  db: Queryable,
  realmId: string,
  { account, address }: { readonly account: string; readonly address: string },
): Promise<boolean> {
  const { rows } = await db.query({
    name: "find-known-login",
    text: "select 1 from known_login where realm_id = $1 and account = $2 and address = $3",
    values: [realmId, account, address],
  });
  return rows.length > 0;
}

export interface FailureStatus {
  readonly numFailures: number;
  readonly disabled: boolean;
  readonly lastFailure: Date | undefined;
}

/** Failed logins of an account: how many from everywhere, and whether it must wait somewhere. */
export async function findFailures(db: Queryable, realmId: string, account: string): Promise<FailureStatus> {
  const { rows } = await db.query<{ failures: number; last_failure: Date; locked: boolean }>(
    `select failures, last_failure, coalesce(locked_until > now(), false) as locked from login_failure
     where realm_id = $1 and kind = 'login' and account = $2 order by address`,
    [realmId, account],
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
  const { rows } = await db.query<{ address: string; failures: number; last_failure: Date; locked: boolean }>(
    `select address, failures, last_failure, coalesce(locked_until > now(), false) as locked from login_failure
     where realm_id = $1 and kind = 'login' and account = '' order by failures desc, address limit 100`,
    [realmId],
  );
  return rows.map(({ address, failures, last_failure: lastFailure, locked }) => ({
    address,
    numFailures: failures,
    disabled: locked,
    lastFailure,
  }));
}
