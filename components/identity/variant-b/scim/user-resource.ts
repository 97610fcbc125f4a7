import { isUuid } from "../../store/database.ts";
import { USER_COLUMNS, type UserRow, findUser, toUser } from "../../store/users.ts";
import type { ScimContext } from "./context.ts";
import { ScimError } from "./errors.ts";
import { project, readListQuery, toListResponse } from "./list.ts";
import { applyPatch } from "./patch.ts";
import { PLATFORM_SCHEMA, USER_COLUMNS_BY_ATTRIBUTE, toScimUser, toUserFields } from "./users.ts";
import { readResource, readText } from "./values.ts";

type Json = Record<string, unknown>;

/** @throws {ScimError} 400 */
export async function listScimUsers({ identity, handle, base }: ScimContext, query: Json): Promise<object> {
  const { where, values, order, offset, count, attributes } = readListQuery(
    query,
    USER_COLUMNS_BY_ATTRIBUTE,
    "u.username",
  );
  const from = `from app_user u where u.realm_id = $1 and u.service_client is null and ${where}`;
  const parameters = [handle.realm.id, ...values];
  const total = await identity.pool.query<{ count: string }>(`select count(*) ${from}`, parameters);
  const { rows } = await identity.pool.query<UserRow>(
    `select ${USER_COLUMNS} ${from} order by ${order} offset ${offset} limit ${count}`,
    parameters,
  );
  const users = rows.map((row) => project(toScimUser(toUser(row), `${base}/Users/${row.id}`), attributes));
  return toListResponse(users, Number(total.rows[0]?.count), offset);
}

/** @throws {ScimError} 404 */
export async function readScimUser({ identity, handle, base }: ScimContext, id: string): Promise<Json> {
  const user = isUuid(id) ? await findUser(identity.pool, handle.realm.id, id) : undefined;
  if (user === undefined || user.serviceClient !== undefined) {
    throw new ScimError(404, `There is no user ${id.slice(0, 100)}`);
  }
  return toScimUser(user, `${base}/Users/${user.id}`);
}

/** @throws {ScimError} */
export async function createScimUser(context: ScimContext, body: unknown): Promise<Json> {
  const resource = readResource(body);
  const password = readText(resource, "password");
  const { id } = await context.callAdmin("POST", "users", {
    ...toUserFields(resource),
    ...(password !== undefined && { credentials: [{ type: "password", value: password, temporary: false }] }),
  });
  return readScimUser(context, id);
}

/** @throws {ScimError} */
export async function replaceScimUser(context: ScimContext, id: string, body: unknown): Promise<Json> {
  await readScimUser(context, id);
  const resource = readResource(body);
  const password = readText(resource, "password");
  await context.callAdmin("PUT", `users/${id}`, toUserFields(resource));
  if (password !== undefined) {
    await context.callAdmin("PUT", `users/${id}/reset-password`, {
      type: "password",
      value: password,
      temporary: false,
    });
  }
  return readScimUser(context, id);
}

/** @throws {ScimError} */
export async function patchScimUser(context: ScimContext, id: string, body: unknown): Promise<Json> {
  const { meta: _, ...present } = await readScimUser(context, id);
  return replaceScimUser(context, id, applyPatch(present, readResource(body), [PLATFORM_SCHEMA]));
}

/** @throws {ScimError} */
export async function deleteScimUser(context: ScimContext, id: string): Promise<void> {
  await readScimUser(context, id);
  await context.callAdmin("DELETE", `users/${id}`);
}
