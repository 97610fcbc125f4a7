import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";

import type { HubContext } from "../context.ts";
import { baseOf } from "../servers/base-path.ts";
import { listActive } from "../store/servers.ts";
import { requireScope } from "./caller.ts";
import { toTime } from "./models.ts";

/** The version of JupyterHub whose API this is: clients compare it with their own. */
export const JUPYTERHUB_VERSION = "5.3.0";

/** `/hub/api/`, `/info`, `/services…`, `/proxy`, `/shutdown` */
export function addHubRoutes(
  app: FastifyInstance,
  { sql, callers, originOf, serviceTokens, lifecycle }: HubContext,
): void {
  app.get("/", () => ({ version: JUPYTERHUB_VERSION }));

  app.get("/info", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "read:hub");
    return {
      version: JUPYTERHUB_VERSION,
      python: "",
      sys_executable: "",
      authenticator: { class: "swath.oidc", version: "1" },
      spawner: { class: "swath.profiles", version: "1" },
    };
  });

  app.get("/services", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "list:services");
    return Object.fromEntries(serviceTokens.map((name) => [name, toService(name)]));
  });

  app.get<{ Params: { name: string } }>(
    "/services/:name",
    { schema: { params: Type.Object({ name: Type.String({ maxLength: 255 }) }) } },
    async (request) => {
      const caller = await callers.require(request);
      requireScope(caller, "read:services", { service: request.params.name });
      if (!serviceTokens.includes(request.params.name)) {
        throw new Problem(404, `There is no service ${request.params.name}.`);
      }
      return toService(request.params.name);
    },
  );

  app.get("/proxy", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "proxy");
    const servers = (await listActive(sql)).filter(({ target }) => target !== null);
    return Object.fromEntries([
      ["/", { routespec: "/", target: "hub", data: { hub: true } }],
      ...servers.map((server) => {
        const spec = `${new URL(originOf(server.label)).host}${baseOf(server)}`;
        return [
          spec,
          {
            routespec: spec,
            target: "internal",
            data: { user: server.user_name, server_name: server.name, last_activity: toTime(server.last_activity) },
          },
        ];
      }),
    ]);
  });
  // The proxy reads the hub's tables: nothing is to be brought to it.
  app.post("/proxy", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "proxy");
    await sql.rows("select pg_notify('application_hub', 'servers')");
    return {};
  });
  app.patch("/proxy", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "proxy");
    throw new Problem(400, "The proxy belongs to the deployment; another one cannot be put in its place.");
  });

  app.post<{ Body: { servers?: unknown } | null }>("/shutdown", async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "shutdown");
    if (request.body?.servers === true) {
      for (const server of await listActive(sql)) {
        await lifecycle.stop(server, "An administrator stopped all servers.");
      }
    }
    return reply.code(202).send({
      message: "The deployment keeps the hub running; servers are stopped where servers: true asks for it.",
    });
  });
}

const toService = (name: string): object => ({
  name,
  admin: false,
  kind: "service",
  roles: [],
  url: "",
  prefix: "",
  pid: 0,
  command: [],
  info: {},
  display: false,
});
