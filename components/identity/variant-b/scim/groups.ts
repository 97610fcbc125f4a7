import type { Queryable } from "../../store/database.ts";
import { invalidValue } from "./errors.ts";
import type { Column } from "./filter-sql.ts";

export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

export const GROUP_COLUMNS: Readonly<Record<string, Column>> = {
  id: { sql: "g.id::text", type: "exact" },
  displayname: { sql: "g.name", type: "text" },
  "members.value": {
    sql: "(select string_agg(m.user_id::text, ' ') from group_member m where m.group_id = g.id)",
    type: "exact",
  },
};

const MAX_MEMBERS = 10_000;

/** Members of groups, by the id of the group. */
export async function findMembers(
  db: Queryable,
  groups: readonly string[],
): Promise<ReadonlyMap<string, readonly { readonly id: string; readonly username: string }[]>> {
  const { rows } = await db.query<{ group_id: string; id: string; username: string }>(
    `select m.group_id, u.id, u.username from group_member m join app_user u on u.id = m.user_id
     where m.group_id = any($1::uuid[]) and u.service_client is null order by u.username limit ${MAX_MEMBERS}`,
    [groups],
  );
  return Map.groupBy(rows, ({ group_id: group }) => group);
}

export function toScimGroup(
  { id, name }: GroupRow,
  members: readonly { readonly id: string; readonly username: string }[],
  base: string,
): Record<string, unknown> {
  return {
    schemas: [GROUP_SCHEMA],
    id,
    displayName: name,
    ...(members.length > 0 && {
      members: members.map((member) => ({
        value: member.id,
        display: member.username,
        type: "User",
        $ref: `${base}/Users/${member.id}`,
      })),
    }),
    meta: { resourceType: "Group", location: `${base}/Groups/${id}` },
  };
}

/** Ids of the members that a resource names. @throws {ScimError} 400 */
export function readMembers(resource: Readonly<Record<string, unknown>>): readonly string[] {
  const members = resource["members"] ?? [];
  if (!Array.isArray(members) || members.length > MAX_MEMBERS) {
    throw invalidValue(`members must be a list of at most ${MAX_MEMBERS}`);
  }
  return [
    ...new Set(
      members.map((member: unknown) => {
        const { value } = Object(member) as { value?: unknown };
        if (typeof value !== "string") {
          throw invalidValue("each member needs a value: the id of a user");
        }
        return value;
      }),
    ),
  ];
}
