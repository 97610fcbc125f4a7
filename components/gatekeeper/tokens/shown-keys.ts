import { DPOP_SECONDS, DpopError, TokenError, type DpopProof, boundKeyOf, checkDpopProof } from "@swath/auth";

/** How a request shows that it holds the key that its token is bound to (RFC 9449 §7). */
export interface ShownProof {
  /** Header `DPoP`, every time that it came. */
  readonly proofs: readonly string[];
  readonly method: string;
  readonly url: string;
}

/** Checks proofs of possession, each of which is good once. */
export interface ShownKeys {
  /** The thumbprint of the key that was shown. @throws {TokenError} BINDING */
  readonly check: (token: string, shown: ShownProof | undefined) => Promise<string>;
}

/** Proofs live for two minutes; more than this at once are a flood, and the oldest of them give way to none. */
const MAX_PROOFS = 200_000;

/**
 * Remembers in this process which proofs were used: another replica would take one of these again, within the minute that it is good for,
 * for the same request and with the same token (RFC 9449 §11.1).
 */
export function createShownKeys(clock: () => number): ShownKeys {
  /** By time of end, the oldest first, near enough: every proof ends within the same two minutes. */
  const used = new Map<string, number>();
  const takeOnce = ({ id, expiresAt }: DpopProof) => {
    for (const [old, until] of used) {
      if (until > clock()) {
        break;
      }
      used.delete(old);
    }
    if (used.has(id)) {
      throw new DpopError("it was used before");
    }
    if (used.size >= MAX_PROOFS) {
      throw new DpopError(`too many proofs came within ${2 * DPOP_SECONDS} seconds; try again in a moment`);
    }
    used.set(id, expiresAt.getTime());
  };
  return {
    check: async (token, shown) => {
      try {
        const [proof, ...others] = shown?.proofs ?? [];
        if (shown === undefined || proof === undefined || others.length > 0) {
          throw new DpopError("exactly one header DPoP must come with the token");
        }
        const { method, url } = shown;
        const found = await checkDpopProof(proof, { method, url, accessToken: token, now: clock() });
        takeOnce(found);
        return found.thumbprint;
      } catch (error) {
        throw error instanceof DpopError
          ? new TokenError("BINDING", `the proof of possession is not accepted: ${error.message}`, error)
          : error;
      }
    },
  };
}

/** @throws {TokenError} for a token that any sender could use, where one showed a key (RFC 9449 §7.1) */
export function checkIsBound(claims: Readonly<Record<string, unknown>>): void {
  if (boundKeyOf(claims) === undefined) {
    throw new TokenError("BINDING", "the token is not bound to a key: send it as Bearer");
  }
}
