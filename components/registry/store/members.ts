import type { Role } from "../access/actions.ts";
import type { Sql } from "./database.ts";

export interface Member {
  readonly id: number;
  readonly kind: "user" | "group";
  readonly name: string;
  readonly role: Role;
}

interface MemberRow extends Omit<Member, "id"> {
  readonly id: string;
}

const toMember = ({ id, kind, name, role }: MemberRow): Member => ({ id: Number(id), kind, name, role });

export async function listMembers(
  sql: Sql,
  projectId: string,
  { name, offset, limit }: { readonly name: string | undefined; readonly offset: number; readonly limit: number },
): Promise<{ readonly members: readonly Member[]; readonly total: number }> {
  const rows = await sql.query<MemberRow & { total: string }>(
    `select id, kind, name, role, count(*) over () as total from member
     where project_id = $1 and ($2::text is null or position($2 in name) > 0) order by name, kind offset $3 limit $4`,
    [projectId, name ?? null, offset, limit],
  );
  return { members: rows.map(toMember), total: Number(rows[0]?.total ?? 0) };
}

export async function findMember(sql: Sql, projectId: string, id: number): Promise<Member | undefined> {
  const [row] = await sql.query<MemberRow>(
    "select id, kind, name, role from member where project_id = $1 and id = $2",
    [projectId, id],
  );
  return row && toMember(row);
}

/** Undefined when it is a member already. */
export async function addMember(
  sql: Sql,
  projectId: string,
  { kind, name, role }: Omit<Member, "id">,
): Promise<number | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into member (project_id, kind, name, role) values ($1, $2, $3, $4)
     on conflict (project_id, kind, name) do nothing returning id`,
    [projectId, kind, name, role],
  );
  return row && Number(row.id);
}

export async function setMemberRole(sql: Sql, id: number, role: Role): Promise<void> {
  await sql.query("update member set role = $2 where id = $1", [id, role]);
}

export async function removeMember(sql: Sql, id: number): Promise<void> {
  await sql.query("delete from member where id = $1", [id]);
}
