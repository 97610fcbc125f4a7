import { createSecretKey, hash, randomUUID } from "node:crypto";

import { SignJWT, errors, jwtVerify } from "jose";

import type { Access } from "./scope.ts";

/** Seconds that a token is good for. A right that is taken away ends with it. */
export const TOKEN_SECONDS = 300;
const ISSUER = "swath-registry";
const MAX_TOKEN_CHARACTERS = 16_384;
const MAX_REMEMBERED = 5000;

/** A token of the registry's own (docs.docker.com token authentication): who pushes or pulls, and what the token allows. */
export interface RegistryToken {
  /** Names one push or pull. */
  readonly id: string;
  readonly subject: string;
  readonly access: readonly Access[];
  /** Milliseconds since 1970. */
  readonly expires: number;
}

export interface RegistryTokens {
  /** Good for `TOKEN_SECONDS` where nothing else is said. */
  readonly sign: (subject: string, access: readonly Access[], seconds?: number) => Promise<string>;
  /** Undefined for a text that never was a valid token of this registry. */
  readonly verify: (token: string) => Promise<RegistryToken | "expired" | undefined>;
  /** The same without waiting, for a token verified before. */
  readonly recall: (token: string) => RegistryToken | undefined;
}

interface TokenOptions {
  /** Shared by all replicas. */
  readonly secret: string;
  /** Host of the registry; tokens of another deployment are not for this one. */
  readonly service: string;
  readonly clock?: () => number;
}

export function createRegistryTokens({ secret, service, clock = Date.now }: TokenOptions): RegistryTokens {
  const key = createSecretKey(hash("sha512", `registry token ${secret}`, "buffer"));
  const remembered = new Map<string, RegistryToken>();
  const recall = (token: string) => {
    const known = remembered.get(token);
    return known !== undefined && known.expires > clock() ? known : undefined;
  };
  return {
    sign: async (subject, access, seconds = TOKEN_SECONDS) => {
      const now = Math.floor(clock() / 1000);
      return new SignJWT({ access })
        .setProtectedHeader({ alg: "HS256", typ: "JWT" })
        .setIssuer(ISSUER)
        .setSubject(subject)
        .setAudience(service)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setNotBefore(now - 5)
        .setExpirationTime(now + seconds)
        .sign(key);
    },
    recall,
    verify: async (token) => {
      const known = recall(token);
      if (known !== undefined || token.length > MAX_TOKEN_CHARACTERS) {
        return known;
      }
      try {
        const { payload } = await jwtVerify<{ access: readonly Access[] }>(token, key, {
          algorithms: ["HS256"],
          issuer: ISSUER,
          audience: service,
          currentDate: new Date(clock()),
          requiredClaims: ["exp", "sub", "jti"],
        });
        const { jti = "", sub = "", exp = 0, access } = payload;
        const verified = { id: jti, subject: sub, access, expires: exp * 1000 };
        remembered.set(token, verified);
        for (const oldest of remembered.keys().take(Math.max(0, remembered.size - MAX_REMEMBERED))) {
          remembered.delete(oldest);
        }
        return verified;
      } catch (error) {
        // Otherwise not signed by us, or changed.
        return error instanceof errors.JWTExpired ? "expired" : undefined;
      }
    },
  };
}
