import { XmlError, parseNamed } from "@swath/xml";

import type { Peer } from "./peer.ts";
import { Problem } from "./problem.ts";

/** Temporary keys of the object storage. */
export interface TemporaryKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expires: Date;
}

interface TemporaryKeysRequest {
  /** The user's own access token. */
  readonly token: string;
  /** Who asks, in the audit trail of the storage. */
  readonly session: string;
  readonly seconds: number;
  /** What the keys may do at most: a policy, as JSON. */
  readonly policy?: string;
  readonly signal?: AbortSignal | undefined;
}

const MAX_RESPONSE_BYTES = 100_000;

/**
 * AssumeRoleWithWebIdentity of the object storage: keys with the rights that the token's owner has there.
 * @throws {Problem} with the status of a refusal (400 for a token that is not accepted, 403 where no role fits it), else 503
 */
export async function requestTemporaryKeys(
  storage: Peer,
  { token, session, seconds, policy, signal }: TemporaryKeysRequest,
): Promise<TemporaryKeys> {
  const response = await storage.fetch("/", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleSessionName: session,
      WebIdentityToken: token,
      DurationSeconds: String(seconds),
      ...(policy !== undefined && { Policy: policy }),
    }).toString(),
    ...(signal && { signal }),
  });
  const text = (await response.text()).slice(0, MAX_RESPONSE_BYTES);
  if (response.ok) {
    return readKeys(text);
  }
  throw response.status === 400 || response.status === 403
    ? new Problem(response.status, "The object storage gives no keys for this login.")
    : new Problem(503, "The object storage does not give keys now; try again in a moment.");
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
