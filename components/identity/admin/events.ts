import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { clearEvents, listAdminEvents, listEvents } from "../store/events.ts";
import { badRequest } from "./errors.ts";
import { type AdminRequest, forRoles, readPage } from "./request.ts";

/** The log of logins, and that of changes. */
export function addEventRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const listOf = (value: string | undefined) => (value === undefined ? undefined : value.split(","));

  app.get(
    "/admin/realms/:realm/events",
    forRoles(context, ["view-events"], async ({ handle, query }) => {
      const rows = await listEvents(pool, handle.realm.id, {
        types: listOf(query["type"]),
        user: query["user"],
        client: query["client"],
        ip: query["ipAddress"],
        ...readTimes(query),
        ...readPage(query),
      });
      return rows.map((row) => ({
        id: row.id,
        time: row.at.getTime(),
        type: row.type,
        realmId: handle.realm.id,
        clientId: row.client_id,
        userId: row.user_id,
        sessionId: row.session_id,
        ipAddress: row.ip,
        ...(row.error !== null && { error: row.error }),
        details: row.details,
      }));
    }),
  );
  app.get(
    "/admin/realms/:realm/admin-events",
    forRoles(context, ["view-events"], async ({ handle, query }) => {
      const rows = await listAdminEvents(pool, handle.realm.id, {
        operations: listOf(query["operationTypes"]),
        resourceTypes: listOf(query["resourceTypes"]),
        user: query["authUser"],
        ...readTimes(query),
        ...readPage(query),
      });
      return rows.map((row) => ({
        id: row.id,
        time: row.at.getTime(),
        realmId: handle.realm.id,
        operationType: row.operation,
        resourceType: row.resource_type,
        resourcePath: row.resource_path,
        authDetails: { userId: row.actor_id, username: row.actor_name, clientId: row.actor_client, ipAddress: row.ip },
      }));
    }),
  );
  for (const [path, kind] of [
    ["events", "event"],
    ["admin-events", "admin_event"],
  ] as const) {
    app.delete(
      `/admin/realms/:realm/${path}`,
      forRoles(context, ["manage-events"], async ({ handle, change, reply }) => {
        await change({ operation: "DELETE", resourceType: "EVENTS", resourcePath: path }, (db) =>
          clearEvents(db, handle.realm.id, kind),
        );
        return reply.code(204).send();
      }),
    );
  }
}

/** `dateFrom` and `dateTo`: dates, or milliseconds. @throws {AdminError} 400 */
function readTimes(query: AdminRequest["query"]): { readonly from?: Date; readonly to?: Date } {
  const read = (name: string) => {
    const text = query[name];
    if (text === undefined || text === "") {
      return undefined;
    }
    const date = new Date(/^\d{9,}$/.test(text) ? Number(text) : text);
    if (Number.isNaN(date.getTime())) {
      throw badRequest(`${name} is ${JSON.stringify(text)}; allowed: 2026-11-21, or milliseconds since 1970`);
    }
    return date;
  };
  const [from, to] = [read("dateFrom"), read("dateTo")];
  return { ...(from && { from }), ...(to && { to }) };
}
