import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { countSessions, endAllSessions } from "../store/sessions.ts";
import { openClient } from "./clients.ts";
import { notFound } from "./errors.ts";
import { forRoles } from "./request.ts";
import { toSessionRepresentation } from "./sessions.ts";
import { listSessions } from "../store/sessions.ts";
import { openUser } from "./users.ts";
import { readPage } from "./request.ts";

/** Counts of sessions, sessions of a user with a client, and the end of all. */
export function addSessionCountRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const realm = "/admin/realms/:realm";
  app.get(
    `${realm}/client-session-stats`,
    forRoles(context, ["view-realm"], async ({ handle }) =>
      (await countSessions(pool, handle.realm.id)).map(({ id, clientId, active, offline }) => ({
        id,
        clientId,
        active: String(active),
        offline: String(offline),
      })),
    ),
  );
  for (const [path, kind] of [
    ["session-count", "active"],
    ["offline-session-count", "offline"],
  ] as const) {
    app.get(
      `${realm}/clients/:client/${path}`,
      forRoles(context, ["view-clients"], async (request) => {
        const client = await openClient(request);
        const counts = await countSessions(pool, request.handle.realm.id);
        return { count: counts.find(({ id }) => id === client.id)?.[kind] ?? 0 };
      }),
    );
  }
  app.get(
    `${realm}/users/:user/offline-sessions/:client`,
    forRoles(context, ["view-users"], async (request) => {
      const user = await openUser(request);
      const client = await openClient(request);
      const filter = { userId: user.id, client: client.id, offline: true, ...readPage(request.query) };
      return (await listSessions(pool, request.handle.realm.id, filter)).map(toSessionRepresentation);
    }),
  );
  app.post(
    `${realm}/logout-all`,
    forRoles(context, ["manage-users"], async ({ handle, change }) => {
      const ended = await change({ operation: "ACTION", resourceType: "REALM", resourcePath: "logout-all" }, (db) =>
        endAllSessions(db, handle.realm),
      );
      return { successRequests: ended, failedRequests: [] };
    }),
  );
  // Services hear of changes by the event stream: nothing is pushed to clients.
  for (const path of [`${realm}/push-revocation`, `${realm}/clients/:client/push-revocation`]) {
    app.post(
      path,
      forRoles(context, ["manage-realm", "manage-clients"], () => ({})),
    );
  }
  app.get(
    `${realm}/clients/:client/test-nodes-available`,
    forRoles(context, ["view-clients"], async (request) => {
      await openClient(request);
      return {};
    }),
  );
  app.get(
    `${realm}/clients/:client/installation/providers/:provider`,
    forRoles(context, ["view-clients"], async (request) => {
      const { clientId, secret, settings } = await openClient(request);
      if (request.params["provider"] !== "keycloak-oidc-keycloak-json") {
        throw notFound("Installation provider");
      }
      return {
        realm: request.handle.realm.name,
        "auth-server-url": `${context.publicUrl}/`,
        "ssl-required": "external",
        resource: clientId,
        ...(settings.publicClient ? { "public-client": true } : { credentials: { secret } }),
        "confidential-port": 0,
      };
    }),
  );
}
