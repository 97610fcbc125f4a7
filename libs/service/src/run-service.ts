import type { Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import type { Registry } from "prom-client";

import { WAITS_FOR_PREDECESSOR, awaitPredecessor } from "./await-predecessor.ts";
import { dropClientClaims } from "./client-claims.ts";
import { lingerOnUnreadBodies } from "./linger.ts";
import { listen, parseListenAddress } from "./listen.ts";
import { type Logger, createLogger } from "./log.ts";
import { startManagement } from "./management.ts";
import { containRequestFaults, createFaultReporter } from "./request-faults.ts";
import { measureRequests } from "./request-metrics.ts";
import { type Settings, type SettingDefinition, SettingsError, defineSettings, loadSettings } from "./settings.ts";

/** What the place where a service runs asks of it, whatever service it is. */
const COMMON_SETTINGS = defineSettings({
  STOP_DELAY: {
    kind: "duration",
    default: 0,
    maximum: 60,
    description: "How long it goes on taking requests after SIGTERM, where others need a while to hear of its end.",
  },
  DRAIN_TIMEOUT: {
    kind: "duration",
    default: 0,
    maximum: 60,
    description:
      "How long after SIGTERM it goes on answering on connections that are open, while another process takes new ones. SIGINT does not wait.",
  },
  WAIT_FOR_PREDECESSOR: {
    kind: "boolean",
    default: false,
    description: "Whether it opens nothing before SIGUSR2 says that the process which it relieves is gone.",
  },
  PROTECTED_HOSTS: {
    kind: "string",
    optional: true,
    description:
      "Hosts, separated by commas, on which only the gatekeeper sends requests. When set, even if empty, X-Auth-* fields are dropped on all others.",
  },
});

/** Milliseconds between two looks at the connections that are still open. */
const DRAIN_INTERVAL = 50;

/** What a service needs from its surroundings to be built. */
export interface ServiceContext<S> {
  readonly settings: S;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Says in `/readyz` what the start is waiting for; undefined when it goes on. */
  readonly reportWaiting: (reason: string | undefined) => void;
}

/** What `build` gives back: servers that do not listen yet, and how to stop. */
export interface RunningService {
  /** By port name; `http` listens on `LISTEN`, `console` on `LISTEN_CONSOLE`. */
  readonly servers: Readonly<Record<string, Server>>;
  /** It measures its requests itself, in its own terms; otherwise `http_request_seconds` does. */
  readonly measuresRequests?: boolean;
  /** Rejects with the reason while the service cannot serve. */
  readonly ready?: () => Promise<void>;
  /** Called after the servers have finished their requests. */
  readonly close?: () => Promise<void>;
}

interface RunOptions<D extends Readonly<Record<string, SettingDefinition>>> {
  readonly name: string;
  readonly settings: D;
  readonly build: (context: ServiceContext<Settings<D>>) => Promise<RunningService>;
  /** Seconds that open requests may still take after SIGTERM. */
  readonly graceSeconds?: number;
}

/**
 * The whole life of a service process, for `main.ts`: read settings, build, listen on every port and on
 * `MANAGEMENT_LISTEN`, and on SIGTERM or SIGINT stop accepting, finish open requests, close, end with status 0.
 * Ends with status 78 (EX_CONFIG) and all mistakes when the environment is wrong.
 */
export async function runService<const D extends Readonly<Record<string, SettingDefinition>>>(
  options: RunOptions<D>,
): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- the one place where services read their environment
  const env = process.env;
  const logger = createLogger(options.name, env["LOG_LEVEL"] ?? "info");
  // Before anything is served no error belongs to a request.
  let reportFault: (error: unknown) => boolean = () => false;
  const onUncaught = (what: string) => (error: unknown) => {
    if (!reportFault(error)) {
      logger.fatal({ err: error }, `${what}; stopping`);
      process.exit(1);
    }
  };
  process.on("uncaughtException", onUncaught("uncaught error"));
  process.on("unhandledRejection", onUncaught("unhandled rejection"));
  let settings: Settings<D>;
  let surroundings: Settings<typeof COMMON_SETTINGS>;
  try {
    settings = loadSettings(options.settings, env);
    surroundings = loadSettings(COMMON_SETTINGS, env);
  } catch (error) {
    if (error instanceof SettingsError) {
      logger.fatal({ mistakes: error.mistakes }, "settings are not usable");
      process.exit(78);
    }
    throw error;
  }

  let service: RunningService | undefined;
  let listening = false;
  let stopping = false;
  let start = "starting";
  const management = await startManagement({
    address: parseListenAddress(env["MANAGEMENT_LISTEN"] ?? "127.0.0.1:0"),
    ready: async () => {
      if (!listening || stopping) {
        throw new Error(stopping ? "stopping" : start);
      }
      await service?.ready?.();
    },
  });
  const reportWaiting = (reason: string | undefined): void => {
    const next = reason === undefined ? "starting" : `starting: ${reason}`;
    if (next !== start) {
      start = next;
      logger.info(
        reason === undefined ? {} : { reason },
        reason === undefined ? "start continues" : "start is waiting",
      );
    }
  };
  reportFault = createFaultReporter(logger, management.metrics);
  if (surroundings.WAIT_FOR_PREDECESSOR) {
    const predecessor = awaitPredecessor();
    start = WAITS_FOR_PREDECESSOR;
    await predecessor;
    start = "starting";
  }
  service = await options.build({ settings, logger, metrics: management.metrics, reportWaiting });
  if (service.measuresRequests !== true) {
    measureRequests(service.servers, management.metrics);
  }
  for (const [port, server] of Object.entries(service.servers)) {
    if (surroundings.PROTECTED_HOSTS !== undefined || env["PROTECTED_HOSTS"] === "") {
      dropClientClaims(server, (surroundings.PROTECTED_HOSTS ?? "").split(",").filter(Boolean));
    }
    containRequestFaults(server, reportFault);
    lingerOnUnreadBodies(server);
    fitServer(server);
    const variable = port === "http" ? "LISTEN" : `LISTEN_${port.toUpperCase()}`;
    const address = await listen(server, parseListenAddress(env[variable] ?? "127.0.0.1:0"));
    logger.info({ port, address }, "listening");
  }
  listening = true;

  const stop = async (signal: string) => {
    if (stopping) {
      return;
    }
    stopping = true;
    logger.info({ signal }, "stopping");
    const servers = Object.values(service?.servers ?? {});
    if (surroundings.STOP_DELAY > 0) {
      servers.forEach(endKeepAlive);
      await sleep(surroundings.STOP_DELAY * 1000);
    }
    if (signal === "SIGTERM" && surroundings.DRAIN_TIMEOUT > 0) {
      servers.forEach(endKeepAlive);
      await Promise.all(servers.map((server) => untilDisconnected(server, surroundings.DRAIN_TIMEOUT * 1000)));
    }
    const deadline = setTimeout(
      () => {
        logger.warn("open requests did not finish in time");
        process.exit(0);
      },
      (options.graceSeconds ?? 20) * 1000,
    );
    deadline.unref();
    await Promise.all(servers.map(closeServer));
    await service?.close?.();
    await management.close();
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
}

/**
 * More than any ingress passes on. At a longer head Node.js answers 431 and breaks the connection while the body is still coming, which
 * a proxy in front sees as a service that failed: it is the proxy's place to refuse.
 */
const MAX_HEAD_BYTES = 64 << 10;

/**
 * Milliseconds that an idle connection is kept: longer than any that sends requests keeps it (ours 4 s, common proxies 60). Where the server
 * is the first to close it, a request that is on its way is lost, and its sender cannot know whether it was carried out.
 */
const IDLE_MS = 65_000;

function fitServer(server: Server): void {
  // Both are read for each connection.
  Object.assign(server, {
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: Math.max(server.keepAliveTimeout, IDLE_MS),
  });
}

/** Clients that keep connections open look for another one, which leads to somebody else. */
function endKeepAlive(server: Server): void {
  server.prependListener("request", (_request, response: ServerResponse) => {
    response.shouldKeepAlive = false;
  });
}

/**
 * Waits until clients have let go of their connections. A server that closes an idle one may do so while a request is on its way, and
 * its client cannot know whether it was carried out.
 */
async function untilDisconnected(server: Server, milliseconds: number): Promise<void> {
  const count = promisify(server.getConnections.bind(server));
  for (const deadline = performance.now() + milliseconds; performance.now() < deadline; await sleep(DRAIN_INTERVAL)) {
    if ((await count()) === 0) {
      return;
    }
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
