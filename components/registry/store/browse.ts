import type { Sql } from "./database.ts";

export interface RepositorySummary {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly description: string;
  readonly pullCount: number;
  readonly artifacts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface RepositorySelection {
  /** One project, … */
  readonly projectId?: string | undefined;
  /** … or those that the caller sees besides public ones; undefined: all. */
  readonly visible?: readonly string[] | undefined;
  /** A part of the name. */
  readonly text?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Repositories that have something in them, by name. */
export async function browseRepositories(
  sql: Sql,
  { projectId, visible, text, offset, limit }: RepositorySelection,
): Promise<{ readonly repositories: readonly RepositorySummary[]; readonly total: number }> {
  const rows = await sql.query<{
    id: string;
    project_id: string;
    name: string;
    description: string;
    pull_count: string;
    artifacts: string;
    created_at: Date;
    updated_at: Date;
    total: string;
  }>(
    `select r.*, (select count(*) from manifest m where m.repository_id = r.id) as artifacts, count(*) over () as total
     from repository r join project p on p.id = r.project_id
     where ($1::bigint is null or r.project_id = $1) and ($2::bigint[] is null or p.is_public or p.id = any($2))
       and ($3::text is null or position($3 in r.name) > 0)
       and exists (select from manifest m where m.repository_id = r.id)
     order by r.name offset $4 limit $5`,
    [projectId ?? null, visible ?? null, text ?? null, offset, limit],
  );
  return {
    repositories: rows.map((row) => ({
      id: Number(row.id),
      projectId: Number(row.project_id),
      name: row.name,
      description: row.description,
      pullCount: Number(row.pull_count),
      artifacts: Number(row.artifacts),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    })),
    total: Number(rows[0]?.total ?? 0),
  };
}

export interface ArtifactTag {
  readonly name: string;
  readonly pushedAt: string;
  readonly pulledAt: string | null;
}

export interface Artifact {
  readonly digest: string;
  readonly mediaType: string;
  readonly artifactType: string | null;
  readonly subject: string | null;
  readonly size: number;
  readonly annotations: Readonly<Record<string, string>> | null;
  readonly pushedBy: string;
  readonly pushedAt: Date;
  readonly pulledAt: Date | null;
  readonly tags: readonly ArtifactTag[];
  readonly children: readonly string[];
  readonly labels: readonly ArtifactLabel[];
}

export interface ArtifactLabel {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

interface ArtifactRow {
  readonly digest: string;
  readonly media_type: string;
  readonly artifact_type: string | null;
  readonly subject: string | null;
  readonly total_size: string;
  readonly annotations: Readonly<Record<string, string>> | null;
  readonly pushed_by: string;
  readonly pushed_at: Date;
  readonly pulled_at: Date | null;
  readonly tags: readonly ArtifactTag[] | null;
  readonly children: readonly string[] | null;
  readonly labels: readonly ArtifactLabel[] | null;
  readonly total: string;
}

/** Tags of one artifact that are listed with it. */
const MAX_TAGS_SHOWN = 1000;
const COLUMNS = `m.digest, m.media_type, m.artifact_type, m.subject, m.total_size, m.annotations, m.pushed_by, m.pushed_at, m.pulled_at,
  (select json_agg(json_build_object('name', t.name, 'pushedAt', t.pushed_at, 'pulledAt', t.pulled_at)) from (
     select * from tag t where t.repository_id = m.repository_id and t.digest = m.digest
     order by pushed_at desc limit ${MAX_TAGS_SHOWN}) t) as tags,
  (select json_agg(c.child) from manifest_child c where c.repository_id = m.repository_id and c.parent = m.digest) as children,
  (select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.name) from manifest_label ml
   join label l on l.id = ml.label_id where ml.repository_id = m.repository_id and ml.digest = m.digest) as labels`;

const toArtifact = (row: ArtifactRow): Artifact => ({
  digest: row.digest,
  mediaType: row.media_type,
  artifactType: row.artifact_type,
  subject: row.subject,
  size: Number(row.total_size),
  annotations: row.annotations,
  pushedBy: row.pushed_by,
  pushedAt: row.pushed_at,
  pulledAt: row.pulled_at,
  tags: row.tags ?? [],
  children: row.children ?? [],
  labels: row.labels ?? [],
});

/** Artifacts of a repository that stand for themselves (not parts of an index, not referrers), the latest push first. */
export async function browseArtifacts(
  sql: Sql,
  repositoryId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly artifacts: readonly Artifact[]; readonly total: number }> {
  const rows = await sql.query<ArtifactRow>(
    `select ${COLUMNS}, total from (
       select *, count(*) over () as total from manifest m
       where repository_id = $1 and subject is null and (
         exists (select from tag t where t.repository_id = $1 and t.digest = m.digest)
         or not exists (select from manifest_child c where c.repository_id = $1 and c.child = m.digest))
       order by pushed_at desc, digest offset $2 limit $3) m order by m.pushed_at desc, m.digest`,
    [repositoryId, offset, limit],
  );
  return { artifacts: rows.map(toArtifact), total: Number(rows[0]?.total ?? 0) };
}

/** An artifact by digest or tag. */
export async function findArtifact(sql: Sql, repositoryId: string, reference: string): Promise<Artifact | undefined> {
  const [row] = await sql.query<ArtifactRow>(
    `select ${COLUMNS} from manifest m where repository_id = $1 and digest = case when position(':' in $2) > 0 then $2
       else (select digest from tag where repository_id = $1 and name = $2) end`,
    [repositoryId, reference],
  );
  return row && toArtifact(row);
}

export interface Totals {
  readonly projects: number;
  readonly publicProjects: number;
  readonly repositories: number;
  readonly publicRepositories: number;
  readonly bytes: number;
}

export async function readTotals(sql: Sql): Promise<Totals> {
  const [row] = await sql.query<Record<keyof Totals, string>>(
    `select (select count(*) from project) as projects,
       (select count(*) from project where is_public) as "publicProjects",
       (select count(*) from repository) as repositories,
       (select count(*) from repository r join project p on p.id = r.project_id where p.is_public) as "publicRepositories",
       (select coalesce(sum(size), 0) from blob) as bytes`,
  );
  return {
    projects: Number(row?.projects),
    publicProjects: Number(row?.publicProjects),
    repositories: Number(row?.repositories),
    publicRepositories: Number(row?.publicRepositories),
    bytes: Number(row?.bytes),
  };
}
