import type { WriterState } from "../blobs/blob-store.ts";
import type { DigestAlgorithm } from "../protocol/digest.ts";
import type { Sql } from "./database.ts";

export interface Upload {
  readonly id: string;
  readonly repositoryId: string;
  readonly projectId: string;
  readonly algorithm: DigestAlgorithm;
  readonly received: number;
  readonly state: WriterState | undefined;
}

interface UploadRow {
  readonly id: string;
  readonly repository_id: string;
  readonly project_id: string;
  readonly algorithm: DigestAlgorithm;
  readonly received: string;
  readonly state: WriterState | null;
}

const toUpload = (row: UploadRow): Upload => ({
  id: row.id,
  repositoryId: row.repository_id,
  projectId: row.project_id,
  algorithm: row.algorithm,
  received: Number(row.received),
  state: row.state ?? undefined,
});

/** Seconds that a writer is believed to be at work without a sign of it. */
const LEASE_SECONDS = 15;
const COLUMNS = "u.id, u.repository_id, u.project_id, u.algorithm, u.received, u.state";

interface NewUpload {
  readonly id: string;
  readonly repositoryId: string;
  readonly projectId: string;
  readonly algorithm: DigestAlgorithm;
  readonly createdBy: string;
}

export async function insertUpload(tx: Sql, upload: NewUpload): Promise<void> {
  await tx.query(
    "insert into upload (id, repository_id, project_id, algorithm, created_by) values ($1, $2, $3, $4, $5)",
    [upload.id, upload.repositoryId, upload.projectId, upload.algorithm, upload.createdBy],
  );
}

export async function findUpload(sql: Sql, repository: string, id: string): Promise<Upload | undefined> {
  const [row] = await sql.query<UploadRow>(
    `select ${COLUMNS} from upload u join repository r on r.id = u.repository_id where u.id = $1 and r.name = $2`,
    [id, repository],
  );
  return row && toUpload(row);
}

/** Takes an upload for one writer. Undefined while another one has it. */
export async function leaseUpload(sql: Sql, id: string, writer: string): Promise<Upload | undefined> {
  const [row] = await sql.query<UploadRow>(
    `update upload u set writer = $2, leased_until = now() + interval '${LEASE_SECONDS} seconds'
     where id = $1 and (leased_until is null or leased_until < now()) returning ${COLUMNS}`,
    [id, writer],
  );
  return row && toUpload(row);
}

export async function renewLeases(sql: Sql, writers: readonly string[]): Promise<void> {
  await sql.query(
    `update upload set leased_until = now() + interval '${LEASE_SECONDS} seconds', updated_at = now()
     where writer = any($1) and leased_until is not null`,
    [writers],
  );
}

/** Keeps what a writer made durable and lets the upload go. False when it is not this writer's any more. */
export async function saveUpload(
  sql: Sql,
  { id, writer, received, state }: { id: string; writer: string; received: number; state: WriterState },
): Promise<boolean> {
  const rows = await sql.query(
    `update upload set received = $3, state = $4, leased_until = null, writer = null, updated_at = now()
     where id = $1 and writer = $2 returning 1 as saved`,
    [id, writer, received, JSON.stringify(state)],
  );
  return rows.length > 0;
}

/** Lets an upload go as it was before. */
export async function releaseUpload(sql: Sql, id: string, writer: string): Promise<void> {
  await sql.query("update upload set leased_until = null, writer = null where id = $1 and writer = $2", [id, writer]);
}

/** Ends an upload; false when it is another writer's, or gone. */
export async function deleteUpload(tx: Sql, id: string, writer: string): Promise<boolean> {
  const rows = await tx.query("delete from upload where id = $1 and writer = $2 returning 1 as deleted", [id, writer]);
  return rows.length > 0;
}

/** Bytes of the uploads of a project that are under way. */
export async function sumUploads(sql: Sql, projectId: string): Promise<number> {
  const [row] = await sql.query<{ bytes: string | null }>(
    "select sum(received) as bytes from upload where project_id = $1",
    [projectId],
  );
  return Number(row?.bytes ?? 0);
}

/** Ends uploads that nobody goes on with; gives the ids of their content. */
export async function deleteStaleUploads(tx: Sql, seconds: number): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from upload where id in (
       select id from upload where updated_at < now() - $1 * interval '1 second'
         and (leased_until is null or leased_until < now()) order by updated_at limit 100 for update skip locked)
     returning id`,
    [seconds],
  );
  return rows.map(({ id }) => id);
}

/** After a restart of the only process that writes, no writer is left. */
export async function dropLeases(sql: Sql): Promise<void> {
  await sql.query("update upload set leased_until = null, writer = null where leased_until is not null");
}
