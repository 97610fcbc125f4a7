import type { Sql } from "./database.ts";
import type { Project } from "./projects.ts";
import { discard } from "./links.ts";

/** The id of a repository, which is made when the project has none of that name. */
export async function ensureRepository(tx: Sql, project: Project, name: string): Promise<string> {
  const [row] = await tx.query<{ id: string }>("select id from repository where name = $1", [name]);
  if (row !== undefined) {
    return row.id;
  }
  // Of two at once, one waits for the other on the name.
  const [made] = await tx.query<{ id: string }>(
    `insert into repository (project_id, name, is_cache) values ($1, $2, $3)
     on conflict (name) do update set updated_at = now() returning id`,
    [project.id, name, project.upstreamId !== undefined],
  );
  return (made as { id: string }).id;
}

export async function findRepository(
  sql: Sql,
  name: string,
): Promise<{ readonly id: string; readonly projectId: string } | undefined> {
  const [row] = await sql.query<{ id: string; project_id: string }>(
    "/* prepared: repository */ select id, project_id from repository where name = $1",
    [name],
  );
  return row && { id: row.id, projectId: row.project_id };
}

/** Deletes a repository and everything in it. The project is locked. */
export async function deleteRepository(tx: Sql, id: string): Promise<void> {
  const uploads = await tx.query<{ id: string }>("delete from upload where repository_id = $1 returning id", [id]);
  await discard(
    tx,
    uploads.map((upload) => upload.id),
  );
  await tx.query("delete from manifest where repository_id = $1", [id]);
  await tx.query("delete from repository_blob where repository_id = $1", [id]);
  await tx.query("delete from repository where id = $1", [id]);
}

/** Names of repositories in order, of the projects given or of all, after `last`. */
export async function listRepositoryNames(
  sql: Sql,
  { visible, last, n }: { readonly visible: readonly string[] | undefined; readonly last: string; readonly n: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ name: string }>(
    `select r.name from repository r join project p on p.id = r.project_id
     where r.name > $1 and ($2::bigint[] is null or p.is_public or p.id = any($2))
       and exists (select from manifest m where m.repository_id = r.id)
     order by r.name limit $3`,
    [last, visible ?? null, n],
  );
  return rows.map(({ name }) => name);
}

/** Takes away repositories that nothing was pushed to in the end. The project is locked. */
export async function deleteEmptyRepositories(tx: Sql, projectId: string): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    `select id from repository r where project_id = $1
       and not exists (select from manifest m where m.repository_id = r.id)`,
    [projectId],
  );
  for (const { id } of rows) {
    await deleteRepository(tx, id);
  }
}
