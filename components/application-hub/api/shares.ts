import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import { servicePrefix } from "../servers/names.ts";
import type { Sql } from "../store/database.ts";
import { type ServerRow, findServer } from "../store/servers.ts";
import { requireScope } from "./caller.ts";
import { toTime } from "./models.ts";
import { pageQuery, readPage, toPageModel } from "./pages.ts";

const Name = Type.String({ maxLength: 255 });
const Params = Type.Object({
  owner: Type.String({ minLength: 1, maxLength: 255 }),
  server: Type.Optional(Type.String({ maxLength: 60 })),
});
const NewShare = Type.Object(
  {
    user: Type.Optional(Name),
    group: Type.Optional(Name),
    scopes: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })),
    /** Seconds; until it is taken back where left out. */
    expires_in: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);
type Route = { Params: { owner: string; server?: string } };
const MAX_PER_PAGE = 200;

interface ShareRow {
  readonly id: string;
  readonly to_user: string | null;
  readonly to_group: string | null;
  readonly scopes: readonly string[];
  readonly created: Date;
  readonly expires: Date | null;
  readonly user_name: string;
  readonly name: string;
  readonly state: string;
  readonly total: number;
}

const SELECT = `select shares.*, servers.user_name, servers.name, servers.state, count(*) over ()::int as total
  from shares join servers on servers.id = shares.server_id where (shares.expires is null or shares.expires > now())`;
const PageQuery = Type.Object(pageQuery);
/** A share of a server, as those whom it is for see it; the default server has an empty name. */
const Received = Type.Object({
  name: Name,
  owner: Type.Optional(Name),
  server: Type.Optional(Type.String({ maxLength: 60 })),
});
type ReceivedRoute = { Params: Static<typeof Received> };
/** Whom a share is for: the users themselves and their groups, or a group. */
const RECEIVERS = [
  {
    path: "/users/:name/shared",
    subject: "user",
    scope: "users:shares",
    own: "to_user = $1",
    all: `(to_user = $1 or to_group in (select group_name from group_members where user_name = $1
             union all select unnest(claimed_groups) from users where name = $1))`,
  },
  {
    path: "/groups/:name/shared",
    subject: "group",
    scope: "groups:shares",
    own: "to_group = $1",
    all: "to_group = $1",
  },
] as const;

/** `/hub/api/shares…`, `/hub/api/users/{n}/shared`, `/hub/api/groups/{n}/shared` */
export function addShareRoutes(app: FastifyInstance, { sql, callers }: HubContext): void {
  const find = async ({ owner, server = "" }: Route["Params"]): Promise<ServerRow> => {
    const found = await findServer(sql, owner, server);
    if (found === undefined) {
      throw new Problem(404, `${owner} has no server ${JSON.stringify(server)}.`);
    }
    return found;
  };

  const list = async (request: FastifyRequest, condition: string, value: string) => {
    const page = readPage(request, MAX_PER_PAGE);
    const rows = await sql.rows<ShareRow>(`${SELECT} and ${condition} order by shares.id offset $2 limit $3`, [
      value,
      page.offset,
      page.limit,
    ]);
    return toPageModel(request, { items: rows.map(toShareModel), total: rows[0]?.total ?? 0, page });
  };

  for (const path of ["/shares/:owner", "/shares/:owner/", "/shares/:owner/:server"]) {
    app.get<Route>(path, { schema: { params: Params, querystring: PageQuery } }, async (request) => {
      const caller = await callers.require(request);
      const { owner, server } = request.params;
      requireScope(caller, "read:shares", { user: owner, server: `${owner}/${server ?? ""}` });
      return path === "/shares/:owner"
        ? list(request, "servers.user_name = $1", owner)
        : list(request, "servers.id = $1", (await find(request.params)).id);
    });
  }

  for (const path of ["/shares/:owner/", "/shares/:owner/:server"]) {
    app.post<Route & { Body: Static<typeof NewShare> }>(
      path,
      { schema: { params: Params, body: NewShare } },
      async (request) => {
        const caller = await callers.require(request);
        const { owner, server = "" } = request.params;
        requireScope(caller, "shares", { user: owner, server: `${owner}/${server}` });
        const id = await saveShare(sql, await find(request.params), request.body);
        const row = await sql.first<ShareRow>(`${SELECT} and shares.id = $1`, [id]);
        return toShareModel(row as ShareRow);
      },
    );

    app.patch<Route & { Body: Static<typeof NewShare> }>(
      path,
      { schema: { params: Params, body: NewShare } },
      async (request) => {
        const caller = await callers.require(request);
        const { owner, server = "" } = request.params;
        requireScope(caller, "shares", { user: owner, server: `${owner}/${server}` });
        const { user = null, group = null } = request.body;
        await sql.rows(
          "delete from shares where server_id = $1 and to_user is not distinct from $2 and to_group is not distinct from $3",
          [(await find(request.params)).id, user, group],
        );
        return {};
      },
    );

    app.delete<Route>(path, { schema: { params: Params } }, async (request, reply) => {
      const caller = await callers.require(request);
      const { owner, server = "" } = request.params;
      requireScope(caller, "shares", { user: owner, server: `${owner}/${server}` });
      await sql.rows("delete from shares where server_id = $1", [(await find(request.params)).id]);
      return reply.code(204).send();
    });
  }

  for (const { path, subject, scope, own, all } of RECEIVERS) {
    app.get<ReceivedRoute>(path, { schema: { params: Received, querystring: PageQuery } }, async (request) => {
      const { name } = request.params;
      requireScope(await callers.require(request), `read:${scope}`, { [subject]: name });
      return list(request, all, name);
    });
    const findReceived = async ({ name, owner = "", server = "" }: Static<typeof Received>): Promise<ShareRow> => {
      const row = await sql.first<ShareRow>(`${SELECT} and ${own} and servers.user_name = $2 and servers.name = $3`, [
        name,
        owner,
        server,
      ]);
      if (row === undefined) {
        throw new Problem(404, `The server ${owner}/${server} is not shared with the ${subject} ${name}.`);
      }
      return row;
    };
    for (const one of [`${path}/:owner/`, `${path}/:owner/:server`]) {
      app.get<ReceivedRoute>(one, { schema: { params: Received } }, async (request) => {
        requireScope(await callers.require(request), `read:${scope}`, { [subject]: request.params.name });
        return toShareModel(await findReceived(request.params));
      });
      // Those whom a server is shared with can leave it.
      app.delete<ReceivedRoute>(one, { schema: { params: Received } }, async (request, reply) => {
        requireScope(await callers.require(request), scope, { [subject]: request.params.name });
        const { id } = await findReceived(request.params);
        await sql.rows("delete from shares where id = $1", [id]);
        return reply.code(204).send();
      });
    }
  }
}

