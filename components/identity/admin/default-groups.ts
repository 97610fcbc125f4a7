import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { findGroupByPath, listDefaultGroups, setDefaultGroup } from "../store/groups.ts";
import { notFound } from "./errors.ts";
import { openGroup, toGroupRepresentation } from "./groups.ts";
import { forRoles } from "./request.ts";

/** Groups that new users are put into, and groups by their path. */
export function addDefaultGroupRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const realm = "/admin/realms/:realm";
  app.get(
    `${realm}/default-groups`,
    forRoles(context, ["view-realm"], async ({ handle }) =>
      (await listDefaultGroups(pool, handle.realm.id)).map(toGroupRepresentation),
    ),
  );
  for (const method of ["PUT", "DELETE"] as const) {
    app.route({
      method,
      url: `${realm}/default-groups/:group`,
      handler: forRoles(context, ["manage-realm"], async (request) => {
        const group = await openGroup(request);
        await request.change(
          { operation: "UPDATE", resourceType: "GROUP", resourcePath: `default-groups/${group.id}` },
          (db) => setDefaultGroup(db, group.id, method === "PUT"),
        );
        return request.reply.code(204).send();
      }),
    });
  }
  app.get(
    `${realm}/group-by-path/*`,
    forRoles(context, ["view-users", "query-groups"], async ({ handle, params }) => {
      const group = await findGroupByPath(pool, handle.realm.id, `/${(params["*"] ?? "").replace(/^\/|\/$/g, "")}`);
      if (group === undefined) {
        throw notFound("Group path");
      }
      return toGroupRepresentation(group);
    }),
  );
}
