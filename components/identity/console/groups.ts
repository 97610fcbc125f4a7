import { html } from "@swath/pages";
import { type Group, findGroup, listGroups, listMembers } from "../store/groups.ts";
import { findUser } from "../store/users.ts";
import { confirmView } from "./confirm.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderTable, rowsOf } from "./list.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";
import { changeRole, renderRoles } from "./role-mapping.ts";

const openGroup = ({ context: { pool }, realm, params }: RealmContext): Promise<Group> =>
  findOr404(params["group"], "That group", (id) => findGroup(pool, realm.id, id));

const api = ({ params }: RealmContext, rest = "") => `/groups/${encodeURIComponent(params["group"] ?? "")}${rest}`;

async function showGroup(ctx: RealmContext): Promise<View> {
  const { context, realm, to, form, query } = ctx;
  const { pool } = context;
  const group = await openGroup(ctx);
  const page = readPageNumber(query);
  const [below, ids, roles] = await Promise.all([
    listGroups(pool, realm.id, { parent: group.id }),
    listMembers(pool, group.id, rowsOf(page)),
    renderRoles(ctx, { kind: "group", id: group.id }, group.path),
  ]);
  const users = await Promise.all(ids.slice(0, PAGE_SIZE).map((id) => findUser(pool, realm.id, id)));
  const rename = form("rename");
  const child = form("child");
  return {
    title: group.path,
    section: "roles",
    above: [[to("/roles"), "Roles & groups"]],
    content: html`<section class="panel">
        <h2>Name</h2>
        ${rename.close({
          button: "Rename",
          look: "quiet",
          content: html`<div class="fields">
            ${rename.text({ name: "name", label: "Group name", value: group.name, required: true })}
          </div>`,
        })}
      </section>
      <section class="panel">
        <h2>Members</h2>
        ${renderTable(
          "Members",
          ["User name", "E-mail"],
          users.flatMap((user) =>
            user === undefined
              ? []
              : [[html`<a href="${to(`/users/${user.id}`)}">${user.username}</a>`, user.email ?? ""]],
          ),
        )}
        ${renderPager({ page, path: to(`/groups/${group.id}`), query, more: ids.length > PAGE_SIZE })}
        <p class="hint">Users join on their own page.</p>
      </section>
      ${roles}
      <section class="panel">
        <h2>Groups below</h2>
        ${renderTable(
          "Groups below",
          ["Group"],
          below.map(({ id, path }) => [html`<a href="${to(`/groups/${id}`)}">${path}</a>`]),
        )}
        ${child.close({
          button: "Create group below",
          look: "quiet",
          content: html`<div class="fields">
            ${child.text({ name: "name", label: "Name of the new group", required: true })}
          </div>`,
        })}
      </section>
      <p><a class="danger" href="${to(`/groups/${group.id}/delete`)}">Delete ${group.path} …</a></p>`,
  };
}

/** One group: its name, members, roles, and those below it. */
export const groupPages: readonly ConsolePage[] = [
  {
    path: "/groups/:group",
    show: showGroup,
    actions: {
      rename: async (ctx, fields) => {
        await ctx.call("PUT", api(ctx), { name: fields.text("name") });
        return ctx.to(`${api(ctx)}?done=saved`);
      },
      child: async (ctx, fields) => {
        await ctx.call("POST", api(ctx, "/children"), { name: fields.text("name") });
        return ctx.to(`${api(ctx)}?done=created`);
      },
      give: async (ctx, fields) => {
        await changeRole(ctx, "POST", api(ctx), fields.text("role"));
        return ctx.to(`${api(ctx)}?done=given`);
      },
      take: async (ctx, fields) => {
        await changeRole(ctx, "DELETE", api(ctx), fields.text("role"));
        return ctx.to(`${api(ctx)}?done=taken`);
      },
    },
  },
  {
    path: "/groups/:group/delete",
    show: async (ctx) => {
      const { path, id } = await openGroup(ctx);
      return confirmView(ctx, {
        title: `Delete group ${path}?`,
        section: "roles",
        above: [[ctx.to("/roles"), "Roles & groups"]],
        question: "The groups below it are deleted too; members lose the roles that they have by it.",
        button: `Delete ${path}`,
        back: ctx.to(`/groups/${id}`),
      });
    },
    actions: {
      confirm: async (ctx) => {
        await ctx.call("DELETE", api(ctx));
        return ctx.to("/roles?done=deleted");
      },
    },
  },
];
