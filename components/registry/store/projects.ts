import { RegistryError } from "../errors.ts";
import { projectOf } from "../protocol/names.ts";
import { createBatch } from "./batch.ts";
import type { Sql } from "./database.ts";
import { tellWebhooks } from "./webhooks.ts";

/** Part of a quota from which on webhooks are warned, as the known product has it. */
const WARNED_AT = 0.85;

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly isPublic: boolean;
  readonly allowsSparse: boolean;
  /** Only what is signed with a trusted key is pulled for processing. */
  readonly preventsUnsigned: boolean;
  /** Public keys, PEM. */
  readonly trustedKeys: readonly string[];
  /** The registry that the project is a cache of. */
  readonly upstreamId: string | undefined;
  readonly quotaBytes: number | null;
  readonly usedBytes: number;
  readonly owner: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly is_public: boolean;
  readonly allows_sparse: boolean;
  readonly prevents_unsigned: boolean;
  readonly trusted_keys: readonly string[];
  readonly upstream_id: string | null;
  readonly quota_bytes: string | null;
  readonly used_bytes: string;
  readonly owner: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toProject = (row: ProjectRow): Project => ({
  id: row.id,
  name: row.name,
  isPublic: row.is_public,
  allowsSparse: row.allows_sparse,
  preventsUnsigned: row.prevents_unsigned,
  trustedKeys: row.trusted_keys,
  upstreamId: row.upstream_id ?? undefined,
  quotaBytes: row.quota_bytes === null ? null : Number(row.quota_bytes),
  usedBytes: Number(row.used_bytes),
  owner: row.owner,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export async function findProject(sql: Sql, name: string): Promise<Project | undefined> {
  const [row] = await sql.query<ProjectRow>("/* prepared: project */ select * from project where name = $1", [name]);
  return row && toProject(row);
}

/** Looks projects up by name for many at once: every pull and push asks for one. */
export function createProjectFinder(sql: Sql): (name: string) => Promise<Project | undefined> {
  return createBatch(async (names: readonly string[]) => {
    const rows = await sql.query<ProjectRow>("/* prepared: projects */ select * from project where name = any($1)", [
      [...new Set(names)],
    ]);
    const found = new Map(rows.map((row) => [row.name, toProject(row)]));
    return names.map((name) => found.get(name));
  });
}

export async function findProjectById(sql: Sql, id: string): Promise<Project | undefined> {
  const [row] = await sql.query<ProjectRow>("select * from project where id = $1", [id]);
  return row && toProject(row);
}

/** Every transaction that changes what is in a project begins with this, so that its quota is exact. */
export async function lockProject(tx: Sql, name: string): Promise<Project> {
  const [row] = await tx.query<ProjectRow>("select * from project where name = $1 for update", [name]);
  if (row === undefined) {
    throw new RegistryError("NAME_UNKNOWN", `The project ${name} does not exist; create it first.`);
  }
  return toProject(row);
}

/** @throws {RegistryError} DENIED when the project, locked before with less in it, has more than its quota */
export async function checkQuota(tx: Sql, before: Project): Promise<void> {
  if (before.quotaBytes === null) {
    return;
  }
  const [row] = await tx.query<{ used_bytes: string }>("select used_bytes from project where id = $1", [before.id]);
  const used = Number(row?.used_bytes);
  if (used > before.quotaBytes && used > before.usedBytes) {
    throw quotaExceeded(before, used - before.usedBytes);
  }
  const warnedAt = before.quotaBytes * WARNED_AT;
  if (used >= warnedAt && before.usedBytes < warnedAt) {
    await tellWebhooks(tx, {
      projectId: before.id,
      project: before.name,
      event: "QUOTA_WARNING",
      operator: "registry",
      details: `${used} of ${before.quotaBytes} bytes are used.`,
      resources: [],
    });
  }
}

/** @throws {RegistryError} DENIED for a push into a project that is a cache */
export async function refuseCache(sql: Sql, repository: string): Promise<void> {
  const project = await findProject(sql, projectOf(repository));
  if (project?.upstreamId !== undefined) {
    throw new RegistryError("DENIED", `The project ${project.name} is a cache of another registry; push to that one.`);
  }
}

/** Refused for want of room. */
export class QuotaError extends RegistryError {
  readonly projectId: string;

  constructor(projectId: string, ...args: ConstructorParameters<typeof RegistryError>) {
    super(...args);
    this.projectId = projectId;
  }
}

export function quotaExceeded({ id, name, quotaBytes, usedBytes }: Project, bytes: number): QuotaError {
  return new QuotaError(
    id,
    "DENIED",
    `The quota of project ${name} is exceeded: ${usedBytes} of ${quotaBytes} bytes are used, ${bytes} more do not fit. Delete something or ask for a larger quota.`,
    { detail: { quota: quotaBytes, used: usedBytes, requested: bytes } },
  );
}

export interface NewProject {
  readonly name: string;
  readonly owner: string;
  readonly isPublic: boolean;
  readonly quotaBytes: number | null;
  readonly upstreamId?: string | undefined;
}

/** Undefined when the name is taken. */
export async function createProject(
  sql: Sql,
  { name, owner, isPublic, quotaBytes, upstreamId }: NewProject,
): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into project (name, owner, is_public, quota_bytes, upstream_id) values ($1, $2, $3, $4, $5)
     on conflict (name) do nothing returning id`,
    [name, owner, isPublic, quotaBytes, upstreamId ?? null],
  );
  return row?.id;
}

export interface ProjectChange {
  readonly isPublic?: boolean;
  readonly allowsSparse?: boolean;
  readonly preventsUnsigned?: boolean;
  readonly trustedKeys?: readonly string[];
  /** null: no limit. */
  readonly quotaBytes?: number | null;
}

export async function updateProject(sql: Sql, id: string, change: ProjectChange): Promise<void> {
  const { isPublic = null, allowsSparse = null, preventsUnsigned = null, trustedKeys = null, quotaBytes } = change;
  await sql.query(
    `update project set is_public = coalesce($2, is_public), allows_sparse = coalesce($3, allows_sparse),
       quota_bytes = case when $4 then $5::bigint else quota_bytes end,
       prevents_unsigned = coalesce($6, prevents_unsigned), trusted_keys = coalesce($7, trusted_keys),
       updated_at = now() where id = $1`,
    [id, isPublic, allowsSparse, quotaBytes !== undefined, quotaBytes ?? null, preventsUnsigned, trustedKeys],
  );
}

export interface ProjectSelection {
  /** Ids of projects to show besides public ones; undefined: all. */
  readonly visible: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly isPublic?: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

export async function listProjects(
  sql: Sql,
  { visible, name, isPublic, offset, limit }: ProjectSelection,
): Promise<{ readonly projects: readonly (Project & { readonly repositories: number })[]; readonly total: number }> {
  const rows = await sql.query<ProjectRow & { total: string; repositories: string }>(
    `select *, count(*) over () as total,
       (select count(*) from repository r where r.project_id = project.id) as repositories
     from project
     where ($1::bigint[] is null or is_public or id = any($1)) and ($2::text is null or position($2 in name) > 0)
       and ($3::boolean is null or is_public = $3)
     order by name offset $4 limit $5`,
    [visible ?? null, name ?? null, isPublic ?? null, offset, limit],
  );
  return {
    projects: rows.map((row) => ({ ...toProject(row), repositories: Number(row.repositories) })),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Deletes a project that has no repositories; false when it has some. Its name is free again. */
export async function deleteEmptyProject(tx: Sql, id: string): Promise<boolean> {
  await tx.query("select from project where id = $1 for update", [id]);
  const [has] = await tx.query("select from repository where project_id = $1 limit 1", [id]);
  if (has !== undefined) {
    return false;
  }
  await tx.query("delete from project where id = $1", [id]);
  return true;
}
