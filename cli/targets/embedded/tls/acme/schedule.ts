import { createHash } from "node:crypto";

import { AcmeConnectionError, AcmeProblem } from "./problem.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Share of a certificate's life after which it is renewed, at the latest. */
const RENEW_AT = 2 / 3;
/** Certificates of one day are renewed within this share of their life before that, each at its own moment. */
const STAGGER = 1 / 20;

/** When a certificate is renewed where the server suggests nothing, in milliseconds since the epoch. */
export function findRenewalTime({ notBefore, notAfter }: { notBefore: Date; notAfter: Date }, name: string): number {
  const life = notAfter.getTime() - notBefore.getTime();
  return notBefore.getTime() + life * (RENEW_AT - STAGGER * fractionOf(name));
}

/** A moment within the window that the server suggests (RFC 9773 §4.2): evenly spread, and the same after a restart. */
export function pickInWindow({ start, end }: { start: number; end: number }, name: string): number {
  return start + Math.max(0, end - start) * fractionOf(name);
}

/** 0 up to 1, the same for the same name. */
function fractionOf(name: string): number {
  return createHash("sha256").update(name).digest().readUInt32BE(0) / 2 ** 32;
}

/**
 * How long to wait after the given number of failures in a row. A refused validation waits longer at first, since authorities
 * count them by the hour; a server that is away is asked once an hour at least, so that it is found soon after its return.
 */
export function findDelayMs(failures: number, error: unknown): number {
  const doubled = 2 ** Math.min(failures - 1, 12);
  if (error instanceof AcmeConnectionError) {
    return Math.min(MINUTE * doubled, HOUR);
  }
  if (error instanceof AcmeProblem && error.kind === "rateLimited") {
    return Math.max(error.retryAfterMs ?? 0, Math.min(HOUR * doubled, DAY));
  }
  if (error instanceof AcmeProblem && (error.status >= 500 || error.kind === "badNonce")) {
    return Math.max(error.retryAfterMs ?? 0, Math.min(MINUTE * doubled, HOUR));
  }
  return Math.max(error instanceof AcmeProblem ? (error.retryAfterMs ?? 0) : 0, Math.min(15 * MINUTE * doubled, DAY));
}

/** Limits of an authority that the tool keeps below by itself: asking too often closes the door for a week. */
interface Limits {
  /** New orders of an account. */
  readonly orders: { readonly count: number; readonly withinMs: number };
  /** Certificates of one exact set of names. */
  readonly duplicates: { readonly count: number; readonly withinMs: number };
}

const GENEROUS: Limits = {
  orders: { count: 280, withinMs: 3 * HOUR },
  duplicates: { count: 25_000, withinMs: 7 * DAY },
};
const LIMITS: ReadonlyMap<string, Limits> = new Map(
  Object.entries<Limits>({
    // 300 and 5 by the authority's documentation.
    "https://acme-v02.api.letsencrypt.org/directory": {
      orders: { count: 280, withinMs: 3 * HOUR },
      duplicates: { count: 4, withinMs: 7 * DAY },
    },
  }),
);
/** Times older than this are of no interest to any limit. */
const MEMORY_MS = 7 * DAY;

interface Past {
  /** Times of new orders of the account, milliseconds since the epoch, oldest first. */
  readonly orders: readonly number[];
  /** Times of certificates of these names. */
  readonly issued: readonly number[];
}

/** When the next order may be made without coming near a limit; `now` when at once. */
export function findAllowedTime(directoryUrl: string, { orders, issued }: Past, now: number): number {
  const limits = LIMITS.get(directoryUrl) ?? GENEROUS;
  return Math.max(nextFree(orders, limits.orders, now), nextFree(issued, limits.duplicates, now));
}

function nextFree(times: readonly number[], { count, withinMs }: Limits["orders"], now: number): number {
  const recent = times.filter((time) => time > now - withinMs);
  const oldest = recent.at(-count);
  return oldest === undefined ? now : oldest + withinMs;
}

/** Adds a time and drops those that no limit looks at any more. */
export function addTime(times: readonly number[], now: number): number[] {
  return [...times.filter((time) => time > now - MEMORY_MS), now];
}
