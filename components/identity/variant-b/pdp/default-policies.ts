import { methodScope } from "@swath/auth";

import { METHOD_ACTIONS } from "../../policy/decision-rules.ts";
import { type DecisionPolicy, findResourceMethods, listDecisionPolicies } from "../../store/decision-policies.ts";
import { type Queryable, isUuid } from "../../store/database.ts";

const MAX_STORED = 1000;

/**
 * What a registered resource's owner may do, which no policy has to say, in the form of policies, one an action, as the earlier release line
 * made them at the registration. An action that a stored policy speaks of has none.
 */
export async function listDefaultPolicies(
  db: Queryable,
  realmId: string,
  resource: string,
): Promise<readonly DecisionPolicy[]> {
  const home = await findResourceMethods(db, realmId, resource);
  if (home === undefined) {
    return [];
  }
  const stored = await listDecisionPolicies(db, realmId, { resources: [resource], limit: MAX_STORED });
  return METHOD_ACTIONS.filter(
    (action) =>
      home.scopes.includes(methodScope(action)) && !stored.some(({ document }) => document.config.action === action),
  ).map((action) => ({
    id: `${resource}.${action}`,
    owner: home.owner,
    isDefault: true,
    document: {
      name: `Default Ownership Policy of ${resource} with action ${action}`,
      description: "This is the default ownership policy for created resources through PEP",
      config: {
        resource_id: resource,
        action,
        "T&C": [],
        rules: [{ AND: [{ EQUAL: { id: home.owner } }] }],
      },
      scopes: [methodScope(action)],
    },
  }));
}

/** The policy that `listDefaultPolicies` shows with an ID; undefined for other IDs, and once a stored policy has its place. */
export async function findDefaultPolicy(
  db: Queryable,
  realmId: string,
  id: string,
): Promise<DecisionPolicy | undefined> {
  const [resource = ""] = id.split(".", 1);
  return isUuid(resource)
    ? (await listDefaultPolicies(db, realmId, resource)).find((policy) => policy.id === id)
    : undefined;
}
