import { type Peer, Problem } from "@swath/service";
import { XmlError, parseNamed } from "@swath/xml";

/** Temporary keys of the object storage. */
export interface TemporaryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expires: Date;
}

export interface StorageKeys {
  /** Keys with the rights that a user's workspaces give them. @throws {Problem} 403, 503 */
  readonly of: (user: string, accessToken: string) => Promise<TemporaryKeys>;
}

const LIFETIME_SECONDS = 3600;
const RENEW_BEFORE_MS = 15 * 60_000;
const MAX_RESPONSE_BYTES = 100_000;
const MAX_KEPT = 5000;

/** AssumeRoleWithWebIdentity of the object storage, with the user's own access token. */
export function createStorageKeys(storage: Peer | undefined): StorageKeys {
  const kept = new Map<string, TemporaryKeys>();
  return {
    of: async (user, token) => {
      const known = kept.get(user);
      if (known !== undefined && known.expires.getTime() - Date.now() > RENEW_BEFORE_MS) {
        return known;
      }
      if (storage === undefined) {
        throw new Problem(503, "This deployment has no object storage.");
      }
      const response = await storage.fetch("/", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({
          Action: "AssumeRoleWithWebIdentity",
          Version: "2011-06-15",
          RoleSessionName: "application-hub",
          WebIdentityToken: token,
          DurationSeconds: String(LIFETIME_SECONDS),
        }).toString(),
      });
      const text = (await response.text()).slice(0, MAX_RESPONSE_BYTES);
      if (!response.ok) {
        throw new Problem(
          response.status === 403 ? 403 : 503,
          response.status === 403
            ? "The object storage gives no keys for this login: the user is in no workspace. Create one at the workspace API."
            : "The object storage does not give keys now; try again in a moment.",
        );
      }
      const keys = readKeys(text);
      kept.delete(user);
      kept.set(user, keys);
      for (const old of [...kept.keys()].slice(0, Math.max(0, kept.size - MAX_KEPT))) {
        kept.delete(old);
      }
      return keys;
    },
  };
}

/** @throws {Problem} 503 for an answer that holds no keys */
function readKeys(text: string): TemporaryKeys {
  try {
    const { AssumeRoleWithWebIdentityResult: result } = parseNamed(text, { ignoreAttributes: true }).value as {
      readonly AssumeRoleWithWebIdentityResult?: { readonly Credentials?: Readonly<Record<string, string>> };
    };
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = result?.Credentials ?? {};
    const expires = new Date(Expiration ?? "");
    if (AccessKeyId && SecretAccessKey && SessionToken && !Number.isNaN(expires.getTime())) {
      return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken, expires };
    }
  } catch (error) {
    if (!(error instanceof XmlError)) {
      throw error;
    }
  }
  throw new Problem(503, "The object storage answers without keys; try again in a moment.");
}
