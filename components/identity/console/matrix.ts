import { type Resource, createEvaluator } from "@swath/auth";
import { type Html, html } from "@swath/pages";

import { type AssignmentKind, isAssignmentKind } from "../policy/assignments.ts";
import { loadPolicySet } from "../policy/load-policy-set.ts";
import { assignmentPages } from "./assignment-page.ts";
import { renderBadge } from "./badge.ts";
import { type Holder, listHolders } from "./holders.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderSearch, renderTable } from "./list.ts";
import type { ConsolePage, RealmContext } from "./page.ts";
import { aboveProtection, openProtection, protectionPaths } from "./resources.ts";

const KINDS: readonly (readonly [AssignmentKind, string, string])[] = [
  ["users", "Users", "Groups"],
  ["groups", "Groups", ""],
  ["roles", "Roles", "Of"],
];

/**
 * Users, groups or roles against the resources of a client: who may what, as the policy engine decides now. Each field leads to why,
 * and to where it is changed.
 */
async function showMatrix(ctx: RealmContext): Promise<View> {
  const { context, realm, query, params } = ctx;
  const { pool } = context;
  const client = await openProtection(ctx);
  const requested = params["kind"] ?? "users";
  const kind = isAssignmentKind(requested) ? requested : "users";
  const matrix = `${protectionPaths(ctx).page}/matrix`;
  const path = kind === "users" ? matrix : `${matrix}/${kind}`;
  const page = readPageNumber(query);
  const search = query["search"]?.trim() ?? "";
  const [set, { total, holders }] = await Promise.all([
    loadPolicySet(pool, realm.id, client),
    listHolders({ db: pool, realmId: realm.id, client }, kind, {
      search,
      first: (page - 1) * PAGE_SIZE,
      max: PAGE_SIZE,
    }),
  ]);
  const evaluator = createEvaluator(set);
  const now = new Date();
  const show = (holder: Holder, resource: Resource): Html => {
    const granted =
      holder.enabled && evaluator.evaluateResource(resource, { identity: holder.identity, now }, []).granted;
    return html`<a
      class="open"
      href="${matrix}/${kind}/${holder.id}/${resource.id}"
      aria-label="Why ${holder.name} ${granted ? "may" : "may not"} use ${resource.name}"
      >${granted ? renderBadge("may", "good") : renderBadge("may not")}</a
    >`;
  };
  const [, title, about] = KINDS.find(([name]) => name === kind) ?? ["", "", ""];
  return {
    title: `${title} and resources`,
    section: "clients",
    above: aboveProtection(ctx, client),
    content: html`<p class="inline tabs">
        ${KINDS.map(
          ([name, label]) =>
            html`<a
              href="${name === "users" ? matrix : `${matrix}/${name}`}"
              ${name === kind && html` aria-current="page"`}
              >${label}</a
            > `,
        )}
      </p>
      <div class="tools">${renderSearch(path, kind === "users" ? "Name or e-mail" : "Name", search)}</div>
      <div class="panel">
        <p class="hint">
          Who may use what, by all policies together. A field leads to why, and to where it is assigned or taken back.
          ${kind === "users" ? "Groups and roles count for their members." : "What is shown holds for whoever has nothing else."}
        </p>
        ${renderTable(
          `${title} and resources`,
          [title.slice(0, -1), ...(about === "" ? [] : [about]), ...set.resources.map(({ name }) => name)],
          holders.map((holder) => [
            html`<a href="${ctx.to(`/${kind}/${holder.id}`)}">${holder.name}</a>`,
            ...(about === "" ? [] : [holder.about]),
            ...set.resources.map((resource) => show(holder, resource)),
          ]),
        )}
        ${renderPager({ page, path, query, more: page * PAGE_SIZE < total, total })}
      </div>`,
  };
}

export const matrixPages: readonly ConsolePage[] = [
  { path: "/clients/:client/protection/matrix", show: showMatrix },
  { path: "/clients/:client/protection/matrix/:kind", show: showMatrix },
  ...assignmentPages,
];
