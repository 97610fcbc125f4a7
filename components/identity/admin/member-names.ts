import type { AuthzPolicy } from "../store/authz-policies.ts";
import type { Queryable } from "../store/database.ts";
import { MEMBER_KINDS } from "./policy-records.ts";

/** Ids of users, groups, roles and clients, and what they are called: `eric`, `/projects/forest`, `ades/operator`, `portal`. */
export type MemberNames = ReadonlyMap<string, string>;

type Policy = Pick<AuthzPolicy, "config">;

/** Finds the names of those that policies speak of. */
export async function loadMemberNames(db: Queryable, policies: readonly Policy[]): Promise<MemberNames> {
  const ids = policies.flatMap((policy) =>
    Object.values(MEMBER_KINDS).flatMap((field) => listMembers(policy, field).map(({ id }) => id)),
  );
  const { rows } = await db.query<{ id: string; name: string }>(
    `select id, username as name from app_user where id = any($1::uuid[])
     union all select id, path from user_group where id = any($1::uuid[])
     union all select id, client_id from client where id = any($1::uuid[])
     union all select r.id, concat_ws('/', c.client_id, r.name) from role r left join client c on c.id = r.client
       where r.id = any($1::uuid[])`,
    [[...new Set(ids)]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The members of a policy by name, each with what else is said of it. */
export function nameMembers(policy: Policy, names: MemberNames): object {
  return Object.fromEntries(
    Object.values(MEMBER_KINDS).flatMap((field) =>
      Array.isArray(policy.config[field])
        ? [
            [
              field,
              listMembers(policy, field).map(({ id, isText, rest }) => {
                const name = names.get(id) ?? id;
                return isText ? name : { ...rest, id: name };
              }),
            ] as const,
          ]
        : [],
    ),
  );
}

/** The members of one kind: users and clients are ids, roles and groups are objects with one. */
export function listMembers({ config }: Policy, field: string) {
  const list = config[field];
  return (Array.isArray(list) ? (list as readonly unknown[]) : []).map((item) => {
    const isText = typeof item === "string";
    const { id = "", ...rest } = isText ? { id: item } : (item as { readonly id?: string });
    return { id, isText, rest };
  });
}
