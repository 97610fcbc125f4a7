import type pg from "pg";

import { collectionToRecord } from "../model/from-stac.ts";
import { prepareRecordCells } from "./record-columns.ts";
import { inTransaction } from "./transaction.ts";
import { writeInTransaction } from "./write-records.ts";

/** The collection of records that belong to no other, with a record of its own that operators may replace; made when it is missing. */
export async function ensureMainRecord(pool: pg.Pool, id: string, workspace: string | null): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query(
      "insert into collection (id, workspace, is_public) values ($1, $2, $3) on conflict (id) do nothing",
      [id, workspace, workspace === null],
    );
    await client.query("select from collection where id = $1 for update", [id]);
    // A statement of its own: it sees what another process wrote while this one waited for the lock.
    const { rows } = await client.query<{ key: number; has_record: boolean }>(
      `select c.key, exists (select 1 from record_key k where k.id = c.id and k.collection = c.key and k.is_collection) as has_record
       from collection c where c.id = $1`,
      [id],
    );
    const [entry] = rows;
    if (entry !== undefined && !entry.has_record) {
      const value = toDocument(id, workspace);
      await writeInTransaction(client, [prepareRecordCells(collectionToRecord(JSON.stringify(value), value))], {
        mode: "insert",
        collection: entry.key,
      });
    }
  });
}

const toDocument = (id: string, workspace: string | null): Readonly<Record<string, unknown>> => ({
  type: "Collection",
  stac_version: "1.1.0",
  id,
  title: workspace === null ? "Records of the platform" : `Records of the workspace ${workspace}`,
  description: "Services, application packages and other records that belong to no other collection.",
  license: "other",
  extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
  links: [],
});
