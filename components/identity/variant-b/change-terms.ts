import type pg from "pg";

import { runChange } from "../admin/request.ts";
import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";

/** A change of terms or acceptances: policies that ask for them let others in afterwards, so every rule set is made anew. */
export function changeTerms(
  context: IdentityContext,
  realm: string,
  work: (db: pg.PoolClient) => Promise<unknown>,
): Promise<unknown> {
  return runChange(context, async (db) => {
    const result = await work(db);
    await db.query(
      `update resource_server set version = version + 1 where client in
         (select c.id from client c join realm r on r.id = c.realm_id where r.name = $1)`,
      [realm],
    );
    await publishChange(db, { kind: "policy", realm });
    return result;
  });
}
