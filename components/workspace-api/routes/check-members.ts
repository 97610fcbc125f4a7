import { setTimeout as sleep } from "node:timers/promises";

import { WorkspaceError } from "../errors.ts";
import { findWorkspace } from "../store/workspaces.ts";
import type { ApiContext } from "./context.ts";

/** Milliseconds that a change of members waits for the reconciler to look them up, and between two looks. */
const MEMBERS_TIMEOUT_MS = 5000;
const MEMBERS_POLL_MS = 100;

/**
 * Waits until the reconciler, which alone may look for users, knows the new members. One that is no user is removed by it.
 * When it does not come to it in time (it restarts, the identity service is away), the change stands and it looks later.
 * @throws {WorkspaceError} 422 naming members that are no users
 */
export async function checkMembers(
  db: ApiContext["db"],
  name: string,
  members: readonly { readonly username: string }[],
): Promise<void> {
  const deadline = Date.now() + MEMBERS_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const now = await findWorkspace(db, name);
    const known = new Map(now?.members.map(({ username, userId }) => [username, userId]));
    const unknown = members.filter(({ username }) => !known.has(username)).map(({ username }) => username);
    if (unknown.length > 0 && now !== undefined) {
      const list = unknown.map((username) => JSON.stringify(username)).join(", ");
      throw new WorkspaceError(422, `There is no user ${list}; the other members were kept.`, [
        { loc: ["body", "members"], msg: `${list} is not a user`, type: "value_error.unknown_user" },
      ]);
    }
    if (members.every(({ username }) => known.get(username) !== null)) {
      return;
    }
    await sleep(MEMBERS_POLL_MS);
  }
}
