import { RegistryError } from "../errors.ts";
import { isRepositoryName, projectOf } from "../protocol/names.ts";
import { findProject } from "../store/projects.ts";
import type { Sql } from "../store/database.ts";
import { type Action, isAction } from "./actions.ts";
import { type Principal, findRights } from "./principal.ts";

/** An entry of the claim `access` of a token: what its bearer may do. */
export interface Access {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

const MAX_SCOPES = 100;

/** `repository:a/b:pull,push registry:catalog:*` as a list; what is not understood is left out. */
export function parseScopes(texts: readonly string[]): readonly Access[] {
  const parts = texts.flatMap((text) => text.split(" ")).filter((part) => part !== "");
  if (parts.length > MAX_SCOPES) {
    throw new RegistryError("DENIED", `A token has at most ${MAX_SCOPES} scopes.`, { status: 400 });
  }
  return parts.flatMap((part) => {
    // `repository(plugin):…` names a class, which changes nothing.
    const match = /^([a-z]+)(?:\([a-z0-9]+\))?:(.+):([a-z*,]*)$/.exec(part);
    return match === null
      ? []
      : [{ type: match[1] ?? "", name: match[2] ?? "", actions: (match[3] ?? "").split(",").filter(Boolean) }];
  });
}

/** What of the scopes a principal has: never more than was asked for, never more than its rights. */
export async function grantScopes(
  sql: Sql,
  principal: Principal,
  scopes: readonly Access[],
): Promise<readonly Access[]> {
  const granted: Access[] = [];
  for (const { type, name, actions } of scopes) {
    const allowed =
      type === "registry" && name === "catalog"
        ? actions.filter((action) => action === "*" && principal.kind !== "anonymous")
        : type === "repository" && isRepositoryName(name)
          ? await grantRepository(sql, principal, name, actions)
          : [];
    if (allowed.length > 0) {
      granted.push({ type, name, actions: allowed });
    }
  }
  return granted;
}

async function grantRepository(
  sql: Sql,
  principal: Principal,
  name: string,
  actions: readonly string[],
): Promise<readonly Action[]> {
  const project = await findProject(sql, projectOf(name));
  if (project === undefined) {
    // The administrator is told by the request itself that the project does not exist.
    return principal.kind === "admin" ? actions.filter(isAction) : [];
  }
  const rights = await findRights(sql, principal, project);
  const requested = actions.includes("*") ? ["pull", "push", "delete"] : actions;
  return requested.filter(isAction).filter((action) => rights.has(action));
}
