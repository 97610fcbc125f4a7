import type { FastifyInstance } from "fastify";

import type { HubContext } from "../context.ts";
import { requireScope } from "./caller.ts";

const PERIODS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" } as const;

interface Counts {
  readonly servers: number;
  readonly users: number;
  readonly active: Readonly<Record<string, number>>;
}

/** `health` and `metrics`, where JupyterHub has them: below `/hub` and `/hub/api`. Counts are for those with `read:metrics`. */
export function addMonitoringRoutes(app: FastifyInstance, { sql, callers }: HubContext): void {
  app.get("/health", (_request, reply) => reply.send());

  app.get("/metrics", async (request, reply) => {
    requireScope(await callers.require(request), "read:metrics", {});
    const active = Object.entries(PERIODS).map(
      ([name, interval]) => `'${name}', count(*) filter (where last_activity > now() - interval '${interval}')`,
    );
    const counts = await sql.first<Counts>(
      `select count(*)::int as users, json_build_object(${active.join(", ")}) as active,
         (select count(*)::int from servers where state = 'ready') as servers from users`,
    );
    return reply.type("text/plain; version=0.0.4; charset=utf-8").send(toText(counts as Counts));
  });
}

/** Prometheus' text format, with the names of JupyterHub's metrics. */
function toText({ servers, users, active }: Counts): string {
  const gauge = (name: string, help: string, samples: readonly string[]) => [
    `# HELP jupyterhub_${name} ${help}`,
    `# TYPE jupyterhub_${name} gauge`,
    ...samples.map((sample) => `jupyterhub_${name}${sample}`),
  ];
  return [
    ...gauge("running_servers", "the number of user servers currently running", [` ${servers}`]),
    ...gauge("total_users", "total number of users", [` ${users}`]),
    ...gauge(
      "active_users",
      "number of users who were active in the given time period",
      Object.entries(active).map(([period, count]) => `{period="${period}"} ${count}`),
    ),
    "",
  ].join("\n");
}
