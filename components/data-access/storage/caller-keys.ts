import { type Peer, Problem } from "@swath/service";
import { type TemporaryKeys, requestTemporaryKeys } from "@swath/service/temporary-keys";

/** Keys of a caller; `undefined` where the storage gives this login no rights. @throws {Problem} 401, 503 */
export type FindCallerKeys = (token: string, signal?: AbortSignal) => Promise<TemporaryKeys | undefined>;

/** The shortest that STS gives. */
const LIFETIME_SECONDS = 900;
const RENEW_BEFORE_MS = 60_000;
const MAX_KEPT = 5000;
/** What the service does with them; whatever else their owner may do, it cannot. */
const POLICY = JSON.stringify({
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: ["s3:GetObject", "s3:ListBucket"], Resource: ["arn:aws:s3:::*"] }],
});

interface Kept {
  readonly keys: Promise<TemporaryKeys | undefined>;
  until: number;
}

/** Exchanges the callers' tokens for temporary keys that only read, and keeps these while the tokens are valid. */
export function createCallerKeys(storage: Peer): FindCallerKeys {
  const kept = new Map<string, Kept>();
  return async (token) => {
    const known = kept.get(token);
    if (known !== undefined && Date.now() < known.until) {
      return known.keys;
    }
    const keys = requestTemporaryKeys(storage, {
      token,
      session: "data-access",
      seconds: LIFETIME_SECONDS,
      policy: POLICY,
    }).catch(toNoRights);
    const entry: Kept = { keys, until: Number.POSITIVE_INFINITY };
    kept.delete(token);
    kept.set(token, entry);
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) {
        break;
      }
      kept.delete(oldest);
    }
    try {
      const found = await keys;
      entry.until =
        found === undefined ? 0 : Math.min(found.expires.getTime() - RENEW_BEFORE_MS, expiryOf(token) ?? Infinity);
      return found;
    } catch (error) {
      entry.until = 0;
      throw error;
    }
  };
}

function toNoRights(error: unknown): undefined {
  if (error instanceof Problem && error.status === 400) {
    throw new Problem(401, "The object storage does not accept this login.", {
      headers: { "www-authenticate": 'Bearer error="invalid_token"' },
    });
  }
  if (error instanceof Problem && error.status === 403) {
    return undefined;
  }
  throw error;
}

/** Milliseconds. The storage has verified the token; this only says how long its keys are kept. */
function expiryOf(token: string): number | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { exp?: unknown };
    return typeof claims.exp === "number" ? claims.exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
