import { type Peer, Problem } from "@swath/service";
import { type TemporaryKeys, requestTemporaryKeys } from "@swath/service/temporary-keys";
import { LRUCache } from "lru-cache";

export interface StorageKeys {
  /** Keys with the rights that a user's workspaces give them. @throws {Problem} 403, 503 */
  readonly of: (user: string, accessToken: string) => Promise<TemporaryKeys>;
}

const LIFETIME_SECONDS = 3600;
const RENEW_BEFORE_MS = 15 * 60_000;
const MAX_KEPT = 5000;

/** AssumeRoleWithWebIdentity of the object storage, with the user's own access token. */
export function createStorageKeys(storage: Peer | undefined): StorageKeys {
  const kept = new LRUCache<string, TemporaryKeys>({ max: MAX_KEPT });
  return {
    of: async (user, token) => {
      const known = kept.get(user);
      if (known !== undefined && known.expires.getTime() - Date.now() > RENEW_BEFORE_MS) {
        return known;
      }
      if (storage === undefined) {
        throw new Problem(503, "This deployment has no object storage.");
      }
      const keys = await requestTemporaryKeys(storage, {
        token,
        session: "application-hub",
        seconds: LIFETIME_SECONDS,
      }).catch((error: unknown) => {
        throw toProblem(error);
      });
      kept.set(user, keys);
      return keys;
    },
  };
}

function toProblem(error: unknown): unknown {
  if (!(error instanceof Problem)) {
    return error;
  }
  switch (error.status) {
    case 403:
      return new Problem(
        403,
        "The object storage gives no keys for this login: the user is in no workspace. Create one at the workspace API.",
      );
    case 400:
      return new Problem(503, "The object storage does not give keys now; try again in a moment.");
    default:
      return error;
  }
}
