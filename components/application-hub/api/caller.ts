import { parseCookies, readCookie } from "@swath/auth";
import { Problem, noteActor } from "@swath/service";
import type { FastifyRequest } from "fastify";
import { hash, timingSafeEqual } from "node:crypto";

import type { Login, Logins } from "../session/logins.ts";
import type { HubKeys } from "../session/seal.ts";
import { type Sql, hashSecret } from "../store/database.ts";
import { type UserRow, findUser } from "../store/users.ts";
import { type ScopeList, type Subject, permits, permitsAny, scopesOfOwner, scopesOfToken } from "./scopes.ts";

/** Who sent a request, and what they may do. */
export interface Caller {
  readonly user: UserRow | undefined;
  readonly service: string | undefined;
  readonly scopes: ScopeList;
  readonly login: Login | undefined;
  readonly token: { readonly id: string; readonly kind: string; readonly serverId: string | null } | undefined;
}

export interface CallerFinder {
  readonly find: (request: FastifyRequest) => Promise<Caller | undefined>;
  /** @throws {Problem} 403 without a token, as JupyterHub has it */
  readonly require: (request: FastifyRequest) => Promise<Caller>;
  /** What forms and scripts of the hub's own pages show, so that no other page can act with the cookie. */
  readonly csrfOf: (login: Login) => string;
}

interface CallerDeps {
  readonly sql: Sql;
  readonly logins: Logins;
  readonly sealer: HubKeys;
  readonly cookieName: string;
  /** Services' tokens by their names. */
  readonly services: Readonly<Record<string, { readonly token: string; readonly scopes: readonly string[] }>>;
}

interface TokenRow {
  readonly id: string;
  readonly kind: string;
  readonly user_name: string | null;
  readonly server_id: string | null;
  readonly scopes: readonly string[];
  readonly server: string | null;
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function createCallerFinder({ sql, logins, sealer, cookieName, services }: CallerDeps): CallerFinder {
  const csrfOf = (login: Login) => sealer.sign(`csrf ${login.id}`);

  const byService = (token: string): Caller | undefined => {
    const shown = hash("sha256", token, "buffer");
    const found = Object.entries(services).find(([, { token: own }]) =>
      timingSafeEqual(shown, hash("sha256", own, "buffer")),
    );
    if (found === undefined) {
      return undefined;
    }
    const [service, { scopes }] = found;
    const held = scopesOfOwner({ service, admin: true });
    return {
      user: undefined,
      service,
      scopes: scopesOfToken(scopes, { service, admin: true }, held),
      login: undefined,
      token: undefined,
    };
  };

  const byToken = async (token: string): Promise<Caller | undefined> => {
    const service = byService(token);
    if (service !== undefined) {
      return service;
    }
    // A JWT: the platform's own access token.
    if (token.split(".").length === 3) {
      const own = await logins.userOf(token);
      const person = own === undefined ? undefined : await findUser(sql, own);
      return (
        person && {
          user: person,
          service: undefined,
          scopes: scopesOfOwner({ user: person.name, admin: person.admin }),
          login: undefined,
          token: undefined,
        }
      );
    }
    const digest = hashSecret(token);
    const row =
      (await sql.first<TokenRow>(
        `select t.id, t.kind, t.user_name, t.server_id, t.scopes, s.user_name || '/' || s.name as server
         from tokens t left join servers s on s.id = t.server_id
         where t.hash = $1 and (t.expires is null or t.expires > now())`,
        [digest],
      )) ??
      // The secret of a server, which it has from its start.
      (await sql.first<TokenRow>(
        `select id, 'server' as kind, user_name, id as server_id, array['users:activity!user', 'access:servers!server', 'read:users:name!user'] as scopes,
           user_name || '/' || name as server from servers where token_hash = $1`,
        [digest],
      ));
    const name = row?.user_name ?? undefined;
    const user = name === undefined ? undefined : await findUser(sql, name);
    if (row === undefined || user === undefined) {
      return undefined;
    }
    if (row.kind !== "server") {
      await sql.rows(
        "update tokens set last_activity = now() where id = $1 and (last_activity is null or last_activity < now() - interval '1 minute')",
        [row.id],
      );
    }
    const owner = { user: user.name, admin: user.admin, ...(row.server !== null && { server: row.server }) };
    // Whoever was let in to another's server has that right by a share, not of their own.
    const held = [...scopesOfOwner(owner), ...(row.kind === "oauth" ? row.scopes : [])];
    return {
      user,
      service: undefined,
      scopes: scopesOfToken(row.scopes, owner, held),
      login: undefined,
      token: { id: row.id, kind: row.kind, serverId: row.server_id },
    };
  };

  const byCookie = async (request: FastifyRequest): Promise<Caller | undefined> => {
    const cookie = readCookie(parseCookies(request.headers.cookie), cookieName);
    const login = cookie === undefined ? undefined : await logins.find(cookie);
    const user = login === undefined ? undefined : await findUser(sql, login.user);
    if (login === undefined || user === undefined) {
      return undefined;
    }
    if (!SAFE.has(request.method) && !hasCsrf(request, csrfOf(login))) {
      throw new Problem(
        403,
        "This request does not come from a page of the hub: its form or its header X-XSRFToken lacks the page's token. Load the page again.",
      );
    }
    return {
      user,
      service: undefined,
      scopes: scopesOfOwner({ user: user.name, admin: user.admin }),
      login,
      token: undefined,
    };
  };

  const find = async (request: FastifyRequest): Promise<Caller | undefined> => {
    const [, token] = /^(?:token|bearer)\s+(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    const caller = await (token === undefined ? byCookie(request) : byToken(token));
    if (caller !== undefined) {
      const { user, service } = caller;
      noteActor(request, { id: user?.name ?? `service ${service ?? ""}`, isAdmin: user?.admin === true });
    }
    return caller;
  };

  return {
    find,
    csrfOf,
    require: async (request) => {
      const caller = await find(request);
      if (caller === undefined) {
        throw new Problem(403, "Missing or invalid credentials.");
      }
      return caller;
    },
  };
}

/** @throws {Problem} 403; 404 for what the caller may not even know of */
export function requireScope(caller: Caller, scope: string, subject?: Subject): void {
  if (subject === undefined ? permitsAny(caller.scopes, scope) : permits(caller.scopes, scope, subject)) {
    return;
  }
  throw new Problem(403, `Action is not authorized with current scopes; requires any of [${scope}]`);
}

function hasCsrf(request: FastifyRequest, expected: string): boolean {
  const body = request.body as { readonly _xsrf?: unknown } | null | undefined;
  const header = request.headers["x-xsrftoken"];
  const provided = typeof header === "string" ? header : typeof body?._xsrf === "string" ? body._xsrf : "";
  const [a, b] = [Buffer.from(provided), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
