import { createEvaluator } from "@swath/auth";
import { type Html, html } from "@swath/pages";

import { AdminError } from "../admin/errors.ts";
import { type AssignmentKind, isAssignmentKind, listAssignedTo } from "../policy/assignments.ts";
import { loadPolicySet } from "../policy/load-policy-set.ts";
import { type AuthzResource, findResource } from "../store/authz-resources.ts";
import { listPolicies } from "../store/authz-policies.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { listAllRoles, listHeldRoles } from "../store/roles.ts";
import { renderBadge } from "./badge.ts";
import type { FormFields } from "./form-fields.ts";
import { type Holder, findHolder } from "./holders.ts";
import type { View } from "./layout.ts";
import { renderTable } from "./list.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";
import { aboveProtection, openProtection, protectionPaths } from "./resources.ts";
import { changeRole } from "./role-mapping.ts";
import { renderVotes } from "./evaluate-page.ts";

interface Cell {
  readonly client: Client;
  readonly resource: AuthzResource;
  readonly kind: AssignmentKind;
  readonly holder: Holder;
}

async function openCell(ctx: RealmContext): Promise<Cell> {
  const { context, realm, params } = ctx;
  const db = context.pool;
  const client = await openProtection(ctx);
  const kind = params["kind"] ?? "";
  if (!isAssignmentKind(kind)) {
    throw new AdminError(404, "There is no such page.");
  }
  return {
    client,
    kind,
    resource: await findOr404(params["resource"], "That resource", (id) => findResource(db, client.id, id)),
    holder: await findOr404(params["holder"], "That holder", (id) =>
      findHolder({ db, realmId: realm.id, client }, kind, id),
    ),
  };
}

/** One field of the matrix: whether somebody may use a resource, why, and what can be done about it. */
async function showCell(ctx: RealmContext): Promise<View> {
  const { context, realm, form } = ctx;
  const { pool } = context;
  const cell = await openCell(ctx);
  const { client, resource, kind, holder } = cell;
  const [set, assigned] = await Promise.all([
    loadPolicySet(pool, realm.id, client),
    listAssignedTo(pool, client, [resource], { kind, holder: holder.id }),
  ]);
  const known = set.resources.find(({ id }) => id === resource.id);
  const granted =
    known !== undefined &&
    holder.enabled &&
    createEvaluator(set).evaluateResource(known, { identity: holder.identity, now: new Date() }, []).granted;
  const who = {
    users: holder.name,
    groups: `whoever is in the group ${holder.name}`,
    roles: `whoever has the role ${holder.name}`,
  }[kind];
  const isAssigned = assigned.has(resource.id);
  return {
    title: `${holder.name} and ${resource.name}`,
    section: "clients",
    above: [...aboveProtection(ctx, client), [matrixOf(ctx, kind), "Matrix"]],
    content: html`<section class="panel">
        <h2>Decision</h2>
        <p>
          ${granted ? renderBadge("may", "good") : renderBadge("may not", "bad")} ${who} ${granted ? "may" : "may not"}
          use
          ${resource.name}${resource.uris.length > 0 && html` (${resource.uris.map((uri) => html`<code>${uri}</code> `)})`}${!holder.enabled && ": the account is disabled"}.
        </p>
        ${known && renderVotes(set, known, holder.identity)}
      </section>
      <section class="panel">
        <h2>Assignment</h2>
        <p>
          ${
            isAssigned
              ? `${resource.name} is assigned to ${holder.name}.`
              : granted
                ? `${resource.name} is not assigned to ${holder.name}: the policies above grant it. To take it away, change those.`
                : `${resource.name} is not assigned to ${holder.name}.`
          }
        </p>
        ${
          isAssigned
            ? form("revoke").close({
                button: "Take back",
                look: "danger",
                label: `Take ${resource.name} back from ${holder.name}`,
                confirm: `${who} may not use ${resource.name} any more, unless something else grants it. This holds at once.`,
              })
            : form("assign").close({
                button: "Assign",
                label: `Assign ${resource.name} to ${holder.name}`,
                confirm: `${who} may use ${resource.name} from now on.`,
              })
        }
      </section>
      ${kind !== "roles" && (await renderRolesThatOpen(ctx, cell))}`,
  };
}

