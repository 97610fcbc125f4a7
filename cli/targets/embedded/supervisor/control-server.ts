import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import type { Logger } from "@swath/service/log";
import { createSecretCheck, readBearer } from "@swath/service/secret-check";

import type { PodStatus } from "../../pod-status.ts";
import { readJsonBody } from "./json-body.ts";
import { DesiredStateError } from "./plan-variables.ts";
import type { Supervisor } from "./supervisor.ts";

/** What `GET /status` and every line of `GET /events` say. */
export interface SupervisorStatus {
  readonly pid: number;
  /** Code that the supervisor itself runs; the tool replaces one of another version. */
  readonly codeVersion: string;
  readonly deployed: boolean;
  readonly stopped: boolean;
  readonly pods: readonly PodStatus[];
}

interface ControlDeps {
  readonly supervisor: Supervisor;
  readonly logger: Logger;
  readonly codeVersion: string;
  /** What a caller has to show. */
  readonly key: string;
  /** Ends the supervisor; the pods have been dealt with. */
  readonly exit: () => void;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/**
 * What the command-line tool says to the supervisor, over a unix socket of mode 0600 in a folder of the operator's: the kernel lets
 * no other user connect, which is what SO_PEERCRED would tell and Node.js has no call for. A service of the operator's that a
 * stranger talks into connecting has the right user, so each request has to show the key as well
 * (`Authorization: Bearer <key>`, else 401), which stands in a file that no service reads.
 *
 *     GET  /status           SupervisorStatus
 *     GET  /events           SupervisorStatus after every change, a JSON line each, until the client leaves
 *     PUT  /desired          DesiredState → 204; 422 when it is none of the schema
 *     POST /restart {name}   → {pods}; 404 when there is none of that name
 *     POST /stop             stops every pod → 204 when all are gone; the supervisor ends
 *     POST /hand-over        leaves every pod running → 204; the supervisor ends
 */
export function createControlServer({ supervisor, logger, codeVersion, key, exit }: ControlDeps): Server {
  const isKey = createSecretCheck(key);
  const status = (): SupervisorStatus => ({
    pid: process.pid,
    codeVersion,
    deployed: supervisor.desired !== undefined,
    stopped: supervisor.desired?.stopped ?? false,
    pods: supervisor.pods,
  });
  const handlers: Record<string, Handler> = {
    "GET /status": (_request, response) => sendJson(response, 200, status()),
    "GET /events": (_request, response) => streamStatus(supervisor, response, status),
    "PUT /desired": async (request, response) => {
      // The schema is loaded when a plan comes: a supervisor that only watches needs none of it.
      const { parseDesiredState } = await import("./desired-schema.ts");
      await supervisor.apply(parseDesiredState(await readJsonBody(request)));
      response.writeHead(204).end();
    },
    "POST /restart": async (request, response) => {
      const { name } = (await readJsonBody(request)) as { name?: unknown };
      const pods = typeof name === "string" ? supervisor.restart(name) : [];
      sendJson(response, pods.length > 0 ? 200 : 404, { pods });
    },
    "POST /stop": async (_request, response) => {
      await supervisor.stopAll();
      sendLast(response, exit);
    },
    "POST /hand-over": (_request, response) => {
      supervisor.release();
      sendLast(response, exit);
    },
  };
  return createServer((request, response) => {
    if (!isKey(readBearer(request.headers.authorization))) {
      logger.warn({ method: request.method, url: request.url }, "refused a command without the key");
      sendJson(response, 401, { error: "show the key of this supervisor" });
      return;
    }
    const handler = handlers[`${request.method} ${request.url}`];
    if (handler === undefined) {
      sendJson(response, 404, { error: `no ${request.method} ${request.url} here` });
      return;
    }
    Promise.resolve()
      .then(() => handler(request, response))
      .catch((error: unknown) => {
        logger.error({ err: error }, "a command failed");
        sendJson(response, error instanceof DesiredStateError ? 422 : 500, {
          error: error instanceof Error ? error.message : String(error),
        });
      });
  });
}

function streamStatus(supervisor: Supervisor, response: ServerResponse, status: () => SupervisorStatus): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  let last = "";
  const send = () => {
    const line = JSON.stringify(status());
    if (line !== last) {
      last = line;
      response.write(`${line}\n`);
    }
  };
  supervisor.on("change", send);
  response.on("close", () => supervisor.off("change", send));
  send();
}

/** Answers, and ends the supervisor when the answer has left. */
function sendLast(response: ServerResponse, exit: () => void): void {
  response.on("close", exit);
  response.writeHead(204, { connection: "close" }).end();
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
}
