import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import { listServers, listServersOf } from "../store/servers.ts";
import { USER_ORDERS, checkUserName, findUser, listUsers, requireUser } from "../store/users.ts";
import { requireScope } from "./caller.ts";
import { toUserModel } from "./models.ts";
import { pageQuery, readPage, sendPage } from "./pages.ts";
import { permits } from "./scopes.ts";

const NameParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 255 }) });
type Named = { Params: Static<typeof NameParams> };
const UsersQuery = Type.Object({
  ...pageQuery,
  state: Type.Optional(Type.Enum(["active", "inactive", "ready"])),
  sort: Type.Optional(Type.Enum([...USER_ORDERS])),
  name_filter: Type.Optional(Type.String({ maxLength: 255 })),
  include_stopped_servers: Type.Optional(Type.String({ maxLength: 10 })),
});
const NewUsers = Type.Object(
  { usernames: Type.Array(Type.String(), { maxItems: 1000 }), admin: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);
const ChangedUser = Type.Object(
  { name: Type.Optional(Type.String()), admin: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);
const Activity = Type.Object({
  last_activity: Type.Optional(Type.String({ maxLength: 60 })),
  servers: Type.Optional(
    Type.Record(Type.String({ maxLength: 60 }), Type.Object({ last_activity: Type.String({ maxLength: 60 }) })),
  ),
});

/** `/hub/api/user`, `/hub/api/users…` */
export function addUserRoutes(app: FastifyInstance, { sql, callers, originOf, lifecycle }: HubContext): void {
  app.get("/user", async (request) => {
    const caller = await callers.require(request);
    if (caller.user === undefined) {
      return { kind: "service", name: caller.service, scopes: caller.scopes, admin: true, roles: [] };
    }
    const servers = await listServers(sql, caller.user.name);
    const model = toUserModel(caller.user, servers, caller.scopes, originOf) ?? {
      kind: "user",
      name: caller.user.name,
    };
    return {
      ...model,
      groups: model["groups"] ?? [],
      scopes: caller.scopes,
      session_id: caller.login?.id ?? null,
      token_id: caller.token?.id ?? null,
    };
  });

  app.get<{ Querystring: Static<typeof UsersQuery> }>(
    "/users",
    { schema: { querystring: UsersQuery } },
    async (request, reply) => {
      const caller = await callers.require(request);
      requireScope(caller, "list:users");
      const { state, sort, name_filter: namePart, include_stopped_servers: stopped } = request.query;
      const page = readPage(request);
      const { users, total } = await listUsers(sql, { ...page, state, sort, namePart });
      const servers = await listServersOf(
        sql,
        users.map(({ name }) => name),
      );
      // JupyterHub takes any value, also none, for yes.
      const includesStopped = stopped !== undefined && !/^(?:0|false|no)$/i.test(stopped);
      const items = users.flatMap((user) => {
        const own = servers.filter((server) => server.user_name === user.name);
        return toUserModel(user, own, caller.scopes, originOf, { includesStopped }) ?? [];
      });
      return sendPage(request, reply, { items, total, page });
    },
  );

  const create = async (names: readonly string[], admin: boolean) => {
    names.forEach(checkUserName);
    const made = await sql.rows<{ name: string }>(
      "insert into users (name, admin) select unnest($1::text[]), $2 on conflict do nothing returning name",
      [names, admin],
    );
    return made.map(({ name }) => name);
  };

  app.post<{ Body: Static<typeof NewUsers> }>("/users", { schema: { body: NewUsers } }, async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "admin:users");
    const made = await create(request.body.usernames, request.body.admin ?? false);
    if (made.length === 0) {
      throw new Problem(409, "All of these users exist already.");
    }
    const users = await Promise.all(made.map((name) => requireUser(sql, name)));
    return reply.code(201).send(users.map((user) => toUserModel(user, [], caller.scopes, originOf)));
  });

  app.get<Named>("/users/:name", { schema: { params: NameParams } }, async (request) => {
    const caller = await callers.require(request);
    const user = await findUser(sql, request.params.name);
    const servers = await listServers(sql, request.params.name);
    const model = user === undefined ? undefined : toUserModel(user, servers, caller.scopes, originOf);
    if (model === undefined) {
      throw new Problem(404, `There is no user ${request.params.name}.`);
    }
    return model;
  });

  app.post<Named>("/users/:name", { schema: { params: NameParams } }, async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "admin:users");
    const [made] = await create([request.params.name], false);
    if (made === undefined) {
      throw new Problem(409, `User ${request.params.name} exists already.`);
    }
    return reply.code(201).send(toUserModel(await requireUser(sql, made), [], caller.scopes, originOf));
  });

  app.patch<Named & { Body: Static<typeof ChangedUser> }>(
    "/users/:name",
    { schema: { params: NameParams, body: ChangedUser } },
    async (request) => {
      const caller = await callers.require(request);
      requireScope(caller, "admin:users", { user: request.params.name });
      const user = await requireUser(sql, request.params.name);
      if (request.body.name !== undefined && request.body.name !== user.name) {
        throw new Problem(400, "Users have the name that they log in with; it is changed at the identity service.");
      }
      await sql.rows("update users set admin = coalesce($2, admin) where name = $1", [
        user.name,
        request.body.admin ?? null,
      ]);
      return toUserModel(await requireUser(sql, user.name), [], caller.scopes, originOf);
    },
  );

  app.delete<Named>("/users/:name", { schema: { params: NameParams } }, async (request, reply) => {
    const caller = await callers.require(request);
    const { name } = request.params;
    requireScope(caller, "delete:users", { user: name });
    await requireUser(sql, name);
    if (caller.user?.name === name) {
      throw new Problem(400, "You cannot delete yourself.");
    }
    for (const server of await listServers(sql, name)) {
      await lifecycle.stop(server, "Its user was deleted.");
    }
    await sql.rows("delete from users where name = $1", [name]);
    return reply.code(204).send();
  });

  app.post<Named & { Body: Static<typeof Activity> }>(
    "/users/:name/activity",
    { schema: { params: NameParams, body: Activity } },
    async (request) => {
      const caller = await callers.require(request);
      const { name } = request.params;
      requireScope(caller, "users:activity", { user: name });
      await requireUser(sql, name);
      const { last_activity: last, servers = {} } = request.body;
      if (last !== undefined) {
        await sql.rows("update users set last_activity = greatest(last_activity, $2) where name = $1", [
          name,
          toMoment(last),
        ]);
      }
      for (const [server, { last_activity: at }] of Object.entries(servers)) {
        if (!permits(caller.scopes, "users:activity", { user: name, server: `${name}/${server}` })) {
          continue;
        }
        await sql.rows(
          "update servers set last_activity = greatest(last_activity, $3) where user_name = $1 and name = $2 and state = 'ready'",
          [name, server, toMoment(at)],
        );
      }
      return {};
    },
  );
}

/** A time that a client says; never one to come. @throws {Problem} 400 */
function toMoment(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw new Problem(400, `"${text}" is not a time; write it like 2026-01-31T12:00:00Z.`);
  }
  return time.getTime() > Date.now() ? new Date() : time;
}
