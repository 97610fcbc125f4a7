import type pg from "pg";

/** A record of the catalogue as this service knows it. */
export interface KnownRecord {
  readonly collection: string;
  readonly id: string;
}

/** A record that is about to be written. */
export interface RecordChange {
  readonly id: string;
  /** SHA-256 of the document; null removes the record. */
  readonly hash: Buffer | null;
  /** The address that it was read from. */
  readonly document?: string;
}

export interface ChangeOrigin {
  readonly scope: string;
  readonly collection: string;
  /** The task; a higher one was accepted later. */
  readonly sequence: string;
  /** The address that was registered. */
  readonly source?: string;
  readonly harvester?: string;
}

/** Where records come from, for all of a call. */
export type Origin = Omit<ChangeOrigin, "collection">;

/** What the last accepted change allows. */
export type Verdict = "write" | "unchanged" | "superseded";

/** Collection of the mark that an id was removed wherever it is; no collection is called so. */
const ANY_COLLECTION = "*";

/**
 * Marks ids as removed, whatever collection they are in: changes that were accepted earlier and are still to be carried out are refused.
 * Waits for writers that are under way.
 */
export async function markRemoved(
  client: pg.PoolClient,
  { scope, sequence, ids }: { scope: string; sequence: string; ids: readonly string[] },
): Promise<void> {
  await client.query("select pg_advisory_xact_lock(hashtext($1))", [`registration removal ${scope}`]);
  await client.query(
    `insert into record as r (scope, collection, id, sequence) select $1, $2, x.id, $4 from unnest($3::text[]) as x(id)
     on conflict (scope, collection, id) do update set sequence = greatest(r.sequence, excluded.sequence)`,
    [scope, ANY_COLLECTION, ids, sequence],
  );
}

/**
 * Notes changes of records of one collection, in a transaction of the caller's that holds them until the catalogue has taken them: writers
 * of the same record wait for each other, and a change that was accepted earlier than the last one is refused.
 * @returns the verdict of each change, in their order
 */
export async function noteChanges(
  client: pg.PoolClient,
  changes: readonly RecordChange[],
  origin: ChangeOrigin,
): Promise<readonly Verdict[]> {
  const { scope, collection, sequence } = origin;
  const ids = changes.map(({ id }) => id);
  await client.query("select pg_advisory_xact_lock_shared(hashtext($1))", [`registration removal ${scope}`]);
  // Rows first exist, so that they can be locked in one order.
  await client.query(
    `insert into record (scope, collection, id, sequence) select $1, $2, x.id, -1 from unnest($3::text[]) as x(id)
     order by x.id collate "C" on conflict do nothing`,
    [scope, collection, ids],
  );
  const { rows } = await client.query<{ id: string; sequence: string; hash: Buffer | null }>(
    `select id, sequence, hash from record where scope = $1 and collection = $2 and id = any($3) order by id collate "C" for update`,
    [scope, collection, ids],
  );
  const before = new Map(rows.map((row) => [row.id, row]));
  const { rows: removals } = await client.query<{ id: string }>(
    "select id from record where scope = $1 and collection = $2 and id = any($3) and sequence > $4",
    [scope, ANY_COLLECTION, ids, sequence],
  );
  const isRemoved = new Set(removals.map(({ id }) => id));
  const verdicts = changes.map(({ id, hash }): Verdict => {
    const old = before.get(id);
    if (isRemoved.has(id) || (old !== undefined && BigInt(old.sequence) > BigInt(sequence))) {
      return "superseded";
    }
    return hash !== null && old?.hash?.equals(hash) === true ? "unchanged" : "write";
  });
  const accepted = changes.filter((_, index) => verdicts[index] !== "superseded");
  await client.query(
    `update record r set sequence = $4, hash = x.hash, document = x.document, source = $5, harvester = $6,
       run = case when $6::text is null then null else $4::bigint end
     from unnest($3::text[], $7::bytea[], $8::text[]) as x(id, hash, document) where r.scope = $1 and r.collection = $2 and r.id = x.id`,
    [
      scope,
      collection,
      accepted.map(({ id }) => id),
      sequence,
      origin.source ?? null,
      origin.harvester ?? null,
      accepted.map(({ hash }) => hash),
      accepted.map(({ document }) => document ?? null),
    ],
  );
  return verdicts;
}

/**
 * Notes that items of one collection were met and are as they were, under the same rules.
 * @returns the ids of those whose last change is no later one
 */
export async function noteUnchanged(
  client: pg.PoolClient,
  ids: readonly string[],
  { scope, collection, sequence, harvester }: ChangeOrigin,
): Promise<readonly string[]> {
  await client.query("select pg_advisory_xact_lock_shared(hashtext($1))", [`registration removal ${scope}`]);
  const { rows } = await client.query<{ id: string }>(
    `with held as (
       select id from record where scope = $1 and collection = $2 and id = any($3) and sequence <= $4 and octet_length(hash) > 0
       order by id collate "C" for update)
     update record r set sequence = $4, run = case when $5::text is null then null else $4::bigint end
     from held where r.scope = $1 and r.collection = $2 and r.id = held.id returning r.id`,
    [scope, collection, ids, sequence, harvester ?? null],
  );
  return rows.map(({ id }) => id);
}

/** Records that were registered under an address or by an id. */
export async function findRecords(
  pool: pg.Pool,
  scope: string,
  { id, addresses = [] }: { readonly id?: string; readonly addresses?: readonly string[] },
): Promise<readonly KnownRecord[]> {
  const { rows } = await pool.query<KnownRecord>(
    `select collection, id from record where scope = $1 and hash is not null
       and (id = $2 or source = any($3) or document = any($3)) order by collection desc, id`,
    [scope, id ?? null, addresses],
  );
  return rows;
}

/** Notes that a run met records whose documents it could not read: by their ids or addresses. */
export async function noteUnread(
  pool: pg.Pool,
  { scope, harvester, run, names }: { scope: string; harvester: string; run: string; names: readonly string[] },
): Promise<void> {
  if (names.length > 0) {
    await pool.query(
      `update record set run = $3 where scope = $1 and harvester = $2 and run < $3 and (id = any($4) or document = any($4))`,
      [scope, harvester, run, names],
    );
  }
}

/** A page of the records of a harvester that its run did not meet: they are gone from their source. */
export async function findUnmet(
  pool: pg.Pool,
  { scope, harvester, run, limit }: { scope: string; harvester: string; run: string; limit: number },
): Promise<readonly KnownRecord[]> {
  const { rows } = await pool.query<KnownRecord>(
    `select collection, id from record where scope = $1 and harvester = $2 and run < $3 and hash is not null limit $4`,
    [scope, harvester, run, limit],
  );
  return rows;
}
