import type { CallerLimits } from "@swath/service/caller-limits";
import type { FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";

/** Services send again what is refused, but later: they wait for a place instead. */
const SERVICE_WAIT_MS = 60_000;

/** Takes a place for a load. @returns gives it back @throws {Problem} 429 or 503 with Retry-After */
type TakeLoadPlace = (reader: Reader, request: FastifyRequest, signal: AbortSignal) => Promise<() => void>;

/** Shares the connections for loads between users and services of the deployment. No caller alone can hold all of the users' share. */
export function createLoadPlaces(limits: CallerLimits, connections: number): TakeLoadPlace {
  const ofServices = Math.floor(connections / 2);
  const ofUsers = connections - ofServices;
  const perCaller = Math.max(1, ofUsers - 1);
  const users = limits.createPlaces({ name: "loads", perUser: perCaller, perAddress: perCaller, total: ofUsers });
  // One connection is shared by all.
  const services =
    ofServices === 0
      ? users
      : limits.createPlaces({
          name: "loads of services",
          perUser: ofServices,
          perAddress: ofServices,
          total: ofServices,
        });
  return async ({ isService, user }, { ip }, signal) =>
    isService === true
      ? services.takeWhenFree({ user: "services", address: ip }, { maxWaitMs: SERVICE_WAIT_MS, signal })
      : users.take({ user, address: ip });
}
