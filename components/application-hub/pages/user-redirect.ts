import type { FastifyInstance } from "fastify";

import type { HubContext } from "../context.ts";
import { baseOf, openingPath } from "../servers/base-path.ts";
import { type ServerRow, listServers } from "../store/servers.ts";
import { requireViewer, serverPath } from "./parts.ts";

/** Longer ones fit in no address. */
const MAX_LENGTH = 4000;

/**
 * `/hub/user-redirect/<path>`: the page of a path on the visitor's own server. Links of nbgitpuller and "open in" badges
 * are of this kind. A server that does not run is started first.
 */
export function addUserRedirect(app: FastifyInstance, context: HubContext): void {
  const { sql, originOf } = context;
  app.get("/hub/user-redirect/*", async (request, reply) => {
    const viewer = await requireViewer(context, request, reply);
    if (viewer === undefined) {
      return reply;
    }
    const user = viewer.user.name;
    const next = request.url.slice("/hub/user-redirect/".length);
    const running = (await listServers(sql, user)).filter(({ state }) => state === "ready" || state === "starting");
    const server = running.find(({ name }) => name === "") ?? running[0];
    switch (server?.state) {
      case "ready":
        return reply.redirect(`${originOf(server.label)}${pathOn(server, next)}`, 302);
      case "starting":
        return reply.redirect(withNext(serverPath("/hub/spawn-pending", user, server.name), next), 302);
      default:
        return reply.redirect(withNext("/hub/spawn", next), 302);
    }
  });
}

/** The path in `next` of a query or a form; nothing where there is none that fits. */
export function readNext(from: unknown): string {
  const next = (from as Readonly<Record<string, unknown>> | null | undefined)?.["next"];
  return typeof next === "string" && next.length <= MAX_LENGTH ? next : "";
}

export const withNext = (path: string, next: string): string =>
  next === "" ? path : `${path}?next=${encodeURIComponent(next)}`;

/** The path of a page on a server, below the server's own; the page that opens first where it would lead elsewhere. */
export function pathOn(server: ServerRow, next: string): string {
  const base = baseOf(server);
  const url = URL.parse(`.${next.startsWith("/") ? "" : "/"}${next}`, `http://server${base}`);
  return next !== "" && url?.host === "server" && url.pathname.startsWith(base)
    ? `${url.pathname}${url.search}${url.hash}`
    : openingPath(server);
}
