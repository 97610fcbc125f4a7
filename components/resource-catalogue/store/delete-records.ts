import type pg from "pg";

import { writeOne } from "./held-collections.ts";
import { releaseParts } from "./partitions/retire.ts";
import { removeOld } from "./record-keys.ts";
import { inTransaction } from "./transaction.ts";
import { type Owner, WriteConflict, lockCollection, noteChange } from "./write-records.ts";

interface Deletion {
  readonly collection: number;
  readonly id: string;
  readonly expectedVersion?: { readonly n: string; readonly version: number };
}

/** Deletes one record. @throws {WriteConflict} where it does not exist, or is not of the expected version */
export function deleteRecord(pool: pg.Pool, deletion: Deletion): Promise<void> {
  return writeOne(pool, deletion.collection, () =>
    inTransaction(pool, (client) => deleteInTransaction(client, deletion)),
  );
}

/** The same inside a transaction of the caller's. */
export async function deleteInTransaction(
  client: pg.PoolClient,
  { collection, id, expectedVersion }: Deletion,
): Promise<void> {
  const owner = await lockCollection(client, collection);
  const { rows } = await client.query<{ part: number; n: string }>(
    "delete from record_key where id = $1 and collection = $2 and not is_collection returning part, n",
    [id, collection],
  );
  const [key] = rows;
  if (key === undefined) {
    throw new WriteConflict("missing", [id]);
  }
  const before = await removeOld(client, [key]);
  const version = before.get(key.n)?.version;
  if (expectedVersion !== undefined && (key.n !== expectedVersion.n || version !== expectedVersion.version)) {
    throw new WriteConflict("changed", [id]);
  }
  await noteChange(client, owner, { operation: "d", areCollections: false, ids: [id] });
}

/** Deletes a collection with everything in it. */
export function deleteCollection(pool: pg.Pool, key: number): Promise<void> {
  return writeOne(pool, key, () => inTransaction(pool, (client) => deleteCollectionInTransaction(client, key)));
}

async function deleteCollectionInTransaction(client: pg.PoolClient, key: number): Promise<void> {
  // Writers of its records hold a share of it: they end first, or find it gone.
  const { rows } = await client.query<Owner>(
    "delete from collection where key = $1 returning id, workspace, is_public",
    [key],
  );
  const [owner] = rows;
  if (owner === undefined) {
    throw new WriteConflict("missing", []);
  }
  await client.query(
    `with gone as (delete from record where collection = $1 returning id, kind)
       delete from record_key k using gone g where k.id = g.id and k.collection = $1 and k.is_collection = (g.kind = 'c')`,
    [key],
  );
  await releaseParts(client, key);
  await noteChange(client, owner, { operation: "d", areCollections: true, ids: [owner.id] });
}
