import { LRUCache } from "lru-cache";

import { type Sql, createSecret, hashSecret } from "../store/database.ts";
import type { ServerRoute, Visit } from "./routes.ts";

/** What servers get in place of their visitors' tokens. */
export interface StandInTokens {
  /** A token for this visitor at this server, in place of the one that was shown. */
  readonly replace: (server: ServerRoute, visit: Visit, shown: string) => Promise<string>;
  /** Whether this is a token of the hub, whatever it is good for. */
  readonly isHubToken: (token: string) => Promise<boolean>;
}

const SECONDS = 3600;
/** Renewed while it is still good for as long as a request takes. */
const REUSED_SECONDS = 3000;
const MAX_KEPT = 10_000;

/**
 * JupyterHub's servers ask the hub who sent a request by the token in it. The visitor's own could do everything that the visitor may,
 * so the server gets one that says who it is and opens this server, as OAuth gives to it for browsers.
 */
export function createStandInTokens(sql: Sql): StandInTokens {
  const kept = new LRUCache<string, Promise<string>>({ max: MAX_KEPT, ttl: REUSED_SECONDS * 1000 });
  const make = async ({ id, user, name }: ServerRoute, visit: Visit): Promise<string> => {
    const { secret, hash } = createSecret();
    await sql.rows("delete from tokens where kind = 'oauth' and server_id = $1 and expires < now()", [id]);
    await sql.rows(
      `insert into tokens (hash, user_name, kind, server_id, client, scopes, note, expires)
       values ($1, $2, 'oauth', $3, 'proxy', $4, $5, now() + make_interval(secs => $6))`,
      [
        hash,
        visit.user,
        id,
        [`access:servers!server=${user}/${name}`, "read:users:name!user", "read:users:groups!user"],
        `Requests to server ${user}/${name}`,
        SECONDS,
      ],
    );
    return secret;
  };
  return {
    replace: (server, visit, shown) => {
      const key = `${server.id} ${visit.user} ${hashSecret(shown)}`;
      const found = kept.get(key);
      if (found !== undefined) {
        return found;
      }
      const token = make(server, visit);
      kept.set(key, token);
      token.catch(() => kept.delete(key));
      return token;
    },
    isHubToken: async (token) =>
      (await sql.first(
        "select 1 from tokens where hash = $1 union all select 1 from servers where token_hash = $1 limit 1",
        [hashSecret(token)],
      )) !== undefined,
  };
}
