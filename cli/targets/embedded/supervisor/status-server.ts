import { type Server, type ServerResponse, createServer } from "node:http";

import type { Logger } from "@swath/service/log";

import { readJsonFile } from "../state/json-file.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { logFile } from "./log-files.ts";
import { readLastLines } from "./log-tail.ts";
import { createMask } from "./mask.ts";
import type { Supervisor } from "./supervisor.ts";

interface StatusDeps {
  readonly supervisor: Supervisor;
  readonly paths: ClusterPaths;
  readonly logger: Logger;
}

const MAX_LINES = 5000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * What services of the deployment may know of the cluster, over a unix socket apart from the one that commands: nothing can be
 * changed here, and no secret is told.
 *
 *     GET /pods                     {pods: PodStatus[]}
 *     GET /pods/<name>/log?lines=   the last lines of a pod's log as text, values of secrets masked; 404 without such a pod
 */
export function createStatusServer({ supervisor, paths, logger }: StatusDeps): Server {
  return createServer((request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
      if (request.method !== "GET") {
        send(response, 405, "text/plain", "nothing can be changed here\n");
      } else if (pathname === "/pods") {
        const pods = supervisor.pods.map(({ pid: _pid, ...pod }) => pod);
        send(response, 200, "application/json", `${JSON.stringify({ pods })}\n`);
      } else {
        sendLog(/^\/pods\/([a-z0-9-]{1,100})\/log$/.exec(pathname)?.[1], Number(searchParams.get("lines") ?? "200"));
      }
    } catch (error) {
      logger.error({ err: error }, "a question about the cluster failed");
      send(response, 500, "text/plain", "failed; the supervisor's log says why\n");
    }

    function sendLog(pod: string | undefined, lines: number): void {
      // Only pods there are: a name must not become a path.
      if (pod === undefined || !supervisor.pods.some(({ name }) => name === pod)) {
        send(response, 404, "text/plain", "there is no such pod\n");
        return;
      }
      const count = Number.isInteger(lines) && lines > 0 ? Math.min(lines, MAX_LINES) : 200;
      const mask = createMask(secretsOf(supervisor, paths));
      const text = readLastLines(logFile(paths.logs, pod), count, MAX_BYTES).map((line) => `${line}\n`);
      send(response, 200, "text/plain; charset=utf-8", mask(text.join("")));
    }
  });
}

function secretsOf({ desired }: Supervisor, { secretsFile }: ClusterPaths): readonly string[] {
  const provided = Object.values(desired?.plan.settings.variables ?? {}).flatMap((value: unknown) =>
    typeof value === "object" && value !== null && "value" in value ? [String(value.value)] : [],
  );
  return [...provided, ...Object.values(readJsonFile<Record<string, string>>(secretsFile) ?? {})];
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response
    .writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body), "cache-control": "no-store" })
    .end(body);
}
