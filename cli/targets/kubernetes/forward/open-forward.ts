import { Agent, type IncomingMessage, type ServerResponse, createServer, request as sendRequest } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { Plan } from "../../../platform/plan.ts";
import type { PlannedRoute } from "../../../platform/plan-routes.ts";
import type { Forward } from "../../target.ts";
import type { Connection } from "../api/connection.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { findReadyPod } from "../pods/find-ready-pod.ts";
import { connectToPod } from "./pod-connection.ts";

interface ForwardOptions {
  readonly connection: Connection;
  readonly plan: Plan;
  /** Port of this machine; 0 for a free one. */
  readonly port: number;
}

/** Milliseconds for which a request waits for a pod: pods are replaced and kubelets restart while people work. */
const TIMEOUT = 15_000;
const RETRY_INTERVAL = 500;

/** Fields that end at this hop, or in which only the ingress or the gatekeeper may speak. */
const DROPPED = /^(connection|keep-alive|transfer-encoding|upgrade|x[-_.]auth[-_.].*|x-forwarded-.*)$/i;

/**
 * Listens on loopback and passes each request, by its Host, on to a pod that answers there, through the API server: what an ingress
 * would do where there is none yet. Takes no upgrades.
 * @throws {KubernetesError} when the port is taken
 */
export async function openForward({ connection, plan, port }: ForwardOptions): Promise<Forward> {
  const agent = new PodAgent(connection, plan);
  const server = createServer((incoming, response) => {
    const name = (incoming.headers.host ?? "").toLowerCase().replace(/:\d+$/, "");
    const route = findRoute(plan.routes, name);
    if (route === undefined) {
      const hosts = plan.routes.map(({ host }) => host).join("\n");
      response
        .writeHead(404, { "content-type": "text/plain" })
        .end(`no service has the host "${name}"; there are:\n${hosts}\n`);
      return;
    }
    forward(incoming, response, { agent, host: name, route, plan });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new KubernetesError(
          `port ${port} of this machine cannot be used for forwarding (${cause.code}); set TEMP_FORWARDING_PORT to a free one`,
          { cause },
        ),
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        agent.destroy();
      }),
  };
}

interface Hop {
  readonly agent: PodAgent;
  readonly host: string;
  readonly route: PlannedRoute;
  readonly plan: Plan;
}

function forward(incoming: IncomingMessage, response: ServerResponse, { agent, host, route, plan }: Hop): void {
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !DROPPED.test(name)));
  const { scheme, publicPort } = plan.settings;
  const hasLength = incoming.headers["content-length"] !== undefined;
  const isChunked = incoming.headers["transfer-encoding"] !== undefined;
  const outgoing = sendRequest({
    agent,
    method: incoming.method,
    path: incoming.url,
    host: `${route.namespace}/${route.workload}/${route.port}`,
    setHost: false,
    headers: {
      ...headers,
      host,
      ...(isChunked && !hasLength && { "transfer-encoding": "chunked" }),
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": host,
      "x-forwarded-proto": scheme,
      "x-forwarded-port": String(publicPort),
    },
  });
  outgoing.on("response", (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.rawHeaders.length > 0 ? pairs(reply.rawHeaders) : []);
    reply.pipe(response);
    reply.on("error", () => response.destroy());
  });
  outgoing.on("error", (error) => {
    if (response.headersSent) {
      response.destroy();
    } else {
      response.writeHead(502, { "content-type": "text/plain" }).end(`${error.message}\n`);
    }
  });
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function pairs(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(name)) {
      kept.push(name, raw[i + 1] ?? "");
    }
  }
  return kept;
}

function findRoute(routes: readonly PlannedRoute[], name: string): PlannedRoute | undefined {
  return (
    routes.find(({ host }) => host === name) ??
    routes.find(
      ({ host, wildcard, perWorkspace }) =>
        (wildcard && name.endsWith(`.${host}`) && !name.slice(0, -host.length - 1).includes(".")) ||
        (perWorkspace === true && name.replace(/^([^.]+)\.[a-z0-9-]+\./, "$1.") === host),
    )
  );
}

/** Connections to pods, one for each request: a pod that is asked to stop is not asked for more. */
class PodAgent extends Agent {
  readonly #connection: Connection;
  readonly #plan: Plan;

  constructor(connection: Connection, plan: Plan) {
    super({ keepAlive: false });
    this.#connection = connection;
    this.#plan = plan;
  }

  override createConnection(
    { host }: { host?: string | null },
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    void this.#connect(host ?? "", callback);
  }

  async #connect(target: string, callback?: (error: Error | null, stream: Duplex) => void): Promise<void> {
    const deadline = Date.now() + TIMEOUT;
    for (;;) {
      try {
        callback?.(null, await this.#open(target));
        return;
      } catch (error) {
        // Nothing of the request has been sent yet.
        if (Date.now() > deadline) {
          callback?.(error as Error, undefined as never);
          return;
        }
        await sleep(RETRY_INTERVAL, undefined, { ref: false });
      }
    }
  }

  async #open(target: string): Promise<Duplex> {
    const [namespace = "", workload = "", portName = ""] = target.split("/");
    const port = this.#plan.workloads
      .find(({ name }) => name === workload)
      ?.ports?.find(({ name }) => name === portName)?.number;
    const pod = await findReadyPod(this.#connection, this.#plan.settings.clusterName, { name: workload, namespace });
    if (pod === undefined || port === undefined) {
      throw new Error(`no pod of ${workload} is ready`);
    }
    return connectToPod(this.#connection, { namespace, pod: pod.metadata.name, port });
  }
}
