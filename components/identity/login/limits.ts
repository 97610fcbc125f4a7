import type { Realm } from "../store/realms.ts";
import type { Queryable } from "../store/database.ts";
import { insertEvent } from "../store/events.ts";
import { type BackOff, type FailureSubject, countFailure, findLock } from "../store/login-failures.ts";

/** Who tries to log in, and from where. */
export interface Guesser {
  readonly username: string;
  readonly ip: string;
}

/** All addresses together may fail this many times as often with one account as one address may, before each try waits. */
const FAILURES_PER_ACCOUNT = 5;
/** One address may serve many people: this many times as many. */
const FAILURES_PER_ADDRESS = 10;
/** Waits that hold people who guess nothing are short: they slow guessing down, and lock nobody out. */
const SHARED_BACK_OFF: BackOff = { incrementSeconds: 1, maxSeconds: 30, doubles: true };

interface Limit {
  readonly subject: FailureSubject;
  readonly failures: number;
  readonly backOff: BackOff;
}

/** The account from this address waits as the realm says; the account from anywhere, and the address with any account, a moment. */
function limitsOf({ settings }: Realm, { username, ip }: Guesser): readonly Limit[] {
  const { failureFactor: failures, waitIncrementSeconds, maxFailureWaitSeconds } = settings;
  return [
    {
      subject: `user:${username}@${ip}`,
      failures,
      backOff: { incrementSeconds: waitIncrementSeconds, maxSeconds: maxFailureWaitSeconds, doubles: false },
    },
    { subject: `user:${username}`, failures: failures * FAILURES_PER_ACCOUNT, backOff: SHARED_BACK_OFF },
    { subject: `address:${ip}`, failures: failures * FAILURES_PER_ADDRESS, backOff: SHARED_BACK_OFF },
  ];
}

/** Until when this must wait; undefined when it need not. */
export async function findWait(db: Queryable, realm: Realm, guesser: Guesser): Promise<Date | undefined> {
  return realm.settings.bruteForceProtected
    ? findLock(
        db,
        realm.id,
        limitsOf(realm, guesser).map(({ subject }) => subject),
      )
    : undefined;
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
        details: { username: guesser.username, limit: subject },
      });
    }
  }
}
