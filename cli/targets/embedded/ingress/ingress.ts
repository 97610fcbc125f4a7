import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

import type { Logger } from "@swath/service";
import type { Registry } from "prom-client";

import { AccessLog } from "./access-log.ts";
import { ClientConnection, type ClientSocket, type Entrance, addressOf, isLoopback } from "./client-connection.ts";
import type { IngressConfig, Listener } from "./config.ts";
import type { IngressContext } from "./context.ts";
import { Http2Front } from "./http2-front.ts";
import { LIMITS, type Limits } from "./limits.ts";
import {
  type CertificateStore,
  type OpenListener,
  keyOfListener,
  lacksIpv6,
  loadCertificates,
  openListener,
} from "./listeners.ts";
import { IngressMetrics } from "./metrics.ts";
import { createRouteTable } from "./route-table.ts";
import { createBufferFreer } from "./free-buffers.ts";
import { createTrustedProxies } from "./trusted-proxies.ts";
import { UpstreamPool } from "./upstream-pool.ts";

interface IngressOptions {
  readonly logger: Logger;
  readonly registry: Registry;
  /** File descriptor of the access log. */
  readonly accessLogFd: number;
  readonly limits?: Partial<Limits>;
  /** Whether the addresses may be shared with an ingress that is being relieved. */
  readonly takeover: boolean;
}

export interface Ingress {
  /**
   * Puts a configuration into effect. Open requests go on; routes change for the next ones.
   * @throws {Error} when a certificate cannot be loaded (nothing has changed then) or an address cannot be had
   */
  readonly apply: (config: IngressConfig) => Promise<void>;
  readonly listening: () => readonly { readonly key: string; readonly port: number }[];
  /** Stops accepting, finishes open requests, and after `graceMilliseconds` closes what is left. */
  readonly drain: (graceMilliseconds: number) => Promise<void>;
}

/** Memory that passing bodies may hold before it is freed. */
const FREE_EVERY_BYTES = 16 * 2 ** 20;

/** Builds an ingress that has no configuration yet. */
export function createIngress({ logger, registry, accessLogFd, limits, takeover }: IngressOptions): Ingress {
  const metrics = new IngressMetrics();
  const accessLog = new AccessLog(accessLogFd);
  const freeBuffers = createBufferFreer(FREE_EVERY_BYTES);
  const context: IngressContext = {
    routes: createRouteTable([]),
    redirectPort: undefined,
    challengeFolder: undefined,
    trustedProxies: createTrustedProxies([]),
    draining: false,
    held: 0,
    limits: { ...LIMITS, ...limits },
    pool: new UpstreamPool(freeBuffers),
    freeBuffers,
    accessLog,
    metrics,
    onFault: (error) => {
      metrics.faults++;
      logger.error({ err: error }, "nothing caught this error of a request");
    },
  };
  metrics.register(
    registry,
    () => accessLog.dropped,
    () => context.held,
  );
  const connections = new Set<ClientConnection>();
  const perAddress = new Map<string, number>();
  const open = new Map<string, OpenListener>();
  let offersHttp2 = false;
  let certificates: CertificateStore = loadCertificates([]);

  const countConnections = () => {
    metrics.connections = connections.size + http2.size;
  };
  /** Whether one more connection may be open; it is counted until it closes. */
  const admit = (socket: Socket): boolean => {
    const address = addressOf(socket);
    const count = perAddress.get(address) ?? 0;
    if (
      connections.size + http2.size >= context.limits.connections ||
      (!isLoopback(address) && count >= context.limits.connectionsPerAddress)
    ) {
      metrics.refusedConnections++;
      // A client that resets the connection now is no error of ours.
      socket.on("error", () => {}).destroy();
      return false;
    }
    perAddress.set(address, count + 1);
    socket.once("close", () => {
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left === 0) {
        perAddress.delete(address);
      } else {
        perAddress.set(address, left);
      }
      countConnections();
    });
    return true;
  };
  const serve = (socket: ClientSocket, entrance: Entrance) => {
    const connection = new ClientConnection(socket, context, entrance);
    connections.add(connection);
    countConnections();
    socket.once("close", () => {
      connections.delete(connection);
      countConnections();
    });
  };
  const http2 = new Http2Front({
    limits: context.limits,
    accept: (socket, entrance) => {
      if (connections.size + http2.size >= context.limits.connections) {
        metrics.refusedConnections++;
        return false;
      }
      serve(socket, entrance);
      return true;
    },
  });
  const accept = (socket: Socket, entrance: Entrance) => {
    if (admit(socket)) {
      serve(socket, entrance);
    }
  };
  const acceptHttp2 = (socket: TLSSocket, entrance: Entrance) => {
    if (admit(socket)) {
      http2.open(socket, entrance);
      countConnections();
    }
  };

  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of connections) {
      connection.checkTimeouts(now);
    }
    http2.checkTimeouts(now);
    context.pool.sweep();
  }, 1000);

  const openMissing = async (listeners: readonly Listener[]) => {
    const failures: Error[] = [];
    for (const listener of listeners) {
      const key = keyOfListener(listener);
      if (!open.has(key)) {
        try {
          open.set(
            key,
            await openListener(listener, {
              certificates: () => certificates,
              accept,
              acceptHttp2,
              http2: offersHttp2,
              takeover,
            }),
          );
        } catch (error) {
          if (lacksIpv6(listener, error) && listeners.some(({ address }) => !address.includes(":"))) {
            logger.warn(
              { address: listener.address, port: listener.port },
              "this machine has no IPv6; going on without",
            );
            continue;
          }
          failures.push(error as Error);
        }
      }
    }
    if (failures.length > 0) {
      throw new Error(failures.map(({ message }) => message).join("; "), { cause: failures[0] });
    }
  };

  return {
    apply: async (config) => {
      certificates = loadCertificates(config.tls.certificates, config.tls.workspaces);
      for (const listener of open.values()) {
        listener.refresh();
      }
      context.routes = createRouteTable(config.routes);
      offersHttp2 = config.http2 === true;
      context.challengeFolder = config.challengeFolder;
      context.trustedProxies = createTrustedProxies(config.trustedProxies ?? []);
      if (context.draining) {
        return;
      }
      const desired = new Set(config.listeners.map(keyOfListener));
      for (const [key, listener] of open) {
        if (!desired.has(key)) {
          listener.close();
          open.delete(key);
        }
      }
      try {
        await openMissing(config.listeners);
      } finally {
        const https = config.listeners.find(({ tls }) => tls);
        const port = https && (https.publicPort ?? open.get(keyOfListener(https))?.port);
        context.redirectPort = config.sslRedirect ? port : undefined;
      }
      logger.info({ routes: config.routes.length, listeners: [...open.keys()] }, "configuration in effect");
    },
    listening: () => [...open.values()],
    drain: async (graceMilliseconds) => {
      context.draining = true;
      for (const listener of open.values()) {
        listener.close();
      }
      http2.drain();
      const deadline = performance.now() + graceMilliseconds;
      while (connections.size + http2.size > 0 && performance.now() < deadline) {
        for (const connection of connections) {
          if (connection.idle) {
            connection.end();
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      clearInterval(timer);
      for (const connection of connections) {
        connection.destroy();
      }
      http2.destroy();
      context.pool.close();
      await accessLog.close();
    },
  };
}
