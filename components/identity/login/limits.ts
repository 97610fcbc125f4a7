import type { FairPace } from "@swath/service/fair-pace";

import type { Realm } from "../store/realms.ts";
import type { Queryable } from "../store/database.ts";
import { insertEvent } from "../store/events.ts";
import { type BackOff, type FailureSubject, countFailure, findLock, isKnownLogin } from "../store/login-failures.ts";

/** Who tries to log in, and from where. */
export interface Guesser {
  readonly username: string;
  readonly ip: string;
}

/** All addresses together may fail this many times as often with one account as one address may, before tries take turns. */
const FAILURES_PER_ACCOUNT = 5;
/** One address may serve many people: this many times as many. */
const FAILURES_PER_ADDRESS = 10;
/** For how long after a failure tries that share an account or an address take turns. */
const SHARED_BACK_OFF: BackOff = { incrementSeconds: 30, maxSeconds: 60, doubles: true };
/** Tries of one account or address that take turns; those of one person wait behind each other. */
export const LOGIN_PACE = { intervalMs: 500, maxPerLane: 2, maxLanes: 30 };
/** When to come back where too many wait for their turn. */
const CROWDED_SECONDS = 10;

interface Limit {
  readonly subject: FailureSubject;
  readonly failures: number;
  readonly backOff: BackOff;
}

/** The account from this address waits as the realm says; the account from anywhere, and the address with any account, take turns. */
function limitsOf({ settings }: Realm, { username, ip }: Guesser): readonly Limit[] {
  const { failureFactor: failures, waitIncrementSeconds, maxFailureWaitSeconds } = settings;
  return [
    {
      subject: { account: username, address: ip },
      failures,
      backOff: { incrementSeconds: waitIncrementSeconds, maxSeconds: maxFailureWaitSeconds, doubles: false },
    },
    { subject: { account: username }, failures: failures * FAILURES_PER_ACCOUNT, backOff: SHARED_BACK_OFF },
    { subject: { address: ip }, failures: failures * FAILURES_PER_ADDRESS, backOff: SHARED_BACK_OFF },
  ];
}

/** Until when this account must wait at this address; undefined when it need not. */
export async function findWait(db: Queryable, realm: Realm, { username, ip }: Guesser): Promise<Date | undefined> {
  return realm.settings.bruteForceProtected ? findLock(db, realm.id, { account: username, address: ip }) : undefined;
}

/**
 * Waits for the turn of a try where others guess the same account, or from the same address: it is delayed and not refused. An account
 * that has logged in from this address before does not wait for others.
 * @returns until when to wait where it may not be tried now
 */
export async function waitForTurn(
  db: Queryable,
  pace: FairPace,
  realm: Realm,
  { username, ip }: Guesser,
): Promise<Date | undefined> {
  if (!realm.settings.bruteForceProtected) {
    return undefined;
  }
  const own = await findWait(db, realm, { username, ip });
  if (own !== undefined) {
    return own;
  }
  const isShared = {
    account: (await findLock(db, realm.id, { account: username })) !== undefined,
    address: (await findLock(db, realm.id, { address: ip })) !== undefined,
  };
  if (
    (!isShared.account && !isShared.address) ||
    (await isKnownLogin(db, realm.id, { account: username, address: ip }))
  ) {
    return undefined;
  }
  const mayTry =
    (!isShared.address || (await pace.take(`${realm.id} address ${ip}`, username))) &&
    (!isShared.account || (await pace.take(`${realm.id} account ${username}`, ip)));
  return mayTry ? undefined : new Date(Date.now() + CROWDED_SECONDS * 1000);
}

/** Counts a failure everywhere that it counts, and notes in the log of events when a wait begins. */
export async function noteFailure(db: Queryable, realm: Realm, guesser: Guesser): Promise<void> {
  if (!realm.settings.bruteForceProtected) {
    return;
  }
  for (const { subject, failures, backOff } of limitsOf(realm, guesser)) {
    const count = await countFailure(db, realm.id, {
      subject,
      limit: failures,
      backOff,
      forgetAfterSeconds: realm.settings.maxDeltaTimeSeconds,
    });
    if (count === failures && realm.settings.eventsEnabled) {
      await insertEvent(db, realm.id, {
        type: "USER_DISABLED_BY_TEMPORARY_LOCKOUT",
        ip: guesser.ip,
        details: { username: guesser.username, limit: tellSubject(subject) },
      });
    }
  }
}

/** As the log of events shows it: `user:eric@192.0.2.1`. */
function tellSubject({ account, address }: FailureSubject): string {
  return account === undefined ? `address:${address}` : `user:${account}${address === undefined ? "" : `@${address}`}`;
}
