import type { Sql } from "./database.ts";

export interface AuditEntry {
  readonly actor: string;
  /** `push`, `delete`, `create`, `update`. */
  readonly operation: string;
  readonly project: string;
  readonly resourceType: string;
  readonly resource: string;
}

export async function addAudit(
  tx: Sql,
  { actor, operation, project, resourceType, resource }: AuditEntry,
): Promise<void> {
  await tx.query("insert into audit (actor, operation, project, resource_type, resource) values ($1, $2, $3, $4, $5)", [
    actor,
    operation,
    project,
    resourceType,
    resource,
  ]);
}

export interface AuditRecord extends AuditEntry {
  readonly id: number;
  readonly at: Date;
}

/** The latest first; of one project or of all. */
export async function listAudit(
  sql: Sql,
  { project, offset, limit }: { readonly project: string | undefined; readonly offset: number; readonly limit: number },
): Promise<{ readonly records: readonly AuditRecord[]; readonly total: number }> {
  const rows = await sql.query<{
    id: string;
    at: Date;
    actor: string;
    operation: string;
    project: string;
    resource_type: string;
    resource: string;
  }>("select * from audit where $1::text is null or project = $1 order by id desc offset $2 limit $3", [
    project ?? null,
    offset,
    limit,
  ]);
  const [count] = await sql.query<{ total: string }>(
    "select count(*) as total from audit where $1::text is null or project = $1",
    [project ?? null],
  );
  return {
    records: rows.map((row) => ({
      id: Number(row.id),
      at: row.at,
      actor: row.actor,
      operation: row.operation,
      project: row.project,
      resourceType: row.resource_type,
      resource: row.resource,
    })),
    total: Number(count?.total ?? 0),
  };
}
