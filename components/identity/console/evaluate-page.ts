import {
  type Identity,
  type Permission,
  type PolicySet,
  type Resource,
  createEvaluator,
  identityOf,
} from "@swath/auth";

import { type Html, html } from "@swath/pages";
import { loadPolicySet } from "../policy/load-policy-set.ts";
import { mapClaims } from "../claims/mappers.ts";
import { grantScope } from "../claims/scopes.ts";
import type { Client } from "../store/clients.ts";
import { type UserWithAccess, findUserByName, findUserWithAccess } from "../store/users.ts";
import { renderBadge } from "./badge.ts";
import { renderTable } from "./list.ts";
import type { RealmContext } from "./page.ts";

/** A form that answers whether a user may use a path, and why. It changes nothing, so it works by the address. */
export async function renderWhoMay(ctx: RealmContext, client: Client): Promise<Html> {
  const { query, to } = ctx;
  const [user, path] = [query["user"]?.trim() ?? "", query["path"]?.trim() ?? ""];
  return html`<section class="panel" id="who-may">
    <h2>Evaluate</h2>
    <form class="search" method="get" action="${to(`/clients/${client.id}/protection`)}">
      <label for="who-user">User</label>
      <input id="who-user" name="user" value="${user}" required autocomplete="off" />
      <label for="who-path">Path</label>
      <input id="who-path" name="path" value="${path}" required autocomplete="off" placeholder="/eric/x" />
      <button class="quiet" type="submit">Ask</button>
    </form>
    ${user !== "" && path !== "" && (await decide(ctx, client, user, path))}
  </section>`;
}

async function decide(
  { context: { pool }, realm }: RealmContext,
  client: Client,
  username: string,
  path: string,
): Promise<Html> {
  // Enforcement points bring paths into this form, or refuse them, before they decide.
  if (!path.startsWith("/") || /[?#\\]|\/\/|\/\.{1,2}(\/|$)/.test(path)) {
    return html`<p role="alert">
      The path must begin with a slash, and have no query, no empty parts and no parts that are dots: /eric/x
    </p>`;
  }
  const named = await findUserByName(pool, realm.id, username);
  const found = named && (await findUserWithAccess(pool, realm.id, named.id));
  if (found === undefined) {
    return html`<p role="alert">There is no user ${username}.</p>`;
  }
  const { user } = found;
  const identity = identityAt(client, found);
  const set = await loadPolicySet(pool, realm.id, client);
  const evaluator = createEvaluator(set);
  const decision = evaluator.decidePath(path, { identity, now: new Date() });
  const granted = decision.granted && user.enabled;
  return html`<div role="status">
      <p>
        ${granted ? renderBadge("granted", "good") : renderBadge("refused", "bad")} ${user.username}
        ${granted ? "may" : "may not"} use <code>${path}</code>:
        ${user.enabled ? explain(set, decision) : "the account is disabled."}
      </p>
    </div>
    ${decision.resources.map((resource) => renderVotes(set, resource, identity))}`;
}

/** Who a user is to a client that protects resources, as a token for it says. */
export function identityAt(client: Client, { user, access }: UserWithAccess): Identity {
  return identityOf({
    sub: user.id,
    azp: client.clientId,
    preferred_username: user.username,
    ...mapClaims("access", { client, user, access, acr: "1" }, grantScope(client, undefined)),
    realm_access: { roles: access.realm },
    resource_access: Object.fromEntries(
      Object.entries(access.clients).map(([clientId, roles]) => [clientId, { roles }]),
    ),
  });
}

function explain(set: PolicySet, decision: ReturnType<ReturnType<typeof createEvaluator>["decidePath"]>): string {
  const names = decision.resources.map(({ name }) => name).join(", ");
  if (set.enforcementMode === "DISABLED") {
    return "no policy is asked (enforcement is disabled).";
  }
  if (!decision.granted) {
    return decision.reason === "NO_RESOURCE"
      ? "no resource has a path that matches."
      : `no permission on the resource ${names} grants it.`;
  }
  return decision.resources.length === 0
    ? "no resource matches, and enforcement is permissive."
    : `the resource ${names} is granted.`;
}

/** What each permission on a resource says by itself. */
export function renderVotes(set: PolicySet, resource: Resource, identity: Identity): Html {
  const about = set.permissions.filter(
    ({ type, resources, resourceType }) =>
      resources.includes(resource.id) ||
      (resourceType !== undefined && resourceType === resource.type) ||
      (type === "scope" && resources.length === 0 && resourceType === undefined),
  );
  const alone = (permission: Permission): boolean =>
    createEvaluator({ ...set, enforcementMode: "ENFORCING", permissions: [permission] }).evaluateResource(
      resource,
      { identity, now: new Date() },
      permission.type === "scope" ? permission.scopes : [],
    ).granted;
  return renderTable(
    `Permissions on ${resource.name}`,
    ["Permission", "Policies", "Says"],
    about.map((permission) => [
      permission.name,
      permission.policies.map((id) => set.policies.find((policy) => policy.id === id)?.name ?? id).join(", "),
      alone(permission) ? renderBadge("granted", "good") : renderBadge("refused", "bad"),
    ]),
  );
}
