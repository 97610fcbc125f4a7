import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import pg from "pg";

/** Counts as they are kept, beside the same counted anew. */
const COUNTS = `
  select 'refs of ' || b.digest as what, b.refs as kept, count(l.*) as counted
    from registry.blob b left join registry.repository_blob l on l.digest = b.digest group by b.digest, b.refs
  union all
  select 'project blobs of ' || p.name, (select count(*) from registry.project_blob c where c.project_id = p.id),
    (select count(distinct l.digest) from registry.repository_blob l where l.project_id = p.id) from registry.project p
  union all
  select 'bytes of ' || p.name, p.used_bytes,
    coalesce((select sum(size) from (select distinct digest, size from registry.repository_blob where project_id = p.id) d), 0)
    + coalesce((select sum(size) from registry.manifest where project_id = p.id), 0)
    from registry.project p`;

/**
 * Checks that every count of the database is what is counted anew, that it knows all content, and that there is content of every blob.
 * @param list ids of the content in the blob store
 */
export async function checkStore(
  url: string,
  list: () => Promise<readonly string[]>,
): Promise<{ readonly files: number; readonly blobs: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ what: string; kept: string; counted: string }>(COUNTS);
    assert.deepEqual(
      rows.filter(({ kept, counted }) => Number(kept) !== Number(counted)),
      [],
    );
    // Listed first: what comes meanwhile has its row already.
    const files = await list();
    const { rows: known } = await client.query<{ id: string; is_blob: boolean }>(
      `select storage_id::text as id, true as is_blob from registry.blob
       union all select id::text, false from registry.upload union all select storage_id::text, false from registry.discarded`,
    );
    const ids = new Set(known.map(({ id }) => id));
    assert.deepEqual(
      files.filter((file) => !ids.has(file)),
      [],
      "content that no row knows",
    );
    const blobs = known.filter(({ is_blob }) => is_blob);
    assert.deepEqual(
      blobs.filter(({ id }) => !files.includes(id)),
      [],
      "blobs without content",
    );
    return { files: files.length, blobs: blobs.length };
  } finally {
    await client.end();
  }
}

/** Lists the content of a registry that keeps it as files. */
export const filesOf =
  ({ folder }: { readonly folder: string }) =>
  async (): Promise<readonly string[]> => {
    const root = join(folder, "blobs");
    return readdirSync(root).flatMap((name) => readdirSync(join(root, name)));
  };
