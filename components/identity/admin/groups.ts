import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import { isUuid } from "../store/database.ts";
import {
  type Group,
  addMember,
  deleteGroup,
  findGroup,
  insertGroup,
  listGroups,
  listGroupsOfUser,
  listMembers,
  removeMember,
  renameGroup,
  replaceGroupAttributes,
} from "../store/groups.ts";
import { publishUserChange, findUser } from "../store/users.ts";
import { badRequest, notFound } from "./errors.ts";
import { type AdminRequest, forRoles, readObject, readPage, readText } from "./request.ts";
import { readAttributes, toUserRepresentation } from "./user-records.ts";
import { openUser } from "./users.ts";

/** @throws {AdminError} 404 */
export async function openGroup({ context, handle, params }: AdminRequest): Promise<Group> {
  const id = params["group"] ?? "";
  const group = isUuid(id) ? await findGroup(context.pool, handle.realm.id, id) : undefined;
  if (group === undefined) {
    throw notFound("Group");
  }
  return group;
}

/** `/admin/realms/{realm}/groups`, and who is in them. */
export function addGroupRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/admin/realms/:realm/groups";
  const readGroup = (body: unknown, fallback?: Group) => {
    const source = readObject(body);
    const name = readText(source, "name") ?? fallback?.name;
    if (name === undefined || name.trim() === "" || name.includes("/")) {
      throw badRequest("name must be a text without slashes");
    }
    return { name, attributes: readAttributes(source["attributes"]) ?? fallback?.attributes ?? {} };
  };
  const create = async (request: AdminRequest, parent: Group | undefined) => {
    const { handle, change, reply } = request;
    const { name, attributes } = readGroup(request.body);
    const id = await change(
      { operation: "CREATE", resourceType: "GROUP", resourcePath: `groups/${name}` },
      async (db) => {
        const made = await insertGroup(db, handle.realm.id, { name, parent });
        await replaceGroupAttributes(db, made, attributes);
        return made;
      },
    );
    return reply
      .code(201)
      .header("location", `${context.publicUrl}/admin/realms/${handle.realm.name}/groups/${id}`)
      .send();
  };

  app.get(
    base,
    forRoles(context, ["view-users", "query-groups"], async ({ handle, query }) => {
      const { first, max } = readPage(query, -1);
      const shown = toGroupTree(await listGroups(pool, handle.realm.id), null, query["search"]);
      return shown.slice(first, first + max);
    }),
  );
  app.get(
    `${base}/count`,
    forRoles(context, ["view-users", "query-groups"], async ({ handle, query }) => {
      const { search } = query;
      const groups = await listGroups(
        pool,
        handle.realm.id,
        query["top"] === "true" ? { parent: null, search } : { search },
      );
      return { count: groups.length };
    }),
  );
  app.post(
    base,
    forRoles(context, ["manage-users"], (request) => create(request, undefined)),
  );
  app.get(
    `${base}/:group`,
    forRoles(context, ["view-users"], async (request) => {
      const group = await openGroup(request);
      return {
        ...toGroupRepresentation(group),
        subGroups: toGroupTree(await listGroups(pool, request.handle.realm.id), group.id),
      };
    }),
  );
  app.get(
    `${base}/:group/children`,
    forRoles(context, ["view-users"], async (request) => {
      const { id } = await openGroup(request);
      const { search } = request.query;
      const { first, max } = readPage(request.query, -1);
      const children = await listGroups(pool, request.handle.realm.id, { parent: id, search });
      return children.slice(first, first + max).map(toGroupRepresentation);
    }),
  );
  app.post(
    `${base}/:group/children`,
    forRoles(context, ["manage-users"], async (request) => create(request, await openGroup(request))),
  );
  app.put(
    `${base}/:group`,
    forRoles(context, ["manage-users"], async (request) => {
      const group = await openGroup(request);
      const { name, attributes } = readGroup(request.body, group);
      await request.change(
        { operation: "UPDATE", resourceType: "GROUP", resourcePath: `groups/${group.id}` },
        async (db) => {
          await renameGroup(db, group, name);
          await replaceGroupAttributes(db, group.id, attributes);
          await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
        },
      );
      return request.reply.code(204).send();
    }),
  );
  app.delete(
    `${base}/:group`,
    forRoles(context, ["manage-users"], async (request) => {
      const group = await openGroup(request);
      await request.change(
        { operation: "DELETE", resourceType: "GROUP", resourcePath: `groups/${group.id}` },
        async (db) => {
          await deleteGroup(db, group.id);
          await publishChange(db, { kind: "policy", realm: request.handle.realm.name });
        },
      );
      return request.reply.code(204).send();
    }),
  );
  app.get(
    `${base}/:group/members`,
    forRoles(context, ["view-users"], async (request) => {
      const ids = await listMembers(pool, (await openGroup(request)).id, readPage(request.query));
      const users = await Promise.all(ids.map((id) => findUser(pool, request.handle.realm.id, id)));
      return users.flatMap((user) => (user === undefined ? [] : [toUserRepresentation(user)]));
    }),
  );

  const ofUser = "/admin/realms/:realm/users/:user/groups";
  app.get(
    `${ofUser}/count`,
    forRoles(context, ["view-users"], async (request) => ({
      count: (await listGroupsOfUser(pool, (await openUser(request)).id)).length,
    })),
  );
  app.get(
    ofUser,
    forRoles(context, ["view-users"], async (request) =>
      (await listGroupsOfUser(pool, (await openUser(request)).id)).map(toGroupRepresentation),
    ),
  );
  for (const [method, apply] of [
    ["PUT", addMember],
    ["DELETE", removeMember],
  ] as const) {
    app.route({
      method,
      url: `${ofUser}/:group`,
      handler: forRoles(context, ["manage-users"], async (request) => {
        const user = await openUser(request);
        const group = await openGroup(request);
        await request.change(
          {
            operation: method === "PUT" ? "CREATE" : "DELETE",
            resourceType: "GROUP_MEMBERSHIP",
            resourcePath: `users/${user.id}/groups/${group.id}`,
          },
          async (db) => {
            await apply(db, user.id, group.id);
            await publishUserChange(db, request.handle.realm.name, user.id);
          },
        );
        return request.reply.code(204).send();
      }),
    });
  }
}

export function toGroupRepresentation({ id, name, path, parent, attributes }: Group) {
  return { id, name, path, ...(parent !== undefined && { parentId: parent }), attributes };
}

/** Groups below `parent` with those below them; with `search` only branches that have it somewhere. */
export function toGroupTree(
  groups: readonly Group[],
  parent: string | null = null,
  search?: string,
): readonly object[] {
  return groups
    .filter((group) => (group.parent ?? null) === parent)
    .flatMap((group) => {
      const subGroups = toGroupTree(groups, group.id, search);
      const fits = search === undefined || group.name.toLowerCase().includes(search.toLowerCase());
      return fits || subGroups.length > 0 ? [{ ...toGroupRepresentation(group), subGroups }] : [];
    });
}
