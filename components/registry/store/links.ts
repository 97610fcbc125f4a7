import type { Holder } from "../access/caller.ts";
import type { Sql } from "./database.ts";

/** A blob as a repository has it. */
export interface LinkedBlob {
  readonly digest: string;
  readonly size: number;
  readonly storageId: string;
}

export async function findLinkedBlob(sql: Sql, repository: string, digest: string): Promise<LinkedBlob | undefined> {
  const [row] = await sql.query<{ digest: string; size: string; storage_id: string }>(
    `/* prepared: linked-blob */ select b.digest, b.size, b.storage_id from repository r
       join repository_blob l on l.repository_id = r.id and l.digest = $2 join blob b on b.digest = l.digest
     where r.name = $1`,
    [repository, digest],
  );
  return row && { digest: row.digest, size: Number(row.size), storageId: row.storage_id };
}

export interface Pin {
  readonly repositoryId: string;
  readonly digest: string;
  readonly holder: Holder;
  readonly seconds: number;
}

/** Notes that a push relies on a blob of the repository. False when the blob is not there any more. */
export async function pinBlob(
  sql: Sql,
  repository: string,
  { digest, holder, seconds }: Omit<Pin, "repositoryId">,
): Promise<boolean> {
  // The row lock makes whoever removes the link wait, and see the pin.
  const rows = await sql.query(
    `/* prepared: pin-blob */ with link as (
       select l.repository_id, l.digest from repository_blob l join repository r on r.id = l.repository_id
       where r.name = $1 and l.digest = $2 for key share of l)
     insert into pin (repository_id, digest, holder, subject, until)
       select repository_id, digest, $3, $4, now() + $5 * interval '1 second' from link
     on conflict (repository_id, digest, holder) do update set until = excluded.until
     returning 1 as pinned`,
    [repository, digest, holder.token, holder.subject, seconds],
  );
  return rows.length > 0;
}

/** Links content of this digest, which is there already, into a repository, held by a pin. False when it is not there. */
export async function linkBlob(tx: Sql, projectId: string, pin: Pin): Promise<boolean> {
  const { repositoryId, digest, holder, seconds } = pin;
  const [blob] = await tx.query<{ size: string }>("select size from blob where digest = $1 for update", [digest]);
  if (blob === undefined) {
    return false;
  }
  await tx.query(
    `insert into repository_blob (repository_id, project_id, digest, size) values ($1, $2, $3, $4)
     on conflict (repository_id, digest) do nothing`,
    [repositoryId, projectId, digest, blob.size],
  );
  await tx.query(
    `insert into pin (repository_id, digest, holder, subject, until)
     values ($1, $2, $3, $4, now() + $5 * interval '1 second')
     on conflict (repository_id, digest, holder) do update set until = excluded.until`,
    [repositoryId, digest, holder.token, holder.subject, seconds],
  );
  return true;
}

/** Makes freshly stored content known; where the digest is known already, the new copy is discarded and the old one linked. */
export async function addBlob(tx: Sql, blob: LinkedBlob): Promise<void> {
  // The update changes nothing and locks the row that is there, so that it is not collected before it is linked.
  const [row] = await tx.query<{ storage_id: string }>(
    `insert into blob (digest, size, storage_id) values ($1, $2, $3)
     on conflict (digest) do update set created_at = blob.created_at returning storage_id`,
    [blob.digest, blob.size, blob.storageId],
  );
  if (row?.storage_id !== blob.storageId) {
    await discard(tx, [blob.storageId]);
  }
}

/** Hands content over to be deleted from the blob store. */
export async function discard(tx: Sql, storageIds: readonly string[]): Promise<void> {
  // Telling of nothing would wake the collector, which ends here again.
  if (storageIds.length === 0) {
    return;
  }
  await tx.query("insert into discarded (storage_id) select unnest($1::uuid[]) on conflict (storage_id) do nothing", [
    storageIds,
  ]);
  await tx.query("notify registry_garbage");
}

/**
 * Takes blobs out of a repository that no manifest of it refers to and no push relies on. The project is locked. Those of
 * `digests` that stay are in use.
 */
export async function unlinkUnused(tx: Sql, repositoryId: string, digests: readonly string[]): Promise<number> {
  await tx.query(
    "select from repository_blob where repository_id = $1 and digest = any($2) order by digest for update",
    [repositoryId, digests],
  );
  // A statement of its own: it sees what was committed by whoever held the locks.
  const removed = await tx.query(
    `delete from repository_blob l where repository_id = $1 and digest = any($2)
       and not exists (select from manifest_blob m where m.repository_id = $1 and m.blob = l.digest)
       and not exists (select from pin p where p.repository_id = $1 and p.digest = l.digest and p.until > now())
     returning 1 as removed`,
    [repositoryId, digests],
  );
  return removed.length;
}
