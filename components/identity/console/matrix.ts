import { type Resource, createEvaluator } from "@swath/auth";
import { html } from "@swath/pages";

import { loadPolicySet } from "../policy/load-policy-set.ts";
import { countUsers, listUsersWithAccess } from "../store/users.ts";
import { renderBadge } from "./badge.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderSearch, renderTable } from "./list.ts";
import type { View } from "./layout.ts";
import type { ConsolePage, RealmVisit } from "./page.ts";
import { aboveProtection, openProtection, protectionPaths } from "./resources.ts";
import { identityAt } from "./who-may.ts";

/** Users against the resources of a client: who may what, as the policy engine decides now; each field leads to why. */
async function showMatrix(visit: RealmVisit): Promise<View> {
  const { context, realm, query } = visit;
  const { pool } = context;
  const client = await openProtection(visit);
  const { page: protection } = protectionPaths(visit);
  const path = `${protection}/matrix`;
  const page = readPageNumber(query);
  const search = query["search"]?.trim() ?? "";
  const filter = search === "" ? {} : { search };
  const [set, total, users] = await Promise.all([
    loadPolicySet(pool, realm.id, client),
    countUsers(pool, realm.id, filter),
    listUsersWithAccess(pool, realm.id, { ...filter, first: (page - 1) * PAGE_SIZE, max: PAGE_SIZE }),
  ]);
  const evaluator = createEvaluator(set);
  const now = new Date();
  const show = (username: string, resource: Resource, granted: boolean) => {
    const badge = granted ? renderBadge("may", "good") : renderBadge("may not");
    // An address of the resource: the explanation is of one.
    const address = resource.uris[0]?.replace(/[*{].*$/, "");
    return address === undefined
      ? badge
      : html`<a
          href="${protection}?${new URLSearchParams({ user: username, path: address }).toString()}#who-may"
          aria-label="Why ${username} ${granted ? "may" : "may not"} use ${resource.name}"
          >${badge}</a
        >`;
  };
  return {
    title: "Users and resources",
    section: "clients",
    above: aboveProtection(visit, client),
    content: html`<div class="tools">${renderSearch(path, "Name or e-mail", search)}</div>
      <div class="panel">
        <p class="hint">
          Who may use what, by all policies together. A field leads to why. Groups and roles count for their members.
        </p>
        ${renderTable(
          "Users and resources",
          ["User name", "Groups", ...set.resources.map(({ name }) => name)],
          users.map((found) => {
            const { user, access } = found;
            const identity = identityAt(client, found);
            return [
              html`<a href="${visit.to(`/users/${user.id}`)}">${user.username}</a>`,
              access.groups.join(", "),
              ...set.resources.map((resource) =>
                show(
                  user.username,
                  resource,
                  user.enabled && evaluator.evaluateResource(resource, { identity, now }, []).granted,
                ),
              ),
            ];
          }),
        )}
        ${renderPager({ page, path, query, more: page * PAGE_SIZE < total, total })}
      </div>`,
  };
}

export const matrixPages: readonly ConsolePage[] = [{ path: "/clients/:client/protection/matrix", show: showMatrix }];
