import type { Caller } from "@swath/auth";

import type { Role } from "./store/tables.ts";
import { type Workspace, namesOf } from "./store/workspaces.ts";

/** What a caller is in a workspace; `undefined` for a stranger. */
export function roleIn({ isAdmin, user }: Caller, { members }: Workspace): Role | undefined {
  if (isAdmin) {
    return "owner";
  }
  if (user === undefined) {
    return undefined;
  }
  const names = namesOf(user);
  return members.find(({ userId, username }) => (userId === null ? names.includes(username) : userId === user.id))
    ?.role;
}
