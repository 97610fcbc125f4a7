import assert from "node:assert/strict";

import type pg from "pg";

/** Every record is where its key says, in a part whose times it is of, and nowhere else. */
export async function checkPlaces(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ wrong: number; lost: number; records: number; keys: number }>(
    `select (select count(*)::int from record r join part p on p.number = r.part where r.part <> 0 and not coalesce(
         p.collection = r.collection and r.at >= p.from_at and r.at < p.to_at and lower(r.span) >= p.starts and upper(r.span) <= p.ends, false)) as wrong,
       (select count(*)::int from record_key k where not exists (select 1 from record r where r.part = k.part and r.n = k.n and r.id = k.id)) as lost,
       (select count(*)::int from record) as records, (select count(*)::int from record_key) as keys`,
  );
  const [row] = rows;
  assert.deepEqual([row?.wrong, row?.lost], [0, 0]);
  assert.equal(row?.records, row?.keys);
}
