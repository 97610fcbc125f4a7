import { type Html, html } from "@swath/pages";
import { type RoleHolder, findRoleById, listAllRoles, listHeldRoles } from "../store/roles.ts";
import { renderTable } from "./list.ts";
import { type RealmContext, findOr404 } from "./page.ts";

/** Gives or takes a role of the realm or of a client; `holder` is the admin API's path of the user or group. */
export async function changeRole(
  { context: { pool }, realm, call }: RealmContext,
  method: "POST" | "DELETE",
  holder: string,
  roleId: string,
): Promise<void> {
  if (roleId === "") {
    throw new RangeError("Choose a role.");
  }
  const role = await findOr404(roleId, "That role", (id) => findRoleById(pool, realm.id, id));
  const of = role.client === undefined ? "realm" : `clients/${role.client}`;
  await call(method, `${holder}/role-mappings/${of}`, [{ id: role.id, name: role.name }]);
}

/** Roles that a user or group holds, and a form that gives another. Their actions are `give` and `take`. */
export async function renderRoles(ctx: RealmContext, holder: RoleHolder, name: string): Promise<Html> {
  const { context, realm, form } = ctx;
  const [held, all] = await Promise.all([listHeldRoles(context.pool, holder), listAllRoles(context.pool, realm.id)]);
  const ids = new Set(held.map(({ id }) => id));
  const clients = new Map(all.map(({ client, clientId }) => [client, clientId]));
  const give = form("give");
  return html`<section class="panel">
    <h2>Roles</h2>
    ${renderTable(
      "Roles",
      ["Role", "Of", ""],
      held.map((role) => [
        role.name,
        role.client === undefined ? `realm ${realm.name}` : `client ${clients.get(role.client) ?? role.client}`,
        form("take").close({
          button: "Take away",
          look: "quiet",
          hidden: { role: role.id },
          label: `Take ${role.name} from ${name}`,
        }),
      ]),
    )}
    <div class="inline">
      ${give.close({
        button: "Give role",
        look: "quiet",
        content: give.select({
          name: "role",
          label: "Another role",
          choices: all
            .filter(({ id }) => !ids.has(id))
            .map((role) => ({
              value: role.id,
              label: role.name,
              group: role.clientId === undefined ? `Realm ${realm.name}` : `Client ${role.clientId}`,
            })),
        }),
      })}
    </div>
  </section>`;
}
