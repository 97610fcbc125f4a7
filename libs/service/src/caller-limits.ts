import ipaddr from "ipaddr.js";
import { Counter, Gauge, type Registry } from "prom-client";

import { Problem } from "./problem.ts";
import { RateWindows } from "./rate-windows.ts";

export type { Registry as MetricsRegistry } from "prom-client";

/** Whom a limit counts: a user wherever they are, anybody else by address. */
export interface LimitedCaller {
  readonly user?: string | undefined;
  readonly address: string;
}

export interface PlacesOptions {
  /** What the places are of, in the plural, for messages and as the label of metrics: `change streams`. */
  readonly name: string;
  readonly perUser: number;
  readonly perAddress: number;
  readonly total: number;
}

interface RateOptions {
  /** What is counted, in the plural: `registrations`. */
  readonly name: string;
  readonly perUser: number;
  readonly perAddress: number;
  readonly seconds: number;
}

/** Things that callers hold at the same time. */
export interface CallerPlaces {
  /** Takes a place. @returns gives it back, once. @throws {Problem} 429, 503 where all places of the service are taken */
  readonly take: (caller: LimitedCaller) => () => void;
  /** Takes a place as soon as the caller may have one. @throws {Problem} as `take`, after the wait. Rejects when the signal aborts. */
  readonly takeWhenFree: (caller: LimitedCaller, wait: PlaceWait) => Promise<() => void>;
}

interface PlaceWait {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

/** A number of things in a window of time. */
export interface CallerRate {
  /** Counts one. @throws {Problem} 429 with the time until the next window */
  readonly count: (caller: LimitedCaller) => void;
}

/** A response, or the socket of a tunnel. */
interface Closing {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** Gives a place back when the response closes; at once where the client went while its request was looked into. */
export function releaseOnClose(response: Closing, release: () => void): void {
  if (response.destroyed) {
    release();
  } else {
    response.once("close", release);
  }
}

/** Of every service that takes registrations: a program registers what it finds one by one; more at once goes as a collection or a harvest. */
export const REGISTRATIONS: RateOptions = { name: "registrations", perUser: 3000, perAddress: 3000, seconds: 60 };

/** Callers whose rate is remembered; the one that was counted first goes. */
const MAX_REMEMBERED = 50_000;
const RETRY_SECONDS = 10;

/** Limits of a service, with the metrics of all of them. Without a registry nothing is measured. */
export class CallerLimits {
  readonly #refused: Counter | undefined;
  readonly #taken: Gauge | undefined;

  constructor(metrics?: Registry) {
    const registers = metrics && [metrics];
    this.#refused =
      registers &&
      new Counter({
        name: "caller_limit_refusals_total",
        help: "Requests refused because of what their caller already has or did",
        labelNames: ["limit", "by"],
        registers,
      });
    this.#taken =
      registers &&
      new Gauge({ name: "caller_limit_places", help: "Places that are taken", labelNames: ["limit"], registers });
  }

  /** Things that callers hold at the same time: streams, uploads. */
  createPlaces({ name, perUser, perAddress, total }: PlacesOptions): CallerPlaces {
    const held = new Map<string, number>();
    const waiting = new Set<() => void>();
    let taken = 0;
    const mostOf = ({ user }: LimitedCaller): number => (user === undefined ? perAddress : perUser);
    const mayTake = (caller: LimitedCaller): boolean =>
      taken < total && (held.get(toKey(caller)) ?? 0) < mostOf(caller);
    const places: CallerPlaces = {
      take: (caller) => {
        const key = toKey(caller);
        const own = held.get(key) ?? 0;
        if (own >= mostOf(caller)) {
          throw this.#refuse(
            name,
            caller,
            `${tellCaller(caller)} has ${own} ${name} already, which is the most; close one first.`,
          );
        }
        if (taken >= total) {
          this.#refused?.inc({ limit: name, by: "total" });
          throw new Problem(503, `All ${total} ${name} of the service are taken; try again later.`, {
            headers: { "retry-after": String(RETRY_SECONDS) },
          });
        }
        held.set(key, own + 1);
        taken += 1;
        this.#taken?.set({ limit: name }, taken);
        let isHeld = true;
        return () => {
          if (!isHeld) {
            return;
          }
          isHeld = false;
          taken -= 1;
          this.#taken?.set({ limit: name }, taken);
          const left = (held.get(key) ?? 1) - 1;
          if (left === 0) {
            held.delete(key);
          } else {
            held.set(key, left);
          }
          // All of them, in their order: the first may be a caller who has its places.
          const woken = [...waiting];
          waiting.clear();
          woken.forEach((wake) => wake());
        };
      },
      takeWhenFree: async (caller, { maxWaitMs, signal }) => {
        const end = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
        while (!mayTake(caller) && !end.aborted) {
          const { promise, resolve } = Promise.withResolvers<void>();
          waiting.add(resolve);
          end.addEventListener("abort", () => resolve(), { once: true });
          await promise;
          // Where the wait was given up, no place that is given back has taken it out.
          waiting.delete(resolve);
        }
        signal.throwIfAborted();
        return places.take(caller);
      },
    };
    return places;
  }

  /** Things that callers do again and again: registrations, exports. Counted in windows of time. */
  createRate({ name, perUser, perAddress, seconds }: RateOptions): CallerRate {
    const windows = new RateWindows({ windowMs: seconds * 1000, maxKeys: MAX_REMEMBERED });
    return {
      count: (caller) => {
        const most = caller.user === undefined ? perAddress : perUser;
        const wait = windows.count(toKey(caller), most);
        if (wait !== undefined) {
          throw this.#refuse(
            name,
            caller,
            `${tellCaller(caller)} may send ${most} ${name} in ${seconds} s; try again in ${wait} s.`,
            wait,
          );
        }
      },
    };
  }

  #refuse(name: string, { user }: LimitedCaller, detail: string, retrySeconds = RETRY_SECONDS): Problem {
    this.#refused?.inc({ limit: name, by: user === undefined ? "address" : "user" });
    return new Problem(429, detail, { headers: { "retry-after": String(retrySeconds) } });
  }
}

const toKey = ({ user, address }: LimitedCaller): string =>
  user === undefined ? `address ${toNetwork(address)}` : `user ${user}`;
const tellCaller = ({ user }: LimitedCaller): string => (user === undefined ? "Your address" : "This user");

/** IPv4 addresses one by one, also those that came as IPv6; IPv6 by the /64 that one customer has. */
function toNetwork(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}
