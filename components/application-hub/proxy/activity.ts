import type { Sql } from "../store/database.ts";

/** When servers were last used, written down together every few seconds. */
export interface ActivityLog {
  readonly note: (serverId: string) => void;
  readonly flush: () => Promise<void>;
}

export function createActivityLog(sql: Sql): ActivityLog {
  let noted = new Map<string, number>();
  return {
    note: (id) => noted.set(id, Date.now()),
    flush: async () => {
      const batch = noted;
      noted = new Map();
      if (batch.size > 0) {
        await sql.rows(
          `update servers set last_activity = greatest(last_activity, seen.at)
           from (select unnest($1::uuid[]) as id, unnest($2::timestamptz[]) as at) as seen where servers.id = seen.id`,
          [[...batch.keys()], [...batch.values()].map((at) => new Date(at))],
        );
      }
    },
  };
}
