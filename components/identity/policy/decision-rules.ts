import { type Permission, type Policy, methodScope } from "@swath/auth";

import type { Queryable } from "../store/database.ts";
import { type DecisionPolicy, listAcceptors } from "../store/decision-policies.ts";

/** A resource as far as decision policies care. */
interface Target {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** Decision policies of variant B as policies and permissions of the one engine: a document is both. */
export async function toEngineRules(
  db: Queryable,
  realmId: string,
  resources: readonly Target[],
  decisions: readonly DecisionPolicy[],
  /** Ids of policies whose other decision point permits the request at hand; without it, none of those lets anybody in. */
  permitted: ReadonlySet<string> = new Set(),
): Promise<{ readonly policies: readonly Policy[]; readonly permissions: readonly Permission[] }> {
  const scopesOf = new Map(resources.map(({ id, scopes }) => [id, scopes]));
  const policies: Policy[] = [];
  const permissions: Permission[] = [];
  for (const { id, document } of decisions) {
    const { resource_id: resource, action, rules, "T&C": terms } = document.config;
    const covered = listCoveredScopes(document.scopes, action, scopesOf.get(resource) ?? []);
    policies.push({
      id,
      name: document.name,
      type: "rules",
      rules,
      ...(document.config.delegate !== undefined && !permitted.has(id)
        ? { acceptedBy: [] }
        : terms.length > 0 && { acceptedBy: await listAcceptors(db, realmId, terms) }),
    });
    permissions.push({
      id: `${id} permission`,
      name: `${document.name} permission`,
      type: covered === undefined ? "resource" : "scope",
      resources: [resource],
      scopes: covered ?? [],
      policies: [id],
      decisionStrategy: "AFFIRMATIVE",
    });
  }
  return { policies, permissions };
}

/** Scopes of the resource that a policy speaks of; `undefined` for all of them. */
function listCoveredScopes(
  named: readonly string[],
  action: string,
  scopes: readonly string[],
): readonly string[] | undefined {
  const requested = [...named, ...(action === "" ? [] : toScopes(action, scopes))];
  return requested.length === 0 ? undefined : requested;
}

/** Actions on a resource whose scopes are methods. */
export const METHOD_ACTIONS = ["get", "post", "put", "delete", "head", "patch"];

/** What an action is called among the scopes of a resource: itself, a method, or reading for `view`. */
export function toScopes(action: string, scopes: readonly string[]): readonly string[] {
  const method = methodScope(action);
  const found = [
    ...(scopes.includes(action) ? [action] : []),
    ...(scopes.includes(method) ? [method] : []),
    ...(action === "view" ? [methodScope("get"), methodScope("head")].filter((scope) => scopes.includes(scope)) : []),
  ];
  return found.length === 0 ? [action] : found;
}
