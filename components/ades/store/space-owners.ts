import { type Kysely, sql } from "kysely";
import { LRUCache } from "lru-cache";

import type { Tables } from "./tables.ts";

/**
 * Whether a space belongs to the subject, who is called like it. The first subject who comes gets it, and another one later only when
 * nothing is left in it.
 */
export type SpaceOwners = (space: string, subject: string) => Promise<boolean>;

const REMEMBERED_MS = 30_000;
const MAX_REMEMBERED = 5000;

export function createSpaceOwners(db: Kysely<Tables>): SpaceOwners {
  /** By space and subject. */
  const known = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS });
  return async (space, subject) => {
    const key = JSON.stringify([space, subject]);
    if (known.has(key)) {
      return true;
    }
    const { rows } = await sql<{ subject: string }>`
      insert into space (name, subject) values (${space}, ${subject})
      on conflict (name) do update set subject = excluded.subject, claimed_at = now()
        where space.subject = excluded.subject
          or not exists (select 1 from job where job.owner = space.name)
            and not exists (select 1 from process where process.owner = space.name and process.current)
      returning subject`.execute(db);
    if (rows.length === 0) {
      return false;
    }
    known.set(key, true);
    return true;
  };
}
