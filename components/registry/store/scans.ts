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
  readonly tag: string | undefined;
  readonly scannerId: string;
  readonly request: string | undefined;
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

/** Takes a scan that is to be begun or asked after; it comes again soon, should whoever took it die. */
export async function claimScan(sql: Sql): Promise<ClaimedScan | undefined> {
  const [row] = await sql.query<{
    repository_id: string;
    project_id: string;
    project: string;
    repository: string;
    digest: string;
    media_type: string;
    size: number;
    tag: string | null;
    scanner_id: string;
    request: string | null;
    attempts: number;
    requested_by: string;
    requested_at: Date;
  }>(
    `update scan s set attempts = s.attempts + 1, next_at = now() + interval '60 seconds'
     from repository r join project p on p.id = r.project_id, manifest m
     where r.id = s.repository_id and m.repository_id = s.repository_id and m.digest = s.digest
       and (s.repository_id, s.digest) = (
         select repository_id, digest from scan where state in ('waiting', 'running') and next_at <= now()
         order by next_at limit 1 for update skip locked)
     returning s.*, p.id as project_id, p.name as project, r.name as repository, m.media_type, m.size,
       (select name from tag t where t.repository_id = s.repository_id and t.digest = s.digest order by pushed_at desc limit 1) as tag`,
  );
  return (
    row && {
      repositoryId: row.repository_id,
      projectId: row.project_id,
      project: row.project,
      repository: row.repository,
      digest: row.digest,
      mediaType: row.media_type,
      size: row.size,
      tag: row.tag ?? undefined,
      scannerId: row.scanner_id,
      request: row.request ?? undefined,
      attempts: row.attempts,
      requestedBy: row.requested_by,
      requestedAt: row.requested_at,
    }
  );
}

/** The scanner has begun, or is not through: ask again in some seconds. */
export async function awaitScan(sql: Sql, scan: ScanKey, request: string, seconds: number): Promise<void> {
  await sql.query(
    `update scan set state = 'running', request = $3, next_at = now() + $4 * interval '1 second'
     where repository_id = $1 and digest = $2`,
    [scan.repositoryId, scan.digest, request, seconds],
  );
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
