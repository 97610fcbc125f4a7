import type { UpstreamResponse } from "../store/upstreams.ts";

interface Fields {
  readonly get: (name: string) => string | null;
}

const DEFAULT_PAUSE_SECONDS = 60;
const MAX_PAUSE_SECONDS = 6 * 3600;
const TOO_MANY = 429;

/**
 * What an answer says of the limits of a registry: 429 with `Retry-After` (RFC 9110 §10.2.3), and the fields `RateLimit-Limit` and
 * `RateLimit-Remaining` that Docker Hub sends (`76;w=21600`). Undefined where it says nothing.
 */
export function readLimits(status: number, headers: Fields, now = Date.now()): UpstreamResponse | undefined {
  const limit = headers.get("ratelimit-limit")?.slice(0, 100);
  const remaining = headers.get("ratelimit-remaining")?.slice(0, 100);
  if (status !== TOO_MANY && remaining === undefined) {
    return undefined;
  }
  const isUsedUp = remaining !== undefined && /^0(?:;|$)/.test(remaining.trim());
  return {
    limit,
    remaining,
    pauseSeconds:
      status === TOO_MANY ? readPause(headers.get("retry-after"), now) : isUsedUp ? DEFAULT_PAUSE_SECONDS : 0,
    failure: status === TOO_MANY ? "It answers 429: too much was asked of it." : undefined,
  };
}

/** Seconds; a date is as good as a number. */
function readPause(text: string | null, now: number): number {
  const seconds =
    text === null ? Number.NaN : /^\d+$/.test(text.trim()) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isNaN(seconds) ? DEFAULT_PAUSE_SECONDS : Math.min(Math.max(seconds, 1), MAX_PAUSE_SECONDS);
}
