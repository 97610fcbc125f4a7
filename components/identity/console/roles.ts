import { html } from "@swath/pages";
import { findClientById } from "../store/clients.ts";
import { listGroups } from "../store/groups.ts";
import { type Role, findRoleById, listComposites, listRoleUsers, listRoles } from "../store/roles.ts";
import { findUser } from "../store/users.ts";
import { confirmView } from "./confirm.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderTable, rowsOf } from "./list.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";

/** The client whose roles the page is about; undefined for those of the realm. */
async function findOwner({ context: { pool }, realm, query }: RealmContext) {
  const { client } = query;
  return client === undefined
    ? undefined
    : findOr404(client, "That client", (id) => findClientById(pool, realm.id, id));
}

const openRole = ({ context: { pool }, realm, params }: RealmContext): Promise<Role> =>
  findOr404(params["role"], "That role", (id) => findRoleById(pool, realm.id, id));

/** The admin API names roles, and those of a client below it. */
const apiOf = ({ client, name }: Role): string =>
  `${client === undefined ? "" : `/clients/${client}`}/roles/${encodeURIComponent(name)}`;

async function showRoles(ctx: RealmContext): Promise<View> {
  const { context, realm, to, form } = ctx;
  const owner = await findOwner(ctx);
  const [roles, groups] = await Promise.all([
    listRoles(context.pool, realm.id, owner?.id ?? null),
    owner === undefined ? listGroups(context.pool, realm.id) : [],
  ]);
  const create = form("role");
  const group = form("group");
  return {
    title: owner === undefined ? "Roles & groups" : `Roles of ${owner.clientId}`,
    section: "roles",
    ...(owner !== undefined && {
      above: [
        [to("/clients"), "Clients"],
        [to(`/clients/${owner.id}`), owner.clientId],
      ] as const,
    }),
    content: html`<section class="panel">
        <h2>${owner === undefined ? `Roles of realm ${realm.name}` : "Roles"}</h2>
        ${renderTable(
          "Roles",
          ["Name", "Description", "Kind"],
          roles.map((role) => [
            html`<a href="${to(`/roles/${role.id}`)}">${role.name}</a>`,
            role.description ?? "",
            role.composite ? "holds others" : "",
          ]),
        )}
        <h3>Create role</h3>
        ${create.close({
          button: "Create role",
          look: "quiet",
          hidden: { client: owner?.id ?? "" },
          content: html`<div class="fields">
            ${create.text({ name: "name", label: "Role name", required: true })}
            ${create.text({ name: "description", label: "Description" })}
          </div>`,
        })}
        ${owner === undefined && html`<p class="hint">Roles of a client are reached from the client's page.</p>`}
      </section>
      ${
        owner === undefined &&
        html`<section class="panel">
          <h2>Groups</h2>
          ${renderTable(
            "Groups",
            ["Group"],
            groups.map(({ id, path }) => [html`<a href="${to(`/groups/${id}`)}">${path}</a>`]),
          )}
          <h3>Create group</h3>
          ${group.close({
            button: "Create group",
            look: "quiet",
            content: html`<div class="fields">
              ${group.text({ name: "name", label: "Group name", required: true })}
            </div>`,
          })}
        </section>`
      }`,
  };
}

async function showRole(ctx: RealmContext): Promise<View> {
  const { context, realm, to, form, query } = ctx;
  const { pool } = context;
  const role = await openRole(ctx);
  const page = readPageNumber(query);
  const [ids, composites, owner] = await Promise.all([
    listRoleUsers(pool, role.id, rowsOf(page)),
    listComposites(pool, role.id),
    role.client === undefined ? undefined : findClientById(pool, realm.id, role.client),
  ]);
  const users = await Promise.all(ids.slice(0, PAGE_SIZE).map((id) => findUser(pool, realm.id, id)));
  const { text, close } = form("save");
  return {
    title: role.name,
    section: "roles",
    above: [
      owner === undefined
        ? [to("/roles"), "Roles & groups"]
        : [to(`/roles?client=${owner.id}`), `Roles of ${owner.clientId}`],
    ],
    content: html`<section class="panel">
        ${close({
          button: "Save role",
          content: html`<div class="fields">
            ${text({ name: "name", label: "Role name", value: role.name, required: true })}
            ${text({ name: "description", label: "Description", value: role.description })}
          </div>`,
        })}
        ${composites.length > 0 && html`<p class="hint">Holds: ${composites.map(({ name }) => name).join(", ")}</p>`}
      </section>
      <section class="panel">
        <h2>Users who hold it themselves</h2>
        ${renderTable(
          "Users",
          ["User name", "E-mail"],
          users.flatMap((user) =>
            user === undefined
              ? []
              : [[html`<a href="${to(`/users/${user.id}`)}">${user.username}</a>`, user.email ?? ""]],
          ),
        )}
        ${renderPager({ page, path: to(`/roles/${role.id}`), query, more: ids.length > PAGE_SIZE })}
      </section>
      <p><a class="danger" href="${to(`/roles/${role.id}/delete`)}">Delete ${role.name} …</a></p>`,
  };
}

const listOf = ({ to }: RealmContext, client: string | undefined, done: string) =>
  to(client === undefined || client === "" ? `/roles?done=${done}` : `/roles?client=${client}&done=${done}`);

/** Roles of the realm and of clients; the realm's groups are on the same list. */
export const rolePages: readonly ConsolePage[] = [
  {
    path: "/roles",
    show: showRoles,
    actions: {
      role: async (ctx, fields) => {
        const client = fields.text("client");
        await ctx.call("POST", client === "" ? "/roles" : `/clients/${encodeURIComponent(client)}/roles`, {
          name: fields.text("name"),
          description: fields.text("description"),
        });
        return listOf(ctx, client, "created");
      },
      group: async (ctx, fields) => {
        await ctx.call("POST", "/groups", { name: fields.text("name") });
        return listOf(ctx, undefined, "created");
      },
    },
  },
  {
    path: "/roles/:role",
    show: showRole,
    actions: {
      save: async (ctx, fields) => {
        const role = await openRole(ctx);
        await ctx.call("PUT", apiOf(role), { name: fields.text("name"), description: fields.text("description") });
        return ctx.to(`/roles/${role.id}?done=saved`);
      },
    },
  },
  {
    path: "/roles/:role/delete",
    show: async (ctx) => {
      const role = await openRole(ctx);
      return confirmView(ctx, {
        title: `Delete role ${role.name}?`,
        section: "roles",
        above: [[ctx.to("/roles"), "Roles & groups"]],
        question: "Everybody who holds it loses it, and policies that name it grant nothing by it any more.",
        button: `Delete ${role.name}`,
        back: ctx.to(`/roles/${role.id}`),
      });
    },
    actions: {
      confirm: async (ctx) => {
        const role = await openRole(ctx);
        await ctx.call("DELETE", apiOf(role));
        return listOf(ctx, role.client, "deleted");
      },
    },
  },
];
