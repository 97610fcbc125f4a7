import { type Peer, Problem } from "@swath/service";

import type { FindMemberships } from "./readers.ts";
import type { WorkspaceRole } from "./reader.ts";

/** How long what was said of a user holds, and of how many users it is remembered. */
const CACHE_TTL_MS = 5000;
const MAX_CACHED_USERS = 10_000;
const TIMEOUT_MS = 5000;

interface CachedMemberships {
  readonly until: number;
  readonly memberships: Promise<ReadonlyMap<string, WorkspaceRole>>;
}

/** Asks the workspace API, and remembers its answers for a moment. @throws {Problem} 503 while it does not answer */
export function createMembershipFinder(peer: Peer, secret: string, clock: () => number = Date.now): FindMemberships {
  const cached = new Map<string, CachedMemberships>();
  return (user) => {
    const now = clock();
    const known = cached.get(user.id);
    if (known !== undefined && known.until > now) {
      return known.memberships;
    }
    const memberships = fetchMemberships(peer, secret, user);
    if (cached.size >= MAX_CACHED_USERS) {
      cached.clear();
    }
    cached.set(user.id, { until: now + CACHE_TTL_MS, memberships });
    memberships.catch(() => cached.delete(user.id));
    return memberships;
  };
}

async function fetchMemberships(
  peer: Peer,
  secret: string,
  { id, username }: { readonly id: string; readonly username?: string },
): Promise<ReadonlyMap<string, WorkspaceRole>> {
  const query = new URLSearchParams({ id, ...(username !== undefined && { username }) });
  try {
    const response = await peer.fetch(`/memberships?${query.toString()}`, {
      headers: { authorization: `Bearer ${secret}` },
      timeout: TIMEOUT_MS,
    });
    if (!response.ok) {
      throw new Error(`the workspace API responded ${response.status}`);
    }
    const { memberships } = (await response.json()) as {
      memberships: readonly { workspace: string; role: WorkspaceRole }[];
    };
    return new Map(memberships.map(({ workspace, role }) => [workspace, role]));
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
