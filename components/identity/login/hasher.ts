import { hash, verify } from "@node-rs/argon2";

/** Compares with a stored hash; without one it takes as long and says no. */
type Compare = (stored: string | undefined, password: string) => Promise<boolean>;

/** Makes and checks password hashes, off the event loop and not too many at once. */
export interface PasswordHasher {
  /** An argon2id hash in PHC string format. */
  readonly hash: (password: string) => Promise<string>;
  readonly verify: Compare;
  /**
   * Does `work` when it is its turn, with a comparison that needs no turn of its own: what is looked up before the comparison
   * and noted after it belongs together, however many come at once.
   */
  readonly inTurn: <Result>(work: (compare: Compare) => Promise<Result>) => Promise<Result>;
  /** How many comparisons were made. */
  readonly verifications: () => number;
}

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. The library's default kind is argon2id. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Longest password that is hashed; longer ones are wrong without looking. */
export const MAX_PASSWORD = 256;

/**
 * `concurrency` bounds how many passwords are hashed at once, so that a wave of logins leaves cores to everything else; the rest
 * wait in turn.
 */
export function createPasswordHasher(concurrency: number): PasswordHasher {
  let running = 0;
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
  let decoy: Promise<string> | undefined;

  const compare: Compare = async (stored, password) => {
    if (password.length > MAX_PASSWORD) {
      return false;
    }
    decoy ??= hash("nobody's password", PARAMETERS);
    const against = stored ?? (await decoy);
    verifications += 1;
    return (await verify(against, password)) && stored !== undefined;
  };

  return {
    hash: (password) => inTurn(() => hash(password, PARAMETERS)),
    verify: (stored, password) => inTurn(() => compare(stored, password)),
    inTurn: (work) => inTurn(() => work(compare)),
    verifications: () => verifications,
  };
}
