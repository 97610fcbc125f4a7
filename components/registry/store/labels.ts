import type { Sql } from "./database.ts";

export interface Label {
  readonly id: string;
  /** Undefined: of the whole registry. */
  readonly projectId: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly color: string;
  readonly createdAt: Date;
}

interface LabelRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly name: string;
  readonly description: string;
  readonly color: string;
  readonly created_at: Date;
}

const toLabel = (row: LabelRow): Label => ({
  id: row.id,
  projectId: row.project_id ?? undefined,
  name: row.name,
  description: row.description,
  color: row.color,
  createdAt: row.created_at,
});

/** Labels of a project, or those of the whole registry. */
export async function listLabels(sql: Sql, projectId: string | undefined): Promise<readonly Label[]> {
  const rows = await sql.query<LabelRow>("select * from label where project_id is not distinct from $1 order by name", [
    projectId ?? null,
  ]);
  return rows.map(toLabel);
}

export async function findLabel(sql: Sql, id: string): Promise<Label | undefined> {
  const [row] = await sql.query<LabelRow>("select * from label where id = $1", [id]);
  return row && toLabel(row);
}

export type LabelValues = Pick<Label, "name" | "description" | "color">;

/** Undefined when the name is taken. */
export async function insertLabel(
  sql: Sql,
  projectId: string | undefined,
  { name, description, color }: LabelValues,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into label (project_id, name, description, color) values ($1, $2, $3, $4)
     on conflict (project_id, name) do nothing returning id`,
    [projectId ?? null, name, description, color],
  );
  return row?.id;
}

/** False when the name is another one's. */
export async function updateLabel(sql: Sql, id: string, { name, description, color }: LabelValues): Promise<boolean> {
  const rows = await sql.query(
    `update label l set name = $2, description = $3, color = $4 where id = $1 and not exists (
       select from label o where o.name = $2 and o.id <> $1 and o.project_id is not distinct from l.project_id)
     returning 1 as updated`,
    [id, name, description, color],
  );
  return rows.length > 0;
}

export async function deleteLabel(sql: Sql, id: string): Promise<void> {
  await sql.query("delete from label where id = $1", [id]);
}

/** False when the artifact has it already. */
export async function addLabel(sql: Sql, repositoryId: string, digest: string, labelId: string): Promise<boolean> {
  const rows = await sql.query(
    `insert into manifest_label (repository_id, digest, label_id) values ($1, $2, $3)
     on conflict do nothing returning 1 as added`,
    [repositoryId, digest, labelId],
  );
  return rows.length > 0;
}

/** False when the artifact does not have it. */
export async function removeLabel(sql: Sql, repositoryId: string, digest: string, labelId: string): Promise<boolean> {
  const rows = await sql.query(
    "delete from manifest_label where repository_id = $1 and digest = $2 and label_id = $3 returning 1 as removed",
    [repositoryId, digest, labelId],
  );
  return rows.length > 0;
}
