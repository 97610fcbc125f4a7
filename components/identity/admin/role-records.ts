import { ADMIN_ROLE, REALM_MANAGEMENT } from "../realms/create-realm.ts";
import { findClient } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { type Role, findRole, findRoleById, listComposites } from "../store/roles.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { readAttributes } from "./user-records.ts";
import { type AdminRequest, readText } from "./request.ts";

export function toRoleRepresentation(realmId: string, { id, name, description, composite, client, attributes }: Role) {
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    composite,
    clientRole: client !== undefined,
    containerId: client ?? realmId,
    attributes,
  };
}

/** Roles by id, else by name among those of a client or the realm. @throws {AdminError} 404 */
export async function findRoles(
  { context, handle }: AdminRequest,
  representations: readonly Readonly<Record<string, unknown>>[],
  client: string | null,
): Promise<readonly Role[]> {
  return Promise.all(
    representations.map(async (representation) => {
      const id = readText(representation, "id");
      const name = readText(representation, "name") ?? "";
      const role =
        id !== undefined && isUuid(id)
          ? await findRoleById(context.pool, handle.realm.id, id)
          : await findRole(context.pool, handle.realm.id, client, name);
      if (role === undefined) {
        throw notFound(`Role ${name || (id ?? "")}`);
      }
      return role;
    }),
  );
}

/** Reads a role; what is left out stays as in `base`. @throws {AdminError} 400 */
export function readRole(source: Readonly<Record<string, unknown>>, base?: Role) {
  const name = readText(source, "name") ?? base?.name;
  if (name === undefined || name.trim() === "") {
    throw badRequest("name is missing");
  }
  return {
    name,
    description: readText(source, "description", 2000) ?? base?.description,
    attributes: readAttributes(source["attributes"]) ?? base?.attributes ?? {},
  };
}

/** @throws {AdminError} 400 for the role without which nobody could administer */
export function refuseLosingAdministrators({ handle }: AdminRequest, role: Role): void {
  if (role.client === undefined && role.name === ADMIN_ROLE && handle.realm.name === "master") {
    throw badRequest("The role admin of realm master cannot be deleted: nobody could administer any more");
  }
}

/** Who may manage users only must not make administrators of them: roles that administer are given by those who hold them. */
export async function refuseToGive({ context, handle, actor }: AdminRequest, roles: readonly Role[]): Promise<void> {
  const management = await findClient(context.pool, handle.realm.id, REALM_MANAGEMENT);
  const administers = async (role: Role, depth = 0): Promise<boolean> =>
    (role.client === undefined && role.name === ADMIN_ROLE) ||
    role.client === management?.id ||
    (role.composite &&
      depth < 10 &&
      (
        await Promise.all((await listComposites(context.pool, role.id)).map((child) => administers(child, depth + 1)))
      ).some(Boolean));
  for (const role of roles) {
    if ((await administers(role)) && !actor.may("manage-realm")) {
      throw new AdminError(403, `Role ${role.name} administers the realm; only who may manage the realm may give it`);
    }
  }
}
