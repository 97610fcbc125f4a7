import { Problem } from "@swath/service";

import type { Action, Role } from "../access/actions.ts";

/** Roles by the numbers of the API. */
const ROLES: Readonly<Record<number, { readonly role: Role; readonly name: string }>> = {
  1: { role: "admin", name: "projectAdmin" },
  2: { role: "push", name: "developer" },
  3: { role: "pull", name: "guest" },
  4: { role: "maintain", name: "maintainer" },
};
/** Known to others, and the same as 3 here. */
const LIMITED_GUEST = 5;

/** @throws {Problem} 400 for a number that is no role */
export function parseRole(id: number): Role {
  const found = ROLES[id === LIMITED_GUEST ? 3 : id];
  if (found === undefined) {
    throw new Problem(400, "role_id must be 1 (projectAdmin), 2 (developer), 3 (guest) or 4 (maintainer).");
  }
  return found.role;
}

export function toRoleJson(role: Role): { readonly role_id: number; readonly role_name: string } {
  const [id, entry] = Object.entries(ROLES).find(([, each]) => each.role === role) ?? ["3", ROLES[3]];
  return { role_id: Number(id), role_name: entry?.name ?? "guest" };
}

/** The role that comes to these rights. */
export function toRoleId(rights: ReadonlySet<Action>): readonly number[] {
  return rights.has("admin") ? [1] : rights.has("maintain") ? [4] : rights.has("push") ? [2] : [3];
}
