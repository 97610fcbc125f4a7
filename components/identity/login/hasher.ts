import { hash, verify as verifyArgon2 } from "@node-rs/argon2";

import { isPbkdf2Text, verifyPbkdf2 } from "./imported-hash.ts";

/** Compares with a stored hash; without one it takes as long and says no. */
type Compare = (stored: string | undefined, password: string) => Promise<boolean>;

/** Makes and checks password hashes, off the event loop and not too many at once. */
export interface PasswordHasher {
  /** An argon2id hash in PHC string format. */
  readonly hash: (password: string) => Promise<string>;
  readonly verify: Compare;
  /** Whether a stored hash is of another kind than those that are made here: it came from elsewhere, and is made anew at the next login. */
  readonly isForeign: (stored: string) => boolean;
  /**
   * Does `work` when it is its turn, with a comparison that needs no turn of its own: what is looked up before the comparison
   * and noted after it belongs together, however many come at once.
   */
  readonly inTurn: <Result>(work: (compare: Compare) => Promise<Result>) => Promise<Result>;
  /** How many comparisons were made. */
  readonly verifications: () => number;
  /** @throws {Error} while one call of the library after the other fails, for want of memory for example */
  readonly checkHealth: () => void;
}

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. The library's default kind is argon2id. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Failures without one success between them, after which the hasher says that it is not well. */
const MAX_FAILURES = 8;
/** How long after the last failure they count: without logins nothing would show that the library works again. */
const FAILURES_COUNT_MS = 30_000;

const verify = (stored: string, password: string): Promise<boolean> =>
  isPbkdf2Text(stored) ? verifyPbkdf2(stored, password) : verifyArgon2(stored, password);

/** Longest password that is hashed; longer ones are wrong without looking. */
export const MAX_PASSWORD = 256;

/**
 * `concurrency` bounds how many passwords are hashed at once, so that a wave of logins leaves cores to everything else; the rest
 * wait in turn.
 */
export function createPasswordHasher(
  concurrency: number,
  { parameters = PARAMETERS, clock = Date.now }: { parameters?: typeof PARAMETERS; clock?: () => number } = {},
): PasswordHasher {
  let running = 0;
  let failures = 0;
  let lastFailureAt = 0;
  let verifications = 0;
  const waiting: (() => void)[] = [];
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= concurrency) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) {
        running -= 1;
      } else {
        next();
      }
    }
  };
  const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await work();
      failures = 0;
      return result;
    } catch (error) {
      failures += 1;
      lastFailureAt = clock();
      throw error;
    }
  };
  const { memoryCost, timeCost, parallelism } = parameters;
  const ownKind = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`;
  let decoy: Promise<string> | undefined;
  const findDecoy = (): Promise<string> => {
    decoy ??= hash("nobody's password", parameters).catch((error: unknown) => {
      // A failure is tried again, not kept: logins of unknown names would fail from then on.
      decoy = undefined;
      throw error;
    });
    return decoy;
  };

  const compare: Compare = async (stored, password) => {
    if (password.length > MAX_PASSWORD) {
      return false;
    }
    verifications += 1;
    const compareDecoy = () => call(async () => verify(await findDecoy(), password));
    if (stored === undefined) {
      await compareDecoy();
      return false;
    }
    try {
      const isSame = await verify(stored, password);
      failures = 0;
      return isSame;
    } catch (error) {
      // A damaged hash is no fault of the library, which another hash shows.
      await compareDecoy();
      throw error;
    }
  };

  return {
    hash: (password) => inTurn(() => call(() => hash(password, parameters))),
    verify: (stored, password) => inTurn(() => compare(stored, password)),
    isForeign: (stored) => !stored.startsWith(ownKind),
    inTurn: (work) => inTurn(() => work(compare)),
    verifications: () => verifications,
    checkHealth: () => {
      if (failures >= MAX_FAILURES && clock() - lastFailureAt < FAILURES_COUNT_MS) {
        throw new Error(`the last ${failures} passwords could not be hashed`);
      }
    },
  };
}
