import { type Html, html } from "@swath/pages";
import { type AuthzPolicy, isPermission, listPolicies } from "../store/authz-policies.ts";
import { listResources } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { type ResourceServer, findResourceServer } from "../store/resource-servers.ts";
import type { View } from "./layout.ts";
import { renderTable } from "./list.ts";
import type { RealmContext } from "./page.ts";
import { NEW_POLICY_TYPES } from "./policy-kinds.ts";
import { renderWhoMay } from "./evaluate-page.ts";

/** Resources, policies and permissions of a client, and who may do what by them. */
export async function showProtection(ctx: RealmContext, client: Client): Promise<View> {
  const { context, to } = ctx;
  const [server, resources, stored, whoMay] = await Promise.all([
    findResourceServer(context.pool, client.id),
    listResources(context.pool, client.id),
    listPolicies(context.pool, client.id),
    renderWhoMay(ctx, client),
  ]);
  const page = to(`/clients/${client.id}/protection`);
  const policies = stored.filter((policy) => !isPermission(policy));
  const permissions = stored.filter(isPermission);
  const nameOf = (list: readonly { readonly id: string; readonly name: string }[], ids: readonly string[]) =>
    ids.map((id) => list.find((item) => item.id === id)?.name ?? id).join(", ");
  const about = ({ resources: ids, config }: AuthzPolicy): string => {
    const type = config["defaultResourceType"];
    return [nameOf(resources, ids), typeof type === "string" && type !== "" ? `type ${type}` : ""]
      .filter((text) => text !== "")
      .join(", ");
  };
  return {
    title: "Protected resources",
    section: "clients",
    above: [
      [to("/clients"), "Clients"],
      [to(`/clients/${client.id}`), client.clientId],
    ],
    content: html`${whoMay}
      <section class="panel">
        <div class="tools">
          <h2>Resources</h2>
          <span class="inline">
            <a href="${page}/matrix">Users and resources</a>
            <a class="button" href="${page}/resources/new">Create resource</a>
          </span>
        </div>
        ${renderTable(
          "Resources",
          ["Name", "Paths", "Scopes", "Type"],
          resources.map(({ id, name, uris, scopes, type }) => [
            html`<a href="${page}/resources/${id}">${name}</a>`,
            html`${uris.map((uri) => html`<code>${uri}</code> `)}`,
            scopes.map((scope) => scope.name).join(", "),
            type ?? "",
          ]),
        )}
      </section>
      <section class="panel">
        <div class="tools">
          <h2>Policies</h2>
          <span class="inline">
            New:
            ${NEW_POLICY_TYPES.map(({ type, label }) => html`<a href="${page}/policies/new?type=${type}">${label}</a> `)}
          </span>
        </div>
        ${renderTable(
          "Policies",
          ["Name", "Type", "Description"],
          policies.map(({ id, name, type, logic, description }) => [
            html`<a href="${page}/policies/${id}">${name}</a>`,
            logic === "NEGATIVE" ? `not ${type}` : type,
            description ?? "",
          ]),
        )}
      </section>
      <section class="panel">
        <div class="tools">
          <h2>Permissions</h2>
          <a class="button" href="${page}/permissions/new">Create permission</a>
        </div>
        <p class="hint">A permission says which policies decide about which resources.</p>
        ${renderTable(
          "Permissions",
          ["Name", "About", "Policies", "Decided"],
          permissions.map((permission) => [
            permission.owner === undefined
              ? html`<a href="${page}/permissions/${permission.id}">${permission.name}</a>`
              : html`${permission.name} (<a href="${page}/permissions/${permission.id}/delete">delete</a>)`,
            about(permission),
            permission.owner === undefined ? nameOf(policies, permission.policies) : "shared by the owner",
            permission.decisionStrategy.toLowerCase(),
          ]),
        )}
      </section>
      ${server !== undefined && renderServer(ctx, server)}`,
  };
}

function renderServer({ form }: RealmContext, server: ResourceServer): Html {
  const { select, close } = form("server");
  return html`<section class="panel">
    <h2>Enforcement</h2>
    ${close({
      button: "Save enforcement",
      content: html`<div class="fields">
        ${select({
          name: "policyEnforcementMode",
          label: "Where no permission says anything",
          value: server.enforcementMode,
          choices: [
            { value: "ENFORCING", label: "refuse (enforcing)" },
            { value: "PERMISSIVE", label: "let in everybody who is logged in (permissive)" },
            { value: "DISABLED", label: "ask no policy at all (disabled)" },
          ],
        })}
        ${select({
          name: "decisionStrategy",
          label: "Where several permissions say something",
          value: server.decisionStrategy,
          choices: [
            { value: "UNANIMOUS", label: "all must grant (unanimous)" },
            { value: "AFFIRMATIVE", label: "one is enough (affirmative)" },
            { value: "CONSENSUS", label: "more must grant than refuse (consensus)" },
          ],
        })}
      </div>`,
    })}
  </section>`;
}
