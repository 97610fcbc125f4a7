import { html } from "@swath/pages";
import { countUsers, listUsers } from "../store/users.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderSearch, renderTable, toTime } from "./list.ts";
import type { ConsolePage, RealmContext } from "./page.ts";
import { renderBadge } from "./badge.ts";

async function show({ context, realm, query, to }: RealmContext) {
  const { pool } = context;
  const page = readPageNumber(query);
  const search = query["search"]?.trim() ?? "";
  const filter = search === "" ? {} : { search };
  const [total, users] = await Promise.all([
    countUsers(pool, realm.id, filter),
    listUsers(pool, realm.id, { ...filter, first: (page - 1) * PAGE_SIZE, max: PAGE_SIZE }),
  ]);
  return {
    title: "Users",
    section: "users" as const,
    content: html`<div class="tools">
        ${renderSearch(to("/users"), "Name or e-mail", search)}
        <a class="button" href="${to("/users/new")}">${addLabel(context)}</a>
      </div>
      <div class="panel">
        <p class="hint">${total} ${total === 1 ? "user" : "users"}${search !== "" && ` with “${search}”`}</p>
        ${renderTable(
          "Users",
          ["User name", "Name", "E-mail", "State", "Since"],
          users.map((user) => [
            html`<a href="${to(`/users/${user.id}`)}">${user.username}</a>`,
            [user.firstName, user.lastName].filter((part) => part !== undefined).join(" "),
            user.email ?? "",
            user.enabled ? renderBadge("enabled", "good") : renderBadge("disabled", "bad"),
            toTime(user.createdAt),
          ]),
        )}
        ${renderPager({ page, path: to("/users"), query, more: page * PAGE_SIZE < total, total })}
      </div>`,
  };
}

/** As the documentation of each variant calls it. */
const addLabel = ({ login }: RealmContext["context"]): string => (login === undefined ? "Create user" : "Add person");

async function showNew({ form, to, context }: RealmContext) {
  const { text, check, close } = form("create");
  return {
    title: addLabel(context),
    section: "users" as const,
    above: [[to("/users"), "Users"]] as const,
    content: html`<div class="panel">
      ${close({
        button: "Create user",
        content: html`<div class="fields">
            ${text({ name: "username", label: "User name", required: true, hint: "Without spaces; kept in lower case." })}
            ${text({ name: "email", label: "E-mail", type: "email" })}
            ${text({ name: "firstName", label: "First name" })} ${text({ name: "lastName", label: "Last name" })}
            ${text({
              name: "password",
              label: "Password",
              type: "password",
              autocomplete: "new-password",
              hint: "Left empty, the user cannot log in until one is set.",
            })}
          </div>
          ${check({ name: "temporary", label: "The user must choose another password at the first login", value: true })}
          ${check({ name: "enabled", label: "Enabled", value: true })}`,
      })}
    </div>`,
  };
}

export const userListPages: readonly ConsolePage[] = [
  { path: "/users", show },
  {
    path: "/users/new",
    show: showNew,
    actions: {
      create: async ({ call, to }, fields) => {
        const password = fields.raw("password");
        const { id } = await call("POST", "/users", {
          username: fields.text("username"),
          ...Object.fromEntries(
            ["email", "firstName", "lastName"].flatMap((name) => {
              const value = fields.text(name);
              return value === "" ? [] : [[name, value]];
            }),
          ),
          enabled: fields.flag("enabled"),
          ...(password !== "" && {
            credentials: [{ type: "password", value: password, temporary: fields.flag("temporary") }],
          }),
        });
        return to(`/users/${id}?done=created`);
      },
    },
  },
];
