import { openPool } from "@swath/postgres/pool";
import { Problem } from "@swath/service";

/** A line of the audit trail, as services noted it. */
export interface AuditLine {
  readonly n: number;
  readonly at: string;
  readonly service: string;
  readonly action: string;
  readonly actor: string;
  readonly actorName?: string;
  readonly target?: string;
  readonly ip?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditQuery {
  /** Id or name. */
  readonly actor?: string;
  /** Part of the action or of what it was done to. */
  readonly text?: string;
  readonly service?: string;
  /** Only lines before this one. */
  readonly before?: number;
}

export interface AuditSearch {
  /** The latest lines that fit, newest first. */
  readonly find: (query: AuditQuery) => Promise<readonly AuditLine[]>;
  readonly close: () => Promise<void>;
}

export const AUDIT_PAGE = 100;
const TIMEOUT_MS = 10_000;
/** No such schema, table or function, or no right to it. */
const NO_TRAIL = new Set(["3F000", "42P01", "42883", "42501"]);

export async function openAuditSearch(url: string, onError: (error: Error) => void): Promise<AuditSearch> {
  const { pool, close } = await openPool({ url, schema: "portal", connections: 2, onError });
  return {
    close,
    find: async ({ actor, text, service, before }) => {
      const client = await pool.connect();
      try {
        await client.query("select audit.seal()");
        await client.query(`set statement_timeout = ${TIMEOUT_MS}`);
        const { rows } = await client.query<{ line: string }>(
          `select line from audit.entry
           where ($1::text is null or actor = $1 or line::jsonb ->> 'actorName' = $1)
             and ($2::text is null or strpos(lower(action), lower($2)) > 0 or strpos(lower(coalesce(line::jsonb ->> 'target', '')), lower($2)) > 0)
             and ($3::text is null or service = $3) and ($4::bigint is null or n < $4)
           order by n desc limit $5`,
          [actor ?? null, text ?? null, service ?? null, before ?? null, AUDIT_PAGE],
        );
        return rows.map(({ line }) => JSON.parse(line) as AuditLine);
      } catch (error) {
        if (NO_TRAIL.has((error as { code?: string }).code ?? "")) {
          throw new Problem(404, "This deployment keeps no audit trail: its services share one role of the database.");
        }
        throw error;
      } finally {
        client.release();
      }
    },
  };
}
