import type { Kysely, RawBuilder } from "kysely";

import type { Tables } from "./tables.ts";

/** Which of these jobs are as a condition says. */
export async function filterJobs(
  db: Kysely<Tables>,
  ids: readonly string[],
  condition: RawBuilder<boolean>,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) {
    return new Set();
  }
  const rows = await db.selectFrom("job").select("id").where("id", "in", ids).where(condition).execute();
  return new Set(rows.map(({ id }) => id));
}
