import type { Sql } from "../store/database.ts";

/** Counts pulls in memory and writes them together, so that a pull is not a write. A crash loses some seconds of counts. */
export interface PullCounter {
  readonly record: (repository: string, reference: string, digest: string) => void;
  readonly flush: () => Promise<void>;
}

const MAX_ENTRIES = 10_000;

export function createPullCounter(sql: Sql): PullCounter {
  let counts = new Map<string, number>();
  let pulled = new Map<string, readonly [string, string, string]>();
  return {
    record: (repository, reference, digest) => {
      if (counts.size < MAX_ENTRIES && pulled.size < MAX_ENTRIES) {
        counts.set(repository, (counts.get(repository) ?? 0) + 1);
        pulled.set(`${repository} ${reference}`, [repository, reference, digest]);
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
      const columns = [0, 1, 2].map((column) => rows.map((row) => row[column]));
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
    },
  };
}
