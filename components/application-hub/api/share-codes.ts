import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import { type Sql, createSecret, hashSecret } from "../store/database.ts";
import { type ServerRow, findServer } from "../store/servers.ts";
import { requireScope } from "./caller.ts";
import { toTime } from "./models.ts";
import { checkSharedScopes } from "./shares.ts";

const Params = Type.Object({
  owner: Type.String({ minLength: 1, maxLength: 255 }),
  server: Type.Optional(Type.String({ maxLength: 60 })),
});
const NewCode = Type.Union([
  Type.Object(
    {
      scopes: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 20 })),
      expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 * 86_400 })),
    },
    { additionalProperties: false },
  ),
  Type.Null(),
]);
const Which = Type.Object({
  id: Type.Optional(Type.String({ pattern: "^sc_\\d{1,18}$" })),
  code: Type.Optional(Type.String({ maxLength: 100 })),
});
type Route = { Params: { owner: string; server?: string } };

interface CodeRow {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly created: Date;
  readonly exchanged: number;
  readonly last_exchanged: Date | null;
  readonly expires: Date;
  readonly user_name: string;
  readonly name: string;
}

/** A code that was made is good for a day where nothing else is said, as JupyterHub has it. */
const DEFAULT_SECONDS = 86_400;
const MAX_CODES = 100;
const SELECT = `select share_codes.*, servers.user_name, servers.name from share_codes join servers on servers.id = share_codes.server_id
  where share_codes.expires > now()`;

/** `/hub/api/share-codes/{owner}[/{server}]`; the default server has an empty name. */
export function addShareCodeRoutes(app: FastifyInstance, { sql, callers, publicUrl }: HubContext): void {
  const find = async ({ owner, server = "" }: Route["Params"]): Promise<ServerRow> => {
    const found = await findServer(sql, owner, server);
    if (found === undefined) {
      throw new Problem(404, `${owner} has no server ${JSON.stringify(server)}.`);
    }
    return found;
  };
  for (const path of ["/share-codes/:owner", "/share-codes/:owner/", "/share-codes/:owner/:server"]) {
    app.get<Route>(path, { schema: { params: Params } }, async (request) => {
      const caller = await callers.require(request);
      const { owner, server } = request.params;
      requireScope(caller, "read:shares", { user: owner, server: `${owner}/${server ?? ""}` });
      const rows =
        path === "/share-codes/:owner"
          ? await sql.rows<CodeRow>(`${SELECT} and servers.user_name = $1 order by share_codes.id`, [owner])
          : await sql.rows<CodeRow>(`${SELECT} and servers.id = $1 order by share_codes.id`, [
              (await find(request.params)).id,
            ]);
      return {
        items: rows.map(toModel),
        _pagination: { offset: 0, limit: 200, total: rows.length, next: null },
      };
    });
  }
  for (const path of ["/share-codes/:owner/", "/share-codes/:owner/:server"]) {
    app.post<Route & { Body: Static<typeof NewCode> }>(
      path,
      { schema: { params: Params, body: NewCode } },
      async (request) => {
        const caller = await callers.require(request);
        const { owner, server = "" } = request.params;
        requireScope(caller, "shares", { user: owner, server: `${owner}/${server}` });
        const { scopes, expires_in: seconds = DEFAULT_SECONDS } = request.body ?? {};
        const shared = await find(request.params);
        checkSharedScopes(scopes, shared);
        const { code, id } = await createShareCode(sql, shared, seconds);
        const row = await sql.first<CodeRow>(`${SELECT} and share_codes.id = $1`, [id]);
        const acceptUrl = `/hub/accept-share?code=${code}`;
        return {
          ...toModel(row as CodeRow),
          code,
          accept_url: acceptUrl,
          full_accept_url: `${publicUrl}${acceptUrl}`,
        };
      },
    );
    app.delete<Route & { Querystring: Static<typeof Which> }>(
      path,
      { schema: { params: Params, querystring: Which } },
      async (request, reply) => {
        const caller = await callers.require(request);
        const { owner, server = "" } = request.params;
        requireScope(caller, "shares", { user: owner, server: `${owner}/${server}` });
        const { id, code } = request.query;
        const removed = await sql.rows(
          "delete from share_codes where server_id = $1 and ($2::bigint is null or id = $2) and ($3::text is null or hash = $3) returning id",
          [(await find(request.params)).id, id?.slice(3) ?? null, code === undefined ? null : hashSecret(code)],
        );
        if (removed.length === 0 && (id ?? code) !== undefined) {
          throw new Problem(404, "There is no such code of this server; it may have ended.");
        }
        return reply.code(204).send();
      },
    );
  }
}

/** A code for whoever gets it. It is told once, and only its hash is kept. @throws {Problem} 400 */
export async function createShareCode(
  sql: Sql,
  server: ServerRow,
  seconds: number,
): Promise<{ readonly code: string; readonly id: string }> {
  const { secret: code, hash } = createSecret();
  const [{ count } = { count: "0" }] = await sql.rows<{ count: string }>(
    "select count(*) from share_codes where server_id = $1 and expires > now()",
    [server.id],
  );
  if (Number(count) >= MAX_CODES) {
    throw new Problem(400, `A server has at most ${MAX_CODES} codes at a time; remove those that nobody needs.`);
  }
  await sql.rows("delete from share_codes where expires < now()");
  const row = await sql.first<{ id: string }>(
    `insert into share_codes (hash, server_id, scopes, expires)
     values ($1, $2, array['access:servers'], now() + make_interval(secs => $3)) returning id`,
    [hash, server.id, seconds],
  );
  return { code, id: row?.id ?? "" };
}

/** The server that a code lets into; undefined where it has ended. */
export const findSharedServer = (sql: Sql, code: string): Promise<ServerRow | undefined> =>
  sql.first<ServerRow>(
    "select servers.* from servers join share_codes on share_codes.server_id = servers.id where hash = $1 and share_codes.expires > now()",
    [hashSecret(code)],
  );

/** Lets a user into the server of a code from now on, until the owner takes it back. */
export async function acceptShareCode(sql: Sql, code: string, user: string): Promise<ServerRow | undefined> {
  const server = await findSharedServer(sql, code);
  if (server !== undefined && server.user_name !== user) {
    await sql.rows("update share_codes set exchanged = exchanged + 1, last_exchanged = now() where hash = $1", [
      hashSecret(code),
    ]);
    await sql.rows(
      `insert into shares (server_id, to_user, scopes) values ($1, $2, array['access:servers'])
       on conflict (server_id, to_user, to_group) do update set expires = null`,
      [server.id, user],
    );
  }
  return server;
}

const toModel = ({
  user_name: owner,
  name,
  id,
  scopes,
  created,
  expires,
  exchanged,
  last_exchanged: last,
}: CodeRow) => ({
  server: { user: { name: owner }, name, url: `/user/${owner}/${name === "" ? "" : `${name}/`}`, ready: true },
  scopes: scopes.map((scope) => `${scope}!server=${owner}/${name}`),
  id: `sc_${id}`,
  created_at: toTime(created),
  expires_at: toTime(expires),
  exchange_count: exchanged,
  last_exchanged_at: toTime(last),
});
