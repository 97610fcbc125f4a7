import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import type { Sql } from "../store/database.ts";
import { type ServerRow, findServer } from "../store/servers.ts";
import { requireScope } from "./caller.ts";
import { toTime } from "./models.ts";

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

interface ShareRow {
  readonly id: string;
  readonly to_user: string | null;
  readonly to_group: string | null;
  readonly scopes: readonly string[];
  readonly created: Date;
  readonly expires: Date | null;
  readonly user_name: string;
  readonly name: string;
}

const SELECT = `select shares.*, servers.user_name, servers.name from shares join servers on servers.id = shares.server_id
  where (shares.expires is null or shares.expires > now())`;

/** `/hub/api/shares…`, `/hub/api/users/{n}/shared`, `/hub/api/groups/{n}/shared` */
export function addShareRoutes(app: FastifyInstance, { sql, callers }: HubContext): void {
  const find = async ({ owner, server = "" }: Route["Params"]): Promise<ServerRow> => {
    const found = await findServer(sql, owner, server);
    if (found === undefined) {
      throw new Problem(404, `${owner} has no server ${JSON.stringify(server)}.`);
    }
    return found;
  };

  for (const path of ["/shares/:owner", "/shares/:owner/", "/shares/:owner/:server"]) {
    app.get<Route>(path, { schema: { params: Params } }, async (request) => {
      const caller = await callers.require(request);
      const { owner, server } = request.params;
      requireScope(caller, "read:shares", { user: owner, server: `${owner}/${server ?? ""}` });
      const rows =
        path === "/shares/:owner"
          ? await sql.rows<ShareRow>(`${SELECT} and servers.user_name = $1 order by shares.id`, [owner])
          : await sql.rows<ShareRow>(`${SELECT} and servers.id = $1 order by shares.id`, [
              (await find(request.params)).id,
            ]);
      return toPage(rows.map(toShareModel));
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

  app.get<{ Params: { name: string } }>("/users/:name/shared", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "read:users:shares", { user: request.params.name });
    return toPage(
      (await sql.rows<ShareRow>(`${SELECT} and to_user = $1 order by shares.id`, [request.params.name])).map(
        toShareModel,
      ),
    );
  });

  app.get<{ Params: { name: string } }>("/groups/:name/shared", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "read:groups:shares", { group: request.params.name });
    return toPage(
      (await sql.rows<ShareRow>(`${SELECT} and to_group = $1 order by shares.id`, [request.params.name])).map(
        toShareModel,
      ),
    );
  });
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
}: ShareRow): object {
  return {
    server: { user: { name: owner }, name, url: `/user/${owner}/${name === "" ? "" : `${name}/`}`, ready: true },
    scopes: scopes.map((scope) => `${scope}!server=${owner}/${name}`),
    user: user === null ? null : { name: user },
    group: group === null ? null : { name: group },
    kind: user === null ? "group" : "user",
    created_at: toTime(created),
    expires_at: toTime(expires),
  };
}

const toPage = (items: readonly object[]): object => ({
  items,
  _pagination: { offset: 0, limit: 200, total: items.length, next: null },
});
