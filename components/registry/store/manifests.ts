import type { Sql } from "./database.ts";

/** A manifest as it is sent to clients. */
export interface StoredManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly content: Buffer;
  /** Of a project that is a cache of another registry. */
  readonly isCached: boolean;
}

/** One manifest to look up: by digest, or by tag. */
export interface ManifestKey {
  readonly repository: string;
  readonly reference: string;
}

/** A manifest that a repository has, and the project that says who may pull it. */
export interface FoundManifest extends Omit<StoredManifest, "content"> {
  readonly project: { readonly id: string; readonly name: string; readonly isPublic: boolean };
}

interface FoundRow {
  readonly position: number;
  readonly digest: string;
  readonly media_type: string;
  readonly is_cache: boolean;
  readonly project_id: string;
  readonly project: string;
  readonly is_public: boolean;
}

/**
 * Digest, media type and project of each key, in their order; undefined where there is none. Many at once, because a round trip to the
 * database costs more than a row.
 */
export async function resolveManifests(
  sql: Sql,
  keys: readonly ManifestKey[],
): Promise<readonly (FoundManifest | undefined)[]> {
  const rows = await sql.query<FoundRow>(
    `/* prepared: resolve-manifests */ select k.position::int, m.digest, m.media_type, r.is_cache,
       p.id as project_id, p.name as project, p.is_public
     from unnest($1::text[], $2::text[]) with ordinality k(repository, reference, position)
     join repository r on r.name = k.repository collate "C"
     join project p on p.id = r.project_id
     left join tag t on t.repository_id = r.id and t.name = k.reference collate "C"
     join manifest m on m.repository_id = r.id
       and m.digest = case when position(':' in k.reference) > 0 then k.reference collate "C" else t.digest end`,
    [keys.map(({ repository }) => repository), keys.map(({ reference }) => reference)],
  );
  const found: (FoundManifest | undefined)[] = keys.map(() => undefined);
  for (const row of rows) {
    found[row.position - 1] = {
      digest: row.digest,
      mediaType: row.media_type,
      isCached: row.is_cache,
      project: { id: row.project_id, name: row.project, isPublic: row.is_public },
    };
  }
  return found;
}

export async function readManifestContent(sql: Sql, repository: string, digest: string): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ content: Buffer }>(
    `/* prepared: manifest-content */ select m.content from manifest m join repository r on r.id = m.repository_id
     where r.name = $1 and m.digest = $2`,
    [repository, digest],
  );
  return row?.content;
}

/** A manifest by its digest. */
export async function readManifest(sql: Sql, repository: string, digest: string): Promise<StoredManifest | undefined> {
  const [row] = await sql.query<{ media_type: string; content: Buffer; is_cache: boolean }>(
    `/* prepared: manifest */ select m.media_type, m.content, r.is_cache from manifest m
     join repository r on r.id = m.repository_id where r.name = $1 and m.digest = $2`,
    [repository, digest],
  );
  return row && { digest, mediaType: row.media_type, content: row.content, isCached: row.is_cache };
}

export async function listTags(
  sql: Sql,
  repositoryId: string,
  { last, n }: { readonly last: string; readonly n: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    `/* prepared: list-tags */ select name from tag where repository_id = $1 and name > $2 order by name limit $3`,
    [repositoryId, last, n],
  );
  return rows.map(({ name }) => name);
}

export interface Referrer {
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  readonly artifactType: string | null;
  readonly annotations: Readonly<Record<string, string>> | null;
}

/** Annotations are listed, and a page of them stays small: it ends behind the manifest that goes over this. */
const MAX_REFERRERS_BYTES = 4 << 20;

/** Manifests of a repository whose subject is `subject`, in the order of their digests, after `last`: `n` at most. */
export async function listReferrers(
  sql: Sql,
  repository: string,
  query: {
    readonly subject: string;
    readonly artifactType: string | undefined;
    readonly last: string;
    readonly n: number;
  },
): Promise<readonly Referrer[]> {
  const rows = await sql.query<{
    digest: string;
    media_type: string;
    size: string;
    artifact_type: string | null;
    annotations: Readonly<Record<string, string>> | null;
  }>(
    `select m.digest, m.media_type, m.size, m.artifact_type, m.annotations from (
       select m.repository_id, m.digest, m.size, sum(m.size) over (order by m.digest) as bytes
       from manifest m join repository r on r.id = m.repository_id
       where r.name = $1 and m.subject = $2 and ($3::text is null or m.artifact_type = $3) and m.digest > $4
       order by m.digest limit $5) page
     join manifest m on m.repository_id = page.repository_id and m.digest = page.digest
     where page.bytes - page.size <= $6 order by m.digest`,
    [repository, query.subject, query.artifactType ?? null, query.last, query.n, MAX_REFERRERS_BYTES],
  );
  return rows.map((row) => ({
    digest: row.digest,
    mediaType: row.media_type,
    size: Number(row.size),
    artifactType: row.artifact_type,
    annotations: row.annotations,
  }));
}
