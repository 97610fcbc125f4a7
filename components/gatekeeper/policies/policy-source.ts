import type { EndedLogin, Evaluator, VerifiedToken } from "@swath/auth";

/** Where decisions come from: the identity service, or the declared rules where another issuer is used. */
export interface PolicySource {
  /** The rules of a client when they are at hand and current; `undefined` means: ask `load`. */
  readonly peek: (clientId: string) => Evaluator | undefined;
  /** @throws {Refusal} ISSUER_UNAVAILABLE */
  readonly load: (clientId: string) => Promise<Evaluator>;
  /** Whether a verified token is known to be good still, known not to be (`revoked`), or must be asked about (`ask`). */
  readonly cachedTokenState: (verified: VerifiedToken) => "good" | "revoked" | "ask";
  /** Asks about a token. @throws {Refusal} ISSUER_UNAVAILABLE */
  readonly isTokenActive: (verified: VerifiedToken) => Promise<boolean>;
  /** A session that ended here: its tokens are refused from now on. */
  readonly endSession: (verified: VerifiedToken) => void | Promise<void>;
  /** A login that an issuer of someone else says has ended; left out where the identity service tells of that itself. */
  readonly endLogin?: (ended: EndedLogin) => Promise<void>;
  /** Resolves when decisions can be made. */
  readonly ready: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Called with a test that tells for each open tunnel whether it must end now. */
export type EndTunnels = (mustEnd: (verified: VerifiedToken) => boolean) => void;
