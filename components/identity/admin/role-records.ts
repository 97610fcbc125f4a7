import { isUuid } from "../store/database.ts";
import { type Role, findRole, findRoleById } from "../store/roles.ts";
import { notFound } from "./errors.ts";
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
