import { type IncomingMessage, request } from "node:http";

import { readControlKey } from "./state/control-key.ts";
import type { ClusterPaths } from "./state/paths.ts";
import type { SupervisorStatus } from "./supervisor/control-server.ts";
import { readJsonBody } from "./supervisor/json-body.ts";
import type { DesiredState } from "./supervisor/supervisor.ts";

/** The supervisor of this cluster does not run. */
export class NotRunningError extends Error {
  override readonly name = "NotRunningError";
}

/** Speaks to a cluster's supervisor; see `createControlServer` for what each call does. */
export interface ControlClient {
  readonly status: () => Promise<SupervisorStatus>;
  readonly events: (signal: AbortSignal) => AsyncGenerator<SupervisorStatus>;
  readonly apply: (desired: DesiredState) => Promise<void>;
  readonly restart: (name: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
  readonly handOver: () => Promise<void>;
}

export function createControlClient(paths: ClusterPaths): ControlClient {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await send(paths, { method, path, body });
    if (response.statusCode === 204) {
      response.resume();
      return undefined;
    }
    const reply = (await readJsonBody(response)) as { error?: string };
    // 404 says that there is no such pod.
    if ((response.statusCode ?? 500) >= 400 && response.statusCode !== 404) {
      throw new Error(reply.error ?? `the supervisor answered ${response.statusCode}`);
    }
    return reply;
  };
  return {
    status: () => call("GET", "/status") as Promise<SupervisorStatus>,
    events: async function* events(signal) {
      const response = await send(paths, { method: "GET", path: "/events", signal });
      try {
        let rest = "";
        for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
          const lines = `${rest}${chunk}`.split("\n");
          rest = lines.pop() ?? "";
          yield* lines.map((line) => JSON.parse(line) as SupervisorStatus);
        }
      } catch (error) {
        if (!signal.aborted) {
          throw error;
        }
      }
    },
    apply: async (desired) => {
      await call("PUT", "/desired", desired);
    },
    restart: async (name) => ((await call("POST", "/restart", { name })) as { pods: readonly string[] }).pods,
    stop: async () => {
      await call("POST", "/stop");
    },
    handOver: async () => {
      await call("POST", "/hand-over");
    },
  };
}

interface SendOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks again where a supervisor that was starting wrote its key after this one was read. */
async function send(paths: ClusterPaths, options: SendOptions): Promise<IncomingMessage> {
  const key = readControlKey(paths);
  const response = await sendWithKey(paths, key, options);
  const newKey = response.statusCode === 401 ? readControlKey(paths) : key;
  if (newKey === key) {
    return response;
  }
  response.resume();
  return sendWithKey(paths, newKey, options);
}

function sendWithKey(
  paths: ClusterPaths,
  key: string | undefined,
  { method, path, body, signal }: SendOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      socketPath: paths.controlSocket,
      method,
      path,
      agent: false,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      ...(signal && { signal }),
    };
    const outgoing = request(options, resolve);
    outgoing.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        // The last two: it ended while it was asked.
        ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"].includes(error.code ?? "")
          ? new NotRunningError("the cluster's supervisor is not running", { cause: error })
          : error,
      ),
    );
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
