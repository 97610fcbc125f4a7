import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { HubContext } from "../context.ts";
import { createSecret } from "../store/database.ts";
import { requireUser } from "../store/users.ts";
import { requireScope } from "./caller.ts";
import { toTime } from "./models.ts";
import { isScope, scopesOfOwner, scopesOfToken } from "./scopes.ts";

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  id: Type.Optional(Type.String({ pattern: "^a?\\d{1,18}$" })),
});
const NewToken = Type.Union([
  Type.Null(),
  // A limit that is misspelt is refused: without it the token could do more, or for longer.
  Type.Object(
    {
      note: Type.Optional(Type.String({ maxLength: 500 })),
      expires_in: Type.Optional(Type.Union([Type.Null(), Type.Number({ minimum: 1 })])),
      scopes: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
      roles: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
    },
    { additionalProperties: false },
  ),
]);
type Route = { Params: { name: string; id?: string } };
const MAX_TOKENS = 500;

interface TokenRow {
  readonly id: string;
  readonly kind: string;
  readonly user_name: string;
  readonly scopes: readonly string[];
  readonly note: string;
  readonly client: string | null;
  readonly created: Date;
  readonly last_activity: Date | null;
  readonly expires: Date | null;
}

/** `/hub/api/users/{name}/tokens…` */
export function addTokenRoutes(app: FastifyInstance, { sql, callers }: HubContext): void {
  app.get<Route>("/users/:name/tokens", { schema: { params: Params } }, async (request) => {
    const caller = await callers.require(request);
    const { name } = request.params;
    requireScope(caller, "read:tokens", { user: name });
    await requireUser(sql, name);
    const rows = await sql.rows<TokenRow>(
      "select * from tokens where user_name = $1 and (expires is null or expires > now()) order by id",
      [name],
    );
    return { api_tokens: rows.map(toTokenModel) };
  });

  app.post<Route & { Body: Static<typeof NewToken> }>(
    "/users/:name/tokens",
    { schema: { params: Params, body: NewToken } },
    async (request, reply) => {
      const caller = await callers.require(request);
      const { name } = request.params;
      requireScope(caller, "tokens", { user: name });
      const user = await requireUser(sql, name);
      const { note = "", expires_in: seconds, scopes = ["inherit"], roles = [] } = request.body ?? {};
      if (roles.length > 0) {
        throw new Problem(400, `This hub has no roles to give (${roles.join(", ")}); name scopes.`);
      }
      const unknown = scopes.filter((scope) => !isScope(scope));
      if (unknown.length > 0) {
        throw new Problem(400, `There is no scope ${unknown.join(", ")}.`);
      }
      const owner = { user: name, admin: user.admin };
      // An administrator may not give a token more than its user has; nor may a token make one that can more than itself.
      const held = caller.user?.name === name ? caller.scopes : scopesOfOwner(owner);
      const granted = scopesOfToken(scopes, owner, held);
      const missing = scopes.filter(
        (scope) => scope !== "inherit" && scope !== "self" && scopesOfToken([scope], owner, held).length === 0,
      );
      if (missing.length > 0) {
        throw new Problem(
          403,
          `Not assigning requested scopes ${missing.join(", ")} because they are beyond those of ${name}.`,
        );
      }
      const [{ count } = { count: 0 }] = await sql.rows<{ count: number }>(
        "select count(*)::int as count from tokens where user_name = $1 and kind = 'api'",
        [name],
      );
      if (count >= MAX_TOKENS) {
        throw new Problem(403, `${name} has ${count} tokens; delete some.`);
      }
      const { secret, hash } = createSecret();
      const row = await sql.first<TokenRow>(
        `insert into tokens (hash, user_name, kind, scopes, note, expires)
         values ($1, $2, 'api', $3, $4, case when $5::float8 is null then null else now() + make_interval(secs => $5) end) returning *`,
        // A token of everything stays one of everything, whatever its user is given later.
        [
          hash,
          name,
          scopes.includes("inherit") && caller.token === undefined ? ["inherit"] : granted,
          note,
          seconds ?? null,
        ],
      );
      return reply.code(201).send({ ...toTokenModel(row as TokenRow), token: secret });
    },
  );

  const find = async (name: string, id: string | undefined): Promise<TokenRow> => {
    const row = await sql.first<TokenRow>("select * from tokens where user_name = $1 and id = $2", [
      name,
      (id ?? "0").replace(/^a/, ""),
    ]);
    if (row === undefined) {
      throw new Problem(404, `${name} has no token ${id}.`);
    }
    return row;
  };

  app.get<Route>("/users/:name/tokens/:id", { schema: { params: Params } }, async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "read:tokens", { user: request.params.name });
    return toTokenModel(await find(request.params.name, request.params.id));
  });

  app.delete<Route>("/users/:name/tokens/:id", { schema: { params: Params } }, async (request, reply) => {
    const caller = await callers.require(request);
    requireScope(caller, "tokens", { user: request.params.name });
    const { id } = await find(request.params.name, request.params.id);
    await sql.rows("delete from tokens where id = $1", [id]);
    return reply.code(204).send();
  });
}

function toTokenModel(row: TokenRow): object {
  return {
    id: `a${row.id}`,
    kind: "api_token",
    user: row.user_name,
    scopes: row.scopes,
    roles: [],
    note: row.note,
    oauth_client: row.client ?? "JupyterHub",
    created: toTime(row.created),
    last_activity: toTime(row.last_activity),
    expires_at: toTime(row.expires),
  };
}
