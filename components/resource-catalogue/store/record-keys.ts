import type pg from "pg";

import type { PreparedRecord } from "./record-columns.ts";
import { COMMON_PART, type Route } from "./partitions/part-map.ts";

/** insert: none may exist. upsert: replaced where it exists. replace: must exist. */
export type WriteMode = "insert" | "upsert" | "replace";

export interface LockedKey {
  readonly id: string;
  readonly isCollection: boolean;
  /** Where the record is. */
  readonly part: number;
  /** Where it is to be. */
  readonly target: number;
  readonly n: string;
  readonly isNew: boolean;
}

interface KeysToLock {
  readonly records: readonly PreparedRecord[];
  readonly collection: number;
  readonly mode: WriteMode;
  readonly route: Route | undefined;
}

export const keyOf = ({ id, isCollection }: Pick<PreparedRecord, "id" | "isCollection">): string =>
  `${isCollection ? "c" : "i"}${id}`;

/** Locks the ids in their order, and gives new ones a number. Without those that exist in mode `insert`, or do not in `replace`. */
export async function lockKeys(
  client: pg.PoolClient,
  { records, collection, mode, route }: KeysToLock,
): Promise<ReadonlyMap<string, LockedKey>> {
  const targets = await lockTargets(client, records, route);
  const given = "unnest($1::text[], $3::boolean[], $4::int[]) as x(id, c, part)";
  const statements: Readonly<Record<WriteMode, string>> = {
    insert: `insert into record_key as k (id, collection, is_collection, part)
      select x.id, $2, x.c, x.part from ${given} order by x.id collate "C", x.c
      on conflict do nothing returning id, is_collection, part, n, true as fresh`,
    // A row that was there before has an xmax: this transaction's lock.
    upsert: `insert into record_key as k (id, collection, is_collection, part)
      select x.id, $2, x.c, x.part from ${given} order by x.id collate "C", x.c
      on conflict (id, collection, is_collection) do update set part = k.part
      returning id, is_collection, part, n, (xmax = 0) as fresh`,
    replace: `select k.id, k.is_collection, k.part, k.n, false as fresh
      from record_key k join ${given} on k.id = x.id and k.is_collection = x.c
      where k.collection = $2 order by k.id, k.is_collection for update of k`,
  };
  const { rows } = await client.query<{ id: string; is_collection: boolean; part: number; n: string; fresh: boolean }>(
    `/* prepared: lock-keys-${mode} */ ${statements[mode]}`,
    [records.map(({ id }) => id), collection, records.map(({ isCollection }) => isCollection), targets],
  );
  const places = new Map(records.map((record, index) => [keyOf(record), targets[index] as number]));
  return new Map(
    rows.map(({ id, is_collection: isCollection, part, n, fresh }) => {
      const key = keyOf({ id, isCollection });
      return [key, { id, isCollection, part, target: places.get(key) as number, n, isNew: fresh }];
    }),
  );
}

/** The part that each record is to be in; none of these goes away until the transaction ends. */
async function lockTargets(
  client: pg.PoolClient,
  records: readonly PreparedRecord[],
  route: Route = () => COMMON_PART,
): Promise<readonly number[]> {
  const targets = records.map(({ isCollection, time }) => (isCollection ? COMMON_PART : route(time)));
  const wanted = [...new Set(targets)].filter((part) => part !== COMMON_PART);
  if (wanted.length === 0) {
    return targets;
  }
  // In the order of all who lock them. This process may know parts that are no more.
  const { rows } = await client.query<{ number: number }>(
    "/* prepared: lock-parts */ select number from part where number = any($1::int[]) order by number for key share",
    [wanted],
  );
  const there = new Set(rows.map(({ number }) => number));
  return targets.map((part) => (there.has(part) ? part : COMMON_PART));
}

/** Notes where records are to be that were elsewhere: a new time may belong into another part. */
export async function moveKeys(client: pg.PoolClient, collection: number, keys: readonly LockedKey[]): Promise<void> {
  const moved = keys.filter(({ part, target }) => part !== target);
  if (moved.length > 0) {
    await client.query(
      `update record_key k set part = x.target from unnest($1::text[], $2::boolean[], $3::int[]) as x(id, c, target)
       where k.id = x.id and k.is_collection = x.c and k.collection = $4`,
      [
        moved.map(({ id }) => id),
        moved.map(({ isCollection }) => isCollection),
        moved.map(({ target }) => target),
        collection,
      ],
    );
  }
}

/** Removes what records were before, and tells what stays of it. */
export async function removeOld(
  client: pg.PoolClient,
  keys: readonly Pick<LockedKey, "part" | "n">[],
): Promise<Map<string, { version: number; madeAt: string }>> {
  if (keys.length === 0) {
    return new Map();
  }
  const { rows } = await client.query<{ n: string; version: number; made_at: Date }>(
    `/* prepared: remove-old */ delete from record r using unnest($1::int[], $2::bigint[]) as x(part, n)
     where r.part = x.part and r.n = x.n and r.part = any($1) returning r.n, r.version, r.made_at`,
    [keys.map(({ part }) => part), keys.map(({ n }) => n)],
  );
  return new Map(rows.map(({ n, version, made_at: madeAt }) => [n, { version, madeAt: madeAt.toISOString() }]));
}
