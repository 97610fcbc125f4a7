import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { type SessionView, listSessions } from "../store/sessions.ts";
import { openClient } from "./clients.ts";
import { forRoles, readPage } from "./request.ts";

export function toSessionRepresentation(session: SessionView): Record<string, unknown> {
  return {
    id: session.id,
    userId: session.userId,
    username: session.username,
    ipAddress: session.ip ?? null,
    userAgent: session.userAgent ?? null,
    start: session.startedAt.getTime(),
    lastAccess: session.lastAccess.getTime(),
    offline: session.offline,
    clients: session.clients,
  };
}

/** Who is logged in: of the realm, and of a client. */
export function addSessionRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  app.get(
    "/admin/realms/:realm/sessions",
    forRoles(context, ["view-users"], async ({ handle, query }) =>
      (await listSessions(pool, handle.realm.id, readPage(query))).map(toSessionRepresentation),
    ),
  );
  for (const [path, offline] of [
    ["user-sessions", false],
    ["offline-sessions", true],
  ] as const) {
    app.get(
      `/admin/realms/:realm/clients/:client/${path}`,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await openClient(request);
        const filter = { client: client.id, offline, ...readPage(request.query) };
        return (await listSessions(pool, request.handle.realm.id, filter)).map(toSessionRepresentation);
      }),
    );
  }
}
