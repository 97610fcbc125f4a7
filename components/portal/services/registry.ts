import { parsePeerUrl } from "@swath/service";
import { Agent, type Dispatcher } from "undici";

import { KNOWN_SERVICES, type KnownService } from "./known-services.ts";

/** A way to a service inside the deployment. */
export interface Way {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly prefix: string;
}

/** A service of this deployment. */
export interface Service extends KnownService {
  /** Public address. */
  readonly url: string;
  /** Name that it is reached by from outside, which the gatekeeper knows it by. */
  readonly host: string;
  /** Where requests of people go in: the gatekeeper where the service is protected. */
  readonly upstream: Way;
  /** The service itself, to ask whether it is well. */
  readonly direct: Way;
}

export interface Registry {
  readonly all: readonly Service[];
  readonly find: (id: string) => Service | undefined;
  readonly close: () => Promise<void>;
}

interface Entry {
  readonly id: string;
  readonly url: string;
  readonly host: string;
  readonly upstream: string;
  readonly health: string;
}

/**
 * Reads PORTAL_SERVICES and the addresses that it names.
 * @throws {Error} naming the variable that is missing
 */
export function openRegistry(text: string, env: Readonly<Record<string, string | undefined>>): Registry {
  const dispatchers: Dispatcher[] = [];
  const open = (variable: string): Way => {
    const address = env[variable];
    if (address === undefined || address === "") {
      throw new Error(`${variable}, which PORTAL_SERVICES names, is missing`);
    }
    const { origin, prefix, socketPath } = parsePeerUrl(address);
    // No limit of time for bodies: a log that is followed is an answer without an end.
    const dispatcher = new Agent({
      ...(socketPath !== undefined && { connect: { socketPath } }),
      keepAliveTimeout: 4000,
      bodyTimeout: 0,
    });
    dispatchers.push(dispatcher);
    return { origin, prefix, dispatcher };
  };
  const entries = JSON.parse(text) as readonly Entry[];
  const all = KNOWN_SERVICES.flatMap((known): Service[] => {
    const entry = entries.find(({ id }) => id === known.id);
    return entry === undefined
      ? []
      : [{ ...known, url: entry.url, host: entry.host, upstream: open(entry.upstream), direct: open(entry.health) }];
  });
  return {
    all,
    find: (id) => all.find((service) => service.id === id),
    close: async () => {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
    },
  };
}
