/** What somebody may do with the repositories of a project. `maintain` and `admin` are about the project itself. */
export const ACTIONS = ["pull", "push", "delete", "maintain", "admin"] as const;
export type Action = (typeof ACTIONS)[number];

export const ROLES = ["pull", "push", "maintain", "admin"] as const;
export type Role = (typeof ROLES)[number];

const ACTIONS_OF_ROLE: Readonly<Record<Role, readonly Action[]>> = {
  pull: ["pull"],
  push: ["pull", "push"],
  maintain: ["pull", "push", "delete", "maintain"],
  admin: ACTIONS,
};

export function actionsOf(roles: readonly Role[]): ReadonlySet<Action> {
  return new Set(roles.flatMap((role) => ACTIONS_OF_ROLE[role]));
}

export function isAction(text: string): text is Action {
  return (ACTIONS as readonly string[]).includes(text);
}
