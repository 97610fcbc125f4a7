import { hash, verify } from "@node-rs/argon2";

/** Makes and checks password hashes, off the event loop and not too many at once. */
export interface PasswordHasher {
  /** An argon2id hash in PHC string format. */
  readonly hash: (password: string) => Promise<string>;
  /** Compares with a stored hash; without one it takes as long and says no. */
  readonly verify: (stored: string | undefined, password: string) => Promise<boolean>;
  /** How many comparisons were made. */
  readonly verifications: () => number;
}

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. The library's default kind is argon2id. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Longest password that is hashed; longer ones are wrong without looking. */
export const LONGEST_PASSWORD = 256;

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

  return {
    hash: (password) => inTurn(() => hash(password, PARAMETERS)),
    verify: async (stored, password) => {
      if (password.length > LONGEST_PASSWORD) {
        return false;
      }
      decoy ??= hash("nobody's password", PARAMETERS);
      const against = stored ?? (await decoy);
      const fits = await inTurn(() => {
        verifications += 1;
        return verify(against, password);
      });
      return stored !== undefined && fits;
    },
    verifications: () => verifications,
  };
}
