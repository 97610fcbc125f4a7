import { LRUCache } from "lru-cache";

import { baseOf } from "../servers/base-path.ts";
import type { Sql } from "../store/database.ts";
import type { ServerRow, Target } from "../store/servers.ts";
import { hashSecret } from "../store/database.ts";
import { mayEnter } from "../access/may-enter.ts";

/** A server as the proxy knows it. */
export interface ServerRoute {
  readonly id: string;
  readonly label: string;
  readonly user: string;
  readonly name: string;
  readonly target: Target;
}

/** Somebody at the origin of a server. */
export interface Visit {
  readonly user: string;
  readonly isOwner: boolean;
  readonly loginId: string | null;
}

/** What the proxy knows of the hub's tables, for a few seconds at a time. */
export interface Routes {
  readonly find: (label: string) => Promise<ServerRoute | undefined>;
  /** The server of a path of the hub's host: `/user/eric/lab/…`, where the server has its root there. */
  readonly findAt: (path: string) => Promise<ServerRoute | undefined>;
  /** Without waiting; undefined where it is not known now. */
  readonly peek: (label: string) => ServerRoute | undefined;
  readonly visitBy: (server: ServerRoute, cookie: string) => Promise<Visit | undefined>;
  readonly peekVisit: (server: ServerRoute, cookie: string) => Visit | undefined;
  /** Who shows a token of the hub that gives access to this server. */
  readonly visitByToken: (server: ServerRoute, token: string) => Promise<Visit | undefined>;
  /** What is known is asked for again; `rights` where somebody may have lost access. */
  readonly forget: (rights: "kept" | "changed") => void;
}

const CACHE_MS = 3000;
/** How long a token's last yes is good where the hub cannot be asked: as long as it takes it to start again. */
const HUB_AWAY_MS = 60_000;
const MAX_CACHED = 20_000;

interface Cached<T> {
  readonly value: T;
  readonly until: number;
}

export function createRoutes(
  sql: Sql,
  hubTokens: (token: string, server: ServerRoute) => Promise<Visit | undefined>,
): Routes {
  const servers = new LRUCache<string, Cached<ServerRoute | undefined>>({ max: MAX_CACHED });
  const visits = new LRUCache<string, Cached<Visit | undefined>>({ max: MAX_CACHED });
  /** Labels of servers by the path of their root; a server that begins or ends is a change of them. */
  const labels = new LRUCache<string, Cached<string | undefined>>({ max: MAX_CACHED });
  /** What the hub last said yes to. */
  const granted = new LRUCache<string, Cached<Visit>>({ max: MAX_CACHED });
  const keep = <T>(map: LRUCache<string, Cached<T>>, key: string, value: T, milliseconds = CACHE_MS): T => {
    map.set(key, { value, until: Date.now() + milliseconds });
    return value;
  };
  const known = <T>(map: LRUCache<string, Cached<T>>, key: string): Cached<T> | undefined => {
    const entry = map.get(key);
    return entry !== undefined && entry.until > Date.now() ? entry : undefined;
  };

  const find: Routes["find"] = async (label) => {
    const entry = known(servers, label);
    if (entry !== undefined) {
      return entry.value;
    }
    const row = await sql.first<{ id: string; user_name: string; name: string; target: Target }>(
      "select id, user_name, name, target from servers where label = $1 and state = 'ready' and target is not null",
      [label],
    );
    return keep(servers, label, row && { id: row.id, label, user: row.user_name, name: row.name, target: row.target });
  };

  /** A server that is named in the path comes before the default one. */
  const findLabel = async (user: string, name: string): Promise<string | undefined> => {
    const rows = await sql.rows<Pick<ServerRow, "label" | "definition" | "user_name" | "name">>(
      `select label, definition, user_name, name from servers
       where user_name = $1 and name = any($2) and state = 'ready' and target is not null order by name desc`,
      [user, ["", name]],
    );
    const [server] = rows;
    return server !== undefined && baseOf(server) !== "/" ? server.label : undefined;
  };

  return {
    findAt: async (path) => {
      const [, user = "", first = ""] = /^\/user\/([^/?#]+)(?:\/([^/?#]*))?/.exec(path) ?? [];
      const key = `${user}/${first}`;
      const label = (known(labels, key) ?? { value: keep(labels, key, await findLabel(decode(user), decode(first))) })
        .value;
      return label === undefined ? undefined : find(label);
    },
    peek: (label) => known(servers, label)?.value,
    find,
    peekVisit: ({ id }, cookie) => known(visits, `${id} ${cookie}`)?.value,
    visitBy: async (server, cookie) => {
      const key = `${server.id} ${cookie}`;
      const entry = known(visits, key);
      if (entry !== undefined) {
        return entry.value;
      }
      const row = await sql.first<{ user_name: string; login_id: string }>(
        "select user_name, login_id from visits where hash = $1 and server_id = $2 and expires > now()",
        [hashSecret(cookie), server.id],
      );
      const right = row && (await mayEnter(sql, row.user_name, { id: server.id, user_name: server.user }));
      return keep(
        visits,
        key,
        row !== undefined && right !== undefined
          ? { user: row.user_name, isOwner: right === "owner", loginId: row.login_id }
          : undefined,
      );
    },
    visitByToken: async (server, token) => {
      const key = `${server.id} token ${token}`;
      const entry = known(visits, key);
      if (entry !== undefined) {
        return entry.value;
      }
      let visit: Visit | undefined;
      try {
        visit = await hubTokens(token, server);
      } catch (error) {
        const last = known(granted, key);
        if (last === undefined) {
          throw error;
        }
        return keep(visits, key, last.value);
      }
      if (visit === undefined) {
        granted.delete(key);
      } else {
        keep(granted, key, visit, HUB_AWAY_MS);
      }
      return keep(visits, key, visit);
    },
    forget: (rights) => {
      servers.clear();
      labels.clear();
      visits.clear();
      if (rights === "changed") {
        granted.clear();
      }
    },
  };
}

/** Text that is not encoded as it should be names no server. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
