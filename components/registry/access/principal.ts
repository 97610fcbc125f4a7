import type { Sql } from "../store/database.ts";
import { type Action, ACTIONS, type Role, actionsOf } from "./actions.ts";

/** A permission of a robot. */
export interface RobotPermission {
  /** Name of a project, or `*`: all of them. */
  readonly project: string;
  readonly actions: readonly Action[];
}

/** Who sends a request, as far as passwords and tokens of the identity service say. */
export type Principal =
  | { readonly kind: "anonymous"; readonly name: "anonymous" }
  | { readonly kind: "admin"; readonly name: string }
  | { readonly kind: "user"; readonly name: string; readonly groups: readonly string[] }
  | { readonly kind: "robot"; readonly name: string; readonly permissions: readonly RobotPermission[] }
  /** The processing service in the name of somebody: it pulls what they may pull. */
  | { readonly kind: "delegate"; readonly name: string; readonly of: Principal };

export const ANONYMOUS: Principal = { kind: "anonymous", name: "anonymous" };

/** What rights depend on. */
export interface ProjectOfRights {
  readonly id: string;
  readonly name: string;
  readonly isPublic: boolean;
}

/** What a principal may do in a project. */
export async function findRights(
  sql: Sql,
  principal: Principal,
  project: ProjectOfRights,
): Promise<ReadonlySet<Action>> {
  const open: readonly Action[] = project.isPublic ? ["pull"] : [];
  switch (principal.kind) {
    case "anonymous":
      return new Set(open);
    case "admin":
      return new Set(ACTIONS);
    case "robot":
      return new Set([
        ...open,
        ...principal.permissions.flatMap((permission) =>
          permission.project === "*" || permission.project === project.name ? permission.actions : [],
        ),
      ]);
    case "user":
      return new Set([...open, ...actionsOf(await findRoles(sql, project.id, principal))]);
    case "delegate":
      return new Set([...(await findRights(sql, principal.of, project))].filter((action) => action === "pull"));
  }
}

async function findRoles(
  sql: Sql,
  projectId: string,
  { name, groups }: { readonly name: string; readonly groups: readonly string[] },
): Promise<readonly Role[]> {
  const rows = await sql.query<{ role: Role }>(
    `/* prepared: roles */ select role from member where project_id = $1
       and ((kind = 'user' and name = $2) or (kind = 'group' and name = any($3)))`,
    [projectId, name, groups],
  );
  return rows.map(({ role }) => role);
}

/** Ids of the projects that a principal may pull from besides public ones; undefined: all. */
export async function listVisibleProjects(sql: Sql, principal: Principal): Promise<readonly string[] | undefined> {
  switch (principal.kind) {
    case "anonymous":
      return [];
    case "admin":
      return undefined;
    case "robot": {
      const names = principal.permissions
        .filter(({ actions }) => actions.includes("pull"))
        .map(({ project }) => project);
      if (names.includes("*")) {
        return undefined;
      }
      const rows = await sql.query<{ id: string }>("select id from project where name = any($1)", [names]);
      return rows.map(({ id }) => id);
    }
    case "user": {
      const rows = await sql.query<{ project_id: string }>(
        `select distinct project_id from member
         where (kind = 'user' and name = $1) or (kind = 'group' and name = any($2))`,
        [principal.name, principal.groups],
      );
      return rows.map(({ project_id }) => project_id);
    }
    case "delegate":
      return listVisibleProjects(sql, principal.of);
  }
}
