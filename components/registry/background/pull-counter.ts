import type { Sql } from "../store/database.ts";
import { tellWebhooks } from "../store/webhooks.ts";

/** Counts pulls in memory and writes them together, so that a pull is not a write. A crash loses some seconds of counts. */
export interface PullCounter {
  readonly record: (pull: Pull) => void;
  readonly flush: () => Promise<void>;
}

interface Pull {
  readonly repository: string;
  /** A tag or a digest. */
  readonly reference: string;
  readonly digest: string;
  readonly by: string;
}

const MAX_ENTRIES = 10_000;

export function createPullCounter(sql: Sql): PullCounter {
  let counts = new Map<string, number>();
  let pulled = new Map<string, readonly [string, string, string, string]>();
  return {
    record: ({ repository, reference, digest, by }) => {
      if (counts.size < MAX_ENTRIES && pulled.size < MAX_ENTRIES) {
        counts.set(repository, (counts.get(repository) ?? 0) + 1);
        pulled.set(`${repository} ${reference} ${by}`, [repository, reference, digest, by]);
      }
    },
    flush: async () => {
      if (counts.size === 0) {
        return;
      }
      const [repositories, rows] = [counts, [...pulled.values()]];
      counts = new Map();
      pulled = new Map();
      await sql.query(
        `update repository r set pull_count = pull_count + c.n
         from unnest($1::text[], $2::bigint[]) c(name, n) where r.name = c.name`,
        [[...repositories.keys()], [...repositories.values()]],
      );
      const columns = [0, 1, 2, 3].map((column) => rows.map((row) => row[column]));
      await sql.query(
        `update manifest m set pulled_at = now() from unnest($1::text[], $2::text[]) p(name, digest), repository r
         where r.name = p.name and m.repository_id = r.id and m.digest = p.digest`,
        [columns[0], columns[2]],
      );
      await sql.query(
        `update tag t set pulled_at = now() from unnest($1::text[], $2::text[]) p(name, tag), repository r
         where r.name = p.name and t.repository_id = r.id and t.name = p.tag`,
        [columns[0], columns[1]],
      );
      await tellPulls(sql, rows);
    },
  };
}

/** Webhooks hear of who pulled what within some seconds, once however often. */
async function tellPulls(sql: Sql, rows: readonly (readonly [string, string, string, string])[]): Promise<void> {
  const hooked = await sql.query<{ name: string; project: string; project_id: string }>(
    `select r.name, p.name as project, p.id as project_id from repository r join project p on p.id = r.project_id
     where r.name = any($1) and exists (
       select from webhook w where w.project_id = p.id and w.is_enabled and 'PULL_ARTIFACT' = any(w.events))`,
    [[...new Set(rows.map(([repository]) => repository))]],
  );
  const projects = new Map(hooked.map((row) => [row.name, row]));
  for (const [repository, reference, digest, operator] of rows) {
    const found = projects.get(repository);
    if (found !== undefined) {
      await tellWebhooks(sql, {
        projectId: found.project_id,
        project: found.project,
        event: "PULL_ARTIFACT",
        operator,
        repository,
        resources: [{ digest, tag: reference.includes(":") ? undefined : reference }],
      });
    }
  }
}
