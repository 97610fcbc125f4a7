import {
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  createLocalJWKSet,
  errors,
} from "jose";

import { setTimeout as sleep } from "node:timers/promises";

import type { Issuer } from "./issuer.ts";
import { IssuerUnavailableError, TokenError } from "./token-error.ts";

/** The verification keys of an issuer: read when needed, kept, read again when a token names a key that is new. */
export interface KeySet {
  /** Key look-up in the form that `jose` takes. */
  readonly getKey: (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;
  /** Reads the keys again before the next use: they changed. */
  readonly expire: () => void;
  /** Counts up with every change of the keys, so that what was verified with older ones can be forgotten. */
  readonly generation: () => number;
}

export interface KeySetOptions {
  readonly issuer: Issuer;
  /** Milliseconds keys are used before they are read again (in the background). */
  readonly maxAge?: number;
  /** Milliseconds keys may still be used while the issuer cannot be read. */
  readonly maxStale?: number;
  /** Milliseconds between two readings that tokens of strangers can cause; who comes sooner waits for the next. */
  readonly cooldown?: number;
  readonly clock?: () => number;
}

type LocalKeys = ReturnType<typeof createLocalJWKSet>;

export function createKeySet({
  issuer,
  maxAge = 300_000,
  maxStale = 3_600_000,
  cooldown = 500,
  clock = Date.now,
}: KeySetOptions): KeySet {
  let keys: LocalKeys | undefined;
  let source = "";
  let generation = 0;
  let readAt = -Infinity;
  let triedAt = -Infinity;
  let expired = false;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    triedAt = clock();
    expired = false;
    try {
      const { status, body } = await issuer.call("jwks_uri");
      if (status !== 200) {
        throw new IssuerUnavailableError(`the keys of ${issuer.url} cannot be read: it answered ${status}`);
      }
      if (body !== source) {
        keys = createLocalJWKSet(parseKeys(body, issuer.url));
        source = body;
        generation += 1;
      }
      readAt = clock();
    } catch (error) {
      expired = true;
      throw error;
    }
  };
  const refresh = (): Promise<void> => (reading ??= read().finally(() => (reading = undefined)));

  let turn: Promise<void> | undefined;
  /** One more reading, as soon as one is due; all who ask meanwhile share it. */
  const refreshInTurn = (): Promise<void> => {
    turn ??= (async () => {
      await sleep(Math.max(0, Math.min(cooldown, triedAt + cooldown - clock())));
      turn = undefined;
      await refresh();
    })();
    return turn;
  };

  const current = async (): Promise<LocalKeys> => {
    const age = clock() - readAt;
    if (keys === undefined || age > maxStale) {
      await refresh();
    } else if (expired && clock() - triedAt >= cooldown) {
      await refresh().catch(ignoreWhileUsable);
    } else if (age > maxAge && clock() - triedAt >= cooldown) {
      void refresh().catch(ignoreWhileUsable);
    }
    return keys as LocalKeys;
  };

  return {
    getKey: async (header, token) => {
      const known = await current();
      try {
        return await known(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) {
          throw toTokenError(error);
        }
      }
      // The key may be newer than the last reading, however recent: a fresh token waits rather than being refused.
      await refreshInTurn();
      try {
        return await (keys as LocalKeys)(header, token);
      } catch (error) {
        throw toTokenError(error);
      }
    },
    expire: () => {
      expired = true;
      triedAt = -Infinity;
    },
    generation: () => generation,
  };
}

/** Older keys stay in use, for `maxStale` at most; after that the same error reaches the caller. */
function ignoreWhileUsable(): void {}

function toTokenError(error: unknown): TokenError {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
    ? new TokenError("KEY_UNKNOWN", "the token names no single key of its issuer", error)
    : new TokenError("SIGNATURE", "the token's key cannot be used", error);
}

function parseKeys(text: string, issuer: string): JSONWebKeySet {
  let document: { keys?: unknown };
  try {
    document = JSON.parse(text) as { keys?: unknown };
  } catch (cause) {
    throw new IssuerUnavailableError(`the keys of ${issuer} are not JSON`, { cause });
  }
  if (!Array.isArray(document.keys)) {
    throw new IssuerUnavailableError(`the keys of ${issuer} are not a JSON Web Key Set`);
  }
  // Symmetric keys never verify anything here, and nobody should publish them.
  const keys = (document.keys as JSONWebKeySet["keys"]).filter(({ kty }) => kty !== "oct");
  return { keys };
}
