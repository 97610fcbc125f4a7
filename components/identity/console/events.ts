import { type Html, html } from "@swath/pages";
import { isUuid } from "../store/database.ts";
import { EVENT_TYPES, listAdminEvents, listEvents } from "../store/events.ts";
import { findUser, findUserByName } from "../store/users.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderTable, rowsOf, toTime } from "./list.ts";
import type { ConsolePage, RealmContext } from "./page.ts";

const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "ACTION"];

interface Filter {
  readonly type: string;
  readonly user: string;
  readonly from: string;
  readonly to: string;
}

const readFilter = ({ query }: RealmContext): Filter => ({
  type: query["type"] ?? "",
  user: query["user"]?.trim() ?? "",
  from: query["from"] ?? "",
  to: query["to"] ?? "",
});

/** The first and the last day, both whole. What is no date does not filter. */
function readDates({ from, to }: Filter): { readonly from?: Date; readonly to?: Date } {
  const read = (text: string, time: string) => {
    const date = new Date(`${text}T${time}Z`);
    return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) ? date : undefined;
  };
  const [first, last] = [read(from, "00:00:00"), read(to, "23:59:59.999")];
  return { ...(first && { from: first }), ...(last && { to: last }) };
}

/** The id of the user that was typed; what nobody is called finds nothing. Administrators are users of `master`. */
async function findUserId({ context: { pool } }: RealmContext, realmId: string, name: string) {
  return name === "" ? undefined : ((await findUserByName(pool, realmId, name))?.id ?? name);
}

function renderFilter(path: string, types: readonly string[], { type, user, from, to }: Filter): Html {
  return html`<form class="search panel" method="get" action="${path}">
    <span class="pair">
      <label for="type">Type</label>
      <select id="type" name="type">
        <option value="">all</option>
        ${types.map((name) => html`<option ${name === type && html` selected`}>${name}</option>`)}
      </select>
    </span>
    <span class="pair">
      <label for="user">User</label>
      <input id="user" name="user" value="${user}" autocomplete="off" />
    </span>
    <span class="pair">
      <label for="from">From</label>
      <input id="from" name="from" type="date" value="${from}" />
    </span>
    <span class="pair">
      <label for="to">To</label>
      <input id="to" name="to" type="date" value="${to}" />
    </span>
    <button class="quiet" type="submit">Filter</button>
  </form>`;
}

const renderTabs = (to: RealmContext["to"], current: "logins" | "changes"): Html =>
  html`<p class="inline">
    ${(
      [
        ["logins", "/events", "Logins"],
        ["changes", "/events/changes", "Changes by administrators"],
      ] as const
    ).map(
      ([name, path, label]) =>
        html`<a href="${to(path)}" ${name === current && html` aria-current="page"`}>${label}</a> `,
    )}
  </p>`;

async function showLogins(ctx: RealmContext): Promise<View> {
  const { context, realm, query, to } = ctx;
  const { pool } = context;
  const filter = readFilter(ctx);
  const page = readPageNumber(query);
  const rows = await listEvents(pool, realm.id, {
    ...(filter.type !== "" && { types: [filter.type] }),
    user: await findUserId(ctx, realm.id, filter.user),
    ...readDates(filter),
    ...rowsOf(page),
  });
  const shown = rows.slice(0, PAGE_SIZE);
  const ids = [...new Set(shown.flatMap(({ user_id: id }) => (id !== null && isUuid(id) ? [id] : [])))];
  const users = new Map(
    (await Promise.all(ids.map((id) => findUser(pool, realm.id, id)))).flatMap((user) =>
      user === undefined ? [] : [[user.id, user] as const],
    ),
  );
  const who = (id: string | null, details: Readonly<Record<string, string>>): Html | string => {
    const user = users.get(id ?? "");
    return user === undefined
      ? (details["username"] ?? id ?? "")
      : html`<a href="${to(`/users/${user.id}`)}">${user.username}</a>`;
  };
  return {
    title: "Events",
    section: "events",
    content: html`${renderTabs(to, "logins")} ${renderFilter(to("/events"), EVENT_TYPES, filter)}
      <div class="panel">
        ${renderTable(
          "Logins",
          ["When", "What", "User", "Client", "From", "Error"],
          shown.map((row) => [
            toTime(row.at),
            row.type,
            who(row.user_id, row.details),
            row.client_id ?? "",
            row.ip ?? "",
            row.error ?? "",
          ]),
        )}
        ${renderPager({ page, path: to("/events"), query, more: rows.length > PAGE_SIZE })}
      </div>`,
  };
}

async function showChanges(ctx: RealmContext): Promise<View> {
  const { context, realm, home, query, to } = ctx;
  const filter = readFilter(ctx);
  const page = readPageNumber(query);
  const rows = await listAdminEvents(context.pool, realm.id, {
    ...(filter.type !== "" && { operations: [filter.type] }),
    user: await findUserId(ctx, home.realm.id, filter.user),
    ...readDates(filter),
    ...rowsOf(page),
  });
  return {
    title: "Events",
    section: "events",
    content: html`${renderTabs(to, "changes")} ${renderFilter(to("/events/changes"), OPERATIONS, filter)}
      <div class="panel">
        ${renderTable(
          "Changes",
          ["When", "What", "Of", "Path", "By", "From"],
          rows
            .slice(0, PAGE_SIZE)
            .map((row) => [
              toTime(row.at),
              row.operation,
              row.resource_type,
              html`<code>${row.resource_path}</code>`,
              `${row.actor_name ?? ""} (${row.actor_client ?? ""})`,
              row.ip ?? "",
            ]),
        )}
        ${renderPager({ page, path: to("/events/changes"), query, more: rows.length > PAGE_SIZE })}
      </div>`,
  };
}

/** The log of logins, and that of changes by administrators. */
export const eventPages: readonly ConsolePage[] = [
  { path: "/events", show: showLogins },
  { path: "/events/changes", show: showChanges },
];
