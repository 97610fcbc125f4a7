import { isUuid } from "../../store/database.ts";
import type { ScimContext } from "./context.ts";
import { ScimError, invalidValue } from "./errors.ts";
import { GROUP_COLUMNS, type GroupRow, findMembers, readMembers, toScimGroup } from "./groups.ts";
import { project, readListQuery, toListResponse } from "./list.ts";
import { applyPatch } from "./patch.ts";
import { readResource, readText } from "./values.ts";

type Json = Record<string, unknown>;

/** @throws {ScimError} 400 */
export async function listScimGroups({ identity, handle, base }: ScimContext, query: Json): Promise<object> {
  const { where, values, order, offset, count, attributes } = readListQuery(query, GROUP_COLUMNS, "g.path");
  const from = `from user_group g where g.realm_id = $1 and ${where}`;
  const parameters = [handle.realm.id, ...values];
  const total = await identity.pool.query<{ count: string }>(`select count(*) ${from}`, parameters);
  const { rows } = await identity.pool.query<GroupRow>(
    `select g.id, g.name, g.path ${from} order by ${order} offset ${offset} limit ${count}`,
    parameters,
  );
  const members = await findMembers(
    identity.pool,
    rows.map(({ id }) => id),
  );
  const groups = rows.map((row) => project(toScimGroup(row, members.get(row.id) ?? [], base), attributes));
  return toListResponse(groups, Number(total.rows[0]?.count), offset);
}

/** @throws {ScimError} 404 */
export async function readScimGroup({ identity, handle, base }: ScimContext, id: string): Promise<Json> {
  const { rows } = isUuid(id)
    ? await identity.pool.query<GroupRow>("select id, name, path from user_group where realm_id = $1 and id = $2", [
        handle.realm.id,
        id,
      ])
    : { rows: [] };
  const group = rows[0];
  if (group === undefined) {
    throw new ScimError(404, `There is no group ${id.slice(0, 100)}`);
  }
  return toScimGroup(group, (await findMembers(identity.pool, [id])).get(id) ?? [], base);
}

/** @throws {ScimError} */
export async function createScimGroup(context: ScimContext, body: unknown): Promise<Json> {
  const resource = readResource(body);
  const members = readMembers(resource);
  const { id } = await context.callAdmin("POST", "groups", { name: readName(resource) });
  await setMembers(context, id, [], members);
  return readScimGroup(context, id);
}

/** @throws {ScimError} */
export async function replaceScimGroup(context: ScimContext, id: string, body: unknown): Promise<Json> {
  const present = await readScimGroup(context, id);
  const resource = readResource(body);
  const members = readMembers(resource);
  const name = readName(resource);
  if (name !== present["displayName"]) {
    await context.callAdmin("PUT", `groups/${id}`, { name });
  }
  await setMembers(context, id, readMembers(present), members);
  return readScimGroup(context, id);
}

/** @throws {ScimError} */
export async function patchScimGroup(context: ScimContext, id: string, body: unknown): Promise<Json> {
  const { meta: _, ...present } = await readScimGroup(context, id);
  return replaceScimGroup(context, id, applyPatch(present, readResource(body), []));
}

/** @throws {ScimError} */
export async function deleteScimGroup(context: ScimContext, id: string): Promise<void> {
  await readScimGroup(context, id);
  await context.callAdmin("DELETE", `groups/${id}`);
}

function readName(resource: Readonly<Record<string, unknown>>): string {
  const name = readText(resource, "displayName");
  if (name === undefined || name === "") {
    throw invalidValue("displayName is missing");
  }
  return name;
}

async function setMembers(
  { callAdmin }: ScimContext,
  group: string,
  before: readonly string[],
  requested: readonly string[],
): Promise<void> {
  for (const [method, users] of [
    ["PUT", requested.filter((user) => !before.includes(user))],
    ["DELETE", before.filter((user) => !requested.includes(user))],
  ] as const) {
    for (const user of users) {
      await callAdmin(method, `users/${encodeURIComponent(user)}/groups/${group}`);
    }
  }
}
