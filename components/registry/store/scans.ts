import { type Lease, createQueue } from "@swath/work";

import type { Sql } from "./database.ts";

export type ScanState = "waiting" | "running" | "succeeded" | "failed";

/** The latest scan of an artifact. */
export interface Scan {
  readonly state: ScanState;
  readonly scanner: string;
  readonly severity: string | undefined;
  readonly summary: Readonly<Record<string, number>> | undefined;
  readonly failure: string | undefined;
  readonly requestedAt: Date;
  readonly endedAt: Date | undefined;
}

export interface ClaimedScan {
  readonly repositoryId: string;
  readonly projectId: string;
  readonly project: string;
  readonly repository: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly size: number;
  readonly tag: string | null;
  readonly scannerId: string;
  /** What the scanner calls it, once it has begun. */
  readonly request: string | null;
  readonly attempts: number;
  readonly requestedBy: string;
  readonly requestedAt: Date;
}

interface ScanKey {
  readonly repositoryId: string;
  readonly digest: string;
}

/** Asks for a scan, in place of an older one; of one that is under way there is no other. */
export async function requestScan(
  sql: Sql,
  { repositoryId, digest, scannerId, by }: ScanKey & { readonly scannerId: string; readonly by: string },
): Promise<void> {
  await sql.query(
    `insert into scan (repository_id, digest, scanner_id, requested_by) values ($1, $2, $3, $4)
     on conflict (repository_id, digest) do update set scanner_id = excluded.scanner_id, state = 'waiting', request = null,
       attempts = 0, next_at = now(), requested_by = excluded.requested_by, requested_at = now(), failure = null
     where scan.state in ('succeeded', 'failed')`,
    [repositoryId, digest, scannerId, by],
  );
  await sql.query("notify registry_scans");
}

export async function findScan(sql: Sql, { repositoryId, digest }: ScanKey): Promise<Scan | undefined> {
  const [row] = await sql.query<{
    state: ScanState;
    scanner: string;
    severity: string | null;
    summary: Readonly<Record<string, number>> | null;
    failure: string | null;
    requested_at: Date;
    ended_at: Date | null;
  }>(
    `select s.state, coalesce(s.scanner, c.name) as scanner, s.severity, s.summary, s.failure, s.requested_at, s.ended_at
     from scan s join scanner c on c.id = s.scanner_id where repository_id = $1 and digest = $2`,
    [repositoryId, digest],
  );
  return (
    row && {
      state: row.state,
      scanner: row.scanner,
      severity: row.severity ?? undefined,
      summary: row.summary ?? undefined,
      failure: row.failure ?? undefined,
      requestedAt: row.requested_at,
      endedAt: row.ended_at ?? undefined,
    }
  );
}

/** The last report, which outlives a new scan until that one has one. */
export async function findReport(sql: Sql, { repositoryId, digest }: ScanKey): Promise<unknown> {
  const [row] = await sql.query<{ report: unknown }>(
    "select report from scan where repository_id = $1 and digest = $2",
    [repositoryId, digest],
  );
  return row?.report ?? undefined;
}

/** A scan of a process that died is another one's after this; one that failed is tried again after it, too. */
const LEASE_SECONDS = 60;
export const RENEW_MS = 15_000;

/** Scans that are to be begun or asked after. */
export const scanQueue = createQueue<ClaimedScan>({
  table: "scan",
  key: ["repository_id", "digest"],
  isOpen: "q.state in ('waiting', 'running')",
  leaseSeconds: LEASE_SECONDS,
  onClaim: "attempts = q.attempts + 1",
  join: {
    from: "repository r join project p on p.id = r.project_id, manifest m",
    on: "r.id = q.repository_id and m.repository_id = q.repository_id and m.digest = q.digest",
  },
  returning: `q.repository_id as "repositoryId", p.id as "projectId", p.name as project, r.name as repository, q.digest,
    m.media_type as "mediaType", m.size, q.scanner_id as "scannerId", q.request, q.attempts,
    q.requested_by as "requestedBy", q.requested_at as "requestedAt",
    (select name from tag t where t.repository_id = q.repository_id and t.digest = q.digest order by pushed_at desc limit 1) as tag`,
});

/** The scanner has begun, or is not through: ask again in some seconds. */
export async function awaitScan(lease: Lease, request: string, seconds: number): Promise<void> {
  await lease.end("state = 'running', request = $1, next_at = now() + make_interval(secs => $2)", [request, seconds]);
}

export interface ScanResult {
  readonly scanner: string;
  readonly severity: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly report: unknown;
}

export async function endScan(
  sql: Sql,
  scan: ScanKey,
  result: ScanResult | { readonly failure: string },
): Promise<void> {
  if ("failure" in result) {
    await sql.query(
      "update scan set state = 'failed', failure = $3, ended_at = now() where repository_id = $1 and digest = $2",
      [scan.repositoryId, scan.digest, result.failure.slice(0, 1000)],
    );
    return;
  }
  await sql.query(
    `update scan set state = 'succeeded', failure = null, ended_at = now(), scanner = $3, severity = $4, summary = $5, report = $6
     where repository_id = $1 and digest = $2`,
    [
      scan.repositoryId,
      scan.digest,
      result.scanner,
      result.severity,
      JSON.stringify(result.summary),
      JSON.stringify(result.report),
    ],
  );
}
