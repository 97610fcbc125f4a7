import { type Identity, METHOD_RESOURCE_TYPE, type PolicySet, createEvaluator, hasScopes } from "@swath/auth";

import type { IdentityContext } from "../../context.ts";
import { loadPolicySet } from "../../policy/load-policy-set.ts";
import type { LoadedPolicies } from "../../policy/policy-cache.ts";
import { toEngineRules, toScopes } from "../../policy/decision-rules.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import { isUuid } from "../../store/database.ts";
import { type DecisionPolicy, findResourceHome, listDecisionPolicies } from "../../store/decision-policies.ts";
import { findNamedUserWithAccess, findUserWithAccess } from "../../store/users.ts";
import { MAX_HOPS } from "./delegate.ts";
import type { DecisionRequest } from "./xacml.ts";

const MAX_POLICIES = 1000;
/** Decision points that one request is passed on to. */
const MAX_DELEGATES = 5;

/** Decides by the engine that the gatekeeper asks: about a registered resource by its server's rules, else by decision policies alone. */
export async function decideRequest(
  context: IdentityContext,
  handle: RealmHandle,
  { subject, action, resourceId }: DecisionRequest,
  /** The request as it came, for other decision points, and how many have passed it on. */
  passOn: { readonly body: object; readonly hops: number },
): Promise<boolean> {
  const { pool } = context;
  const { realm } = handle;
  const [identity, home, decisions] = await Promise.all([
    findIdentity(context, handle, subject),
    findResourceHome(pool, realm.id, resourceId),
    listDecisionPolicies(pool, realm.id, { resources: [resourceId], limit: MAX_POLICIES }),
  ]);
  if (identity === undefined) {
    return false;
  }
  const permitted = await callDelegates(context, decisions, passOn);
  const server = home && (await handle.findClient(home.clientId));
  const { set, evaluator } =
    server === undefined
      ? enforce(await loadLooseRules(context, realm.id, { resourceId, action, decisions, permitted }))
      : permitted.size > 0
        ? enforce(await loadPolicySet(pool, realm.id, server, permitted))
        : toEnforcing(await context.policies.load(realm.id, server));
  const resource = set.resources.find(({ id }) => id === resourceId);
  if (resource === undefined) {
    return false;
  }
  const scopes = toScopes(action, resource.scopes);
  const isNamed = decisions.some(({ document }) => document.config.action === action);
  if (resource.type === METHOD_RESOURCE_TYPE && !isNamed && !hasScopes(resource, scopes)) {
    return false;
  }
  const { granted, scopes: found } = evaluator.evaluateResource(resource, { identity, now: new Date() }, scopes);
  return granted && found.length === scopes.length;
}

/** What no policy speaks of is for everybody at the enforcement point; here somebody must have granted it. */
function enforce(rules: PolicySet) {
  const set: PolicySet = { ...rules, enforcementMode: "ENFORCING" };
  return { set, evaluator: createEvaluator(set) };
}

const toEnforcing = ({ set, enforcing }: LoadedPolicies) => ({ set, evaluator: enforcing });

async function loadLooseRules(
  { pool }: IdentityContext,
  realmId: string,
  {
    resourceId,
    action,
    decisions,
    permitted,
  }: {
    readonly resourceId: string;
    readonly action: string;
    readonly decisions: readonly DecisionPolicy[];
    readonly permitted: ReadonlySet<string>;
  },
): Promise<PolicySet> {
  const resource = { id: resourceId, name: resourceId, uris: [], scopes: [action] };
  return {
    version: "",
    clientId: "",
    enforcementMode: "ENFORCING",
    decisionStrategy: "AFFIRMATIVE",
    resources: [resource],
    ...(await toEngineRules(pool, realmId, [resource], decisions, permitted)),
  };
}

/** Policies whose other decision point permits the request. One that does not answer permits nothing. */
async function callDelegates(
  { login, logger }: IdentityContext,
  decisions: readonly DecisionPolicy[],
  { body, hops }: { readonly body: object; readonly hops: number },
): Promise<ReadonlySet<string>> {
  const delegates = new Set(decisions.flatMap(({ document }) => document.config.delegate ?? []));
  const permitting = new Set<string>();
  if (hops < MAX_HOPS && delegates.size <= MAX_DELEGATES) {
    await Promise.all(
      [...delegates].map(async (url) => {
        try {
          if ((await login?.delegates?.send(url, body, hops + 1)) === true) {
            permitting.add(url);
          }
        } catch (error) {
          logger.warn({ delegate: url, err: error }, "another decision point gave no decision; refused");
        }
      }),
    );
  }
  return new Set(decisions.flatMap(({ id, document }) => (permitting.has(document.config.delegate ?? "") ? id : [])));
}

/** Who is asked about: a user by id or name. What the request says besides counts where the platform does not know better. */
async function findIdentity(
  { pool }: IdentityContext,
  { realm }: RealmHandle,
  subject: Readonly<Record<string, unknown>>,
): Promise<Identity | undefined> {
  const named = ["user_name", "userName", "subject-id", "id", "sub"].map((name) => subject[name]);
  const texts = named.filter((value) => typeof value === "string" && value !== "") as string[];
  for (const text of texts) {
    const found = await (isUuid(text) ? findUserWithAccess : findNamedUserWithAccess)(pool, realm.id, text);
    if (found !== undefined && found.user.enabled) {
      const { user, access } = found;
      return {
        userId: user.id,
        username: user.username,
        realmRoles: access.realm,
        clientRoles: access.clients,
        groups: access.groups,
        claims: {
          ...subject,
          ...(user.email !== undefined && { email: user.email, email_verified: user.emailVerified }),
          preferred_username: user.username,
        },
      };
    }
  }
  return undefined;
}
