import { createSecretKey, hash } from "node:crypto";

import { SignJWT, jwtVerify } from "jose";

/** Name that a delegate of a user logs in with. */
const PREFIX = "pull$";
/** Long enough for a pod that waits for room in its cluster. What it allows is asked anew at every use. */
export const DELEGATE_SECONDS = 4 * 3600;
const ISSUER = "swath-registry-delegates";
const MAX_CHARACTERS = 4096;

/**
 * Credentials with which the processing service pulls for a user: signed, so that nothing is stored, and never more than the user may
 * pull at that moment.
 */
export interface Delegates {
  readonly create: (user: string) => Promise<{ readonly username: string; readonly password: string }>;
  /** The user that a login is a delegate of; undefined when it is none, or not valid. */
  readonly verify: (username: string, password: string) => Promise<string | undefined>;
}

export const isDelegateName = (username: string): boolean => username.startsWith(PREFIX);

interface DelegatesOptions {
  /** Shared by all replicas. */
  readonly secret: string;
  /** Host of the registry. */
  readonly service: string;
  readonly clock?: () => number;
}

export function createDelegates({ secret, service, clock = Date.now }: DelegatesOptions): Delegates {
  const key = createSecretKey(hash("sha512", `pull credential ${secret}`, "buffer"));
  return {
    create: async (user) => {
      const now = Math.floor(clock() / 1000);
      const password = await new SignJWT({})
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setIssuer(ISSUER)
        .setSubject(user)
        .setAudience(service)
        .setExpirationTime(now + DELEGATE_SECONDS)
        .sign(key);
      return { username: `${PREFIX}${user}`, password };
    },
    verify: async (username, password) => {
      if (!isDelegateName(username) || password.length > MAX_CHARACTERS) {
        return undefined;
      }
      const user = username.slice(PREFIX.length);
      try {
        await jwtVerify(password, key, {
          algorithms: ["HS256"],
          issuer: ISSUER,
          audience: service,
          subject: user,
          currentDate: new Date(clock()),
          requiredClaims: ["exp", "sub"],
        });
        return user;
      } catch {
        // Not signed by us, of another user, expired.
        return undefined;
      }
    },
  };
}