/** @throws {Problem} 400 for a scope that is not access to this server */
export function checkSharedScopes(scopes: readonly string[] = [], { user_name: owner, name }: ServerRow): void {
  const allowed = ["access:servers", `access:servers!server=${owner}/${name}`];
  const other = scopes.find((scope) => !allowed.includes(scope));
  if (other !== undefined) {
    throw new Problem(400, `A share cannot give ${other}: it gives ${allowed.join(" or ")}, and nothing else.`);
  }
}

/** @throws {Problem} 400 */
export async function saveShare(
  sql: Sql,
  server: ServerRow,
  { user, group, expires_in: seconds, scopes }: Static<typeof NewShare>,
): Promise<string> {
  if ((user === undefined) === (group === undefined)) {
    throw new Problem(400, "A share names either a user or a group.");
  }
  checkSharedScopes(scopes, server);
  if (user === server.user_name) {
    throw new Problem(400, "A server need not be shared with its owner.");
  }
  const exists =
    user !== undefined
      ? await sql.first("select 1 from users where name = $1", [user])
      : await sql.first("select 1 from groups where name = $1", [group]);
  if (exists === undefined) {
    throw new Problem(
      400,
      `There is no ${user !== undefined ? `user ${user}` : `group ${group}`} here; who logged in once, and groups of the hub, are known.`,
    );
  }
  const row = await sql.first<{ id: string }>(
    `insert into shares (server_id, to_user, to_group, scopes, expires)
     values ($1, $2, $3, array['access:servers'], case when $4::float8 is null then null else now() + make_interval(secs => $4) end)
     on conflict (server_id, to_user, to_group) do update set expires = excluded.expires returning id`,
    [server.id, user ?? null, group ?? null, seconds ?? null],
  );
  return row?.id ?? "";
}

function toShareModel({
  user_name: owner,
  name,
  to_user: user,
  to_group: group,
  scopes,
  created,
  expires,
  state,
}: ShareRow): object {
  return {
    server: { user: { name: owner }, name, url: servicePrefix(owner, name), ready: state === "ready" },
    scopes: scopes.map((scope) => `${scope}!server=${owner}/${name}`),
    user: user === null ? null : { name: user },
    group: group === null ? null : { name: group },
    kind: user === null ? "group" : "user",
    created_at: toTime(created),
    expires_at: toTime(expires),
  };
}
