import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import type { Sql } from "../store/database.ts";
import { requireScope } from "./caller.ts";
import { pageQuery, readPage, sendPage } from "./pages.ts";
import { permits } from "./scopes.ts";

const Params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 255, pattern: "^[^/\\\\]+$" }) });
const Members = Type.Object({ users: Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 }) });
const NewGroup = Type.Union([
  Type.Null(),
  // Clients send the name of the path again.
  Type.Object(
    {
      name: Type.Optional(Type.String()),
      users: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 })),
    },
    { additionalProperties: false },
  ),
]);
const NewGroups = Type.Object({
  groups: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 }),
});
const Properties = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { maxProperties: 200 });
const PageQuery = Type.Object(pageQuery);
type Route = { Params: { name: string } };

interface GroupRow {
  readonly name: string;
  readonly properties: object;
  readonly users: readonly string[];
}

const SELECT = `select name, properties, array(select user_name from group_members where group_name = groups.name order by 1) as users from groups`;

/** `/hub/api/groups…`: groups that the hub keeps beside those of the identity service. */
export function addGroupRoutes(app: FastifyInstance, { sql, callers }: HubContext): void {
  const toModel = ({ name, users, properties }: GroupRow) => ({ kind: "group", name, users, properties, roles: [] });
  const require = async (name: string): Promise<GroupRow> => {
    const group = await sql.first<GroupRow>(`${SELECT} where name = $1`, [name]);
    if (group === undefined) {
      throw new Problem(404, `There is no group ${name}.`);
    }
    return group;
  };

  app.get<{ Querystring: Static<typeof PageQuery> }>(
    "/groups",
    { schema: { querystring: PageQuery } },
    async (request, reply) => {
      const caller = await callers.require(request);
      requireScope(caller, "list:groups");
      const page = readPage(request);
      const groups = await sql.rows<GroupRow>(`${SELECT} order by name offset $1 limit $2`, [page.offset, page.limit]);
      const [{ total } = { total: 0 }] = await sql.rows<{ total: number }>("select count(*)::int as total from groups");
      const items = groups
        .filter(({ name }) => permits(caller.scopes, "read:groups:name", { group: name }))
        .map(toModel);
      return sendPage(request, reply, { items, total, page });
    },
  );

  app.post<{ Body: Static<typeof NewGroups> }>("/groups", { schema: { body: NewGroups } }, async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "admin:groups");
    const made = await sql.rows<{ name: string }>(
      "insert into groups (name) select unnest($1::text[]) on conflict do nothing returning name",
      [request.body.groups],
    );
    if (made.length === 0) {
      throw new Problem(409, "All of these groups exist already.");
    }
    return reply.code(201).send(await Promise.all(made.map(async ({ name }) => toModel(await require(name)))));
  });

  app.get<Route>("/groups/:name", { schema: { params: Params } }, async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "read:groups", { group: request.params.name });
    return toModel(await require(request.params.name));
  });

  app.post<Route & { Body: Static<typeof NewGroup> }>(
    "/groups/:name",
    { schema: { params: Params, body: NewGroup } },
    async (request, reply) => {
      const caller = await callers.require(request);
      requireScope(caller, "admin:groups");
      const { name } = request.params;
      const [made] = await sql.rows("insert into groups (name) values ($1) on conflict do nothing returning name", [
        name,
      ]);
      if (made === undefined) {
        throw new Problem(409, `Group ${name} exists already.`);
      }
      await addMembers(sql, name, request.body?.users ?? []);
      return reply.code(201).send(toModel(await require(name)));
    },
  );

  app.delete<Route>("/groups/:name", { schema: { params: Params } }, async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "delete:groups", { group: request.params.name });
    await require(request.params.name);
    await sql.rows("delete from groups where name = $1", [request.params.name]);
    return reply.code(204).send();
  });

  app.put<Route & { Body: object }>(
    "/groups/:name/properties",
    { schema: { params: Params, body: Properties } },
    async (request) => {
      const caller = await callers.require(request);
      requireScope(caller, "groups", { group: request.params.name });
      await require(request.params.name);
      await sql.rows("update groups set properties = $2 where name = $1", [
        request.params.name,
        JSON.stringify(request.body),
      ]);
      return toModel(await require(request.params.name));
    },
  );

  app.post<Route & { Body: Static<typeof Members> }>(
    "/groups/:name/users",
    { schema: { params: Params, body: Members } },
    async (request) => {
      const caller = await callers.require(request);
      requireScope(caller, "groups", { group: request.params.name });
      await require(request.params.name);
      await addMembers(sql, request.params.name, request.body.users);
      return toModel(await require(request.params.name));
    },
  );

  app.delete<Route & { Body: Static<typeof Members> }>(
    "/groups/:name/users",
    { schema: { params: Params, body: Members } },
    async (request) => {
      const caller = await callers.require(request);
      requireScope(caller, "groups", { group: request.params.name });
      await require(request.params.name);
      await sql.rows("delete from group_members where group_name = $1 and user_name = any($2)", [
        request.params.name,
        request.body.users,
      ]);
      return toModel(await require(request.params.name));
    },
  );
}

/** @throws {Problem} 400 for users that are not there */
async function addMembers(sql: Sql, group: string, users: readonly string[]): Promise<void> {
  const known = await sql.rows<{ name: string }>("select name from users where name = any($1)", [users]);
  const unknown = users.filter((user) => !known.some(({ name }) => name === user));
  if (unknown.length > 0) {
    throw new Problem(400, `There is no user ${unknown.join(", ")}.`);
  }
  await sql.rows("insert into group_members select $1, unnest($2::text[]) on conflict do nothing", [group, users]);
}