/** Roles that policies about the resource name, each to give or to take. */
async function renderRolesThatOpen(ctx: RealmContext, { client, resource, kind, holder }: Cell): Promise<Html> {
  const { context, realm, form } = ctx;
  const { pool } = context;
  const [stored, held] = await Promise.all([
    listPolicies(pool, client.id),
    listHeldRoles(pool, { kind: kind === "users" ? "user" : "group", id: holder.id }),
  ]);
  const about = stored.filter(({ resources }) => resources.includes(resource.id)).flatMap(({ policies }) => policies);
  const ids = stored
    .filter(({ id, type, logic }) => about.includes(id) && type === "role" && logic === "POSITIVE")
    .flatMap(({ config }) => (Array.isArray(config["roles"]) ? (config["roles"] as { id: string }[]) : []))
    .map(({ id }) => id);
  const roles = (await listAllRoles(pool, realm.id)).filter(({ id }) => ids.includes(id));
  return html`<section class="panel">
    <h2>Roles that open it</h2>
    ${renderTable(
      `Roles that open ${resource.name}`,
      ["Role", "Held", ""],
      roles.map(({ id, name }) => {
        const isHeld = held.some((role) => role.id === id);
        return [
          name,
          isHeld ? "yes" : "no",
          form(isHeld ? "take" : "give").close({
            button: isHeld ? "Take away" : "Give",
            look: "quiet",
            hidden: { role: id },
            label: isHeld ? `Take ${name} from ${holder.name}` : `Give ${name} to ${holder.name}`,
            confirm: isHeld
              ? `${holder.name} loses the role ${name}, and all that it opens.`
              : `${holder.name} gets the role ${name}, and all that it opens, not ${resource.name} alone.`,
          }),
        ];
      }),
    )}
  </section>`;
}

const matrixOf = (ctx: RealmContext, kind: AssignmentKind): string =>
  `${protectionPaths(ctx).page}/matrix${kind === "users" ? "" : `/${kind}`}`;

const cellOf = (ctx: RealmContext): string => {
  const { kind = "", holder = "", resource = "" } = ctx.params;
  return `${protectionPaths(ctx).page}/matrix/${kind}/${encodeURIComponent(holder)}/${encodeURIComponent(resource)}`;
};

const assignmentOf = (ctx: RealmContext): string => {
  const { kind = "", holder = "", resource = "" } = ctx.params;
  if (![holder, resource].every(isUuid) || !isAssignmentKind(kind)) {
    throw new AdminError(404, "There is no such page.");
  }
  return `${protectionPaths(ctx).api}/resource/${resource}/assignments/${kind}/${holder}`;
};

const changeHeld = async (ctx: RealmContext, fields: FormFields, method: "POST" | "DELETE"): Promise<string> => {
  const { kind, holder } = await openCell(ctx);
  if (kind === "roles") {
    throw new RangeError("Roles are given to users and groups.");
  }
  await changeRole(ctx, method, `/${kind}/${holder.id}`, fields.text("role"));
  return `${cellOf(ctx)}?done=${method === "POST" ? "given" : "taken"}`;
};

export const assignmentPages: readonly ConsolePage[] = [
  {
    path: "/clients/:client/protection/matrix/:kind/:holder/:resource",
    show: showCell,
    actions: {
      assign: async (ctx) => {
        await ctx.call("PUT", assignmentOf(ctx));
        return `${cellOf(ctx)}?done=assigned`;
      },
      revoke: async (ctx) => {
        await ctx.call("DELETE", assignmentOf(ctx));
        return `${cellOf(ctx)}?done=revoked`;
      },
      give: (ctx, fields) => changeHeld(ctx, fields, "POST"),
      take: (ctx, fields) => changeHeld(ctx, fields, "DELETE"),
    },
  },
];
