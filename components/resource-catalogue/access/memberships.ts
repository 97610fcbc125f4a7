import { type Peer, Problem } from "@swath/service";
import { LRUCache } from "lru-cache";

import type { FindMemberships, FindOwned } from "./readers.ts";
import type { WorkspaceRole } from "./reader.ts";

/** How long what was said of a user holds, and of how many users it is remembered. */
const CACHE_TTL_MS = 5000;
const MAX_CACHED_USERS = 10_000;
const TIMEOUT_MS = 5000;

type Roles = ReadonlyMap<string, WorkspaceRole>;

/** Asks the workspace API, and remembers its answers for a moment. @throws {Problem} 503 while it does not answer */
export function createMembershipFinder(peer: Peer, secret: string, clock: () => number = Date.now): FindMemberships {
  return remember<Parameters<FindMemberships>[0]>(
    ({ id }) => id,
    async ({ id, username }) => {
      const query = new URLSearchParams({ id, ...(username !== undefined && { username }) });
      const { memberships } = await ask<{
        memberships: readonly { workspace: string; role: WorkspaceRole }[];
      }>(peer, secret, `/memberships?${query.toString()}`);
      return new Map(memberships.map(({ workspace, role }) => [workspace, role]));
    },
    clock,
  );
}

/** Likewise for the workspaces that are a user's own: all that services which work for users know of them is the name. */
export function createOwnedFinder(peer: Peer, secret: string, clock: () => number = Date.now): FindOwned {
  return remember(
    (username) => username,
    async (username) => {
      const path = `/users/${encodeURIComponent(username)}/workspaces`;
      const { workspaces } = await ask<{ workspaces: readonly string[] }>(peer, secret, path);
      return new Map(workspaces.map((workspace) => [workspace, "owner"]));
    },
    clock,
  );
}

interface CachedRoles {
  readonly until: number;
  readonly roles: Promise<Roles>;
}

function remember<User>(
  keyOf: (user: User) => string,
  find: (user: User) => Promise<Roles>,
  clock: () => number,
): (user: User) => Promise<Roles> {
  const cached = new LRUCache<string, CachedRoles>({ max: MAX_CACHED_USERS });
  return (user) => {
    const [key, now] = [keyOf(user), clock()];
    const known = cached.get(key);
    if (known !== undefined && known.until > now) {
      return known.roles;
    }
    const roles = find(user);
    cached.set(key, { until: now + CACHE_TTL_MS, roles });
    roles.catch(() => cached.delete(key));
    return roles;
  };
}

async function ask<Answer>(peer: Peer, secret: string, path: string): Promise<Answer> {
  try {
    const response = await peer.fetch(path, { headers: { authorization: `Bearer ${secret}` }, timeout: TIMEOUT_MS });
    if (!response.ok) {
      throw new Error(`the workspace API responded ${response.status}`);
    }
    return (await response.json()) as Answer;
  } catch (cause) {
    throw new Problem(
      503,
      "The workspace API, which knows the members of workspaces, does not answer; try again in a moment.",
      {
        cause,
        headers: { "retry-after": "2" },
      },
    );
  }
}
