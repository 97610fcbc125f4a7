import { type Claim, type Loop, startLoop } from "@swath/work";

import type { RegistryTokens } from "../access/tokens.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { findScanner } from "../store/scanners.ts";
import { type ClaimedScan, RENEW_MS, awaitScan, endScan, scanQueue } from "../store/scans.ts";
import { tellWebhooks } from "../store/webhooks.ts";
import { type ScannerClient, ScannerError } from "./adapter.ts";
import { summarize } from "./report.ts";

interface ScanOptions {
  readonly database: RegistryDatabase;
  readonly client: ScannerClient;
  readonly tokens: RegistryTokens;
  readonly publicUrl: string;
}

interface ScanningOptions extends ScanOptions {
  readonly databaseUrl: string;
  readonly onError: (error: unknown) => void;
}

/** Attempts to begin; a scanner that is asked for its report gets as long as a scan may take. */
const MAX_FAILURES = 5;
const MAX_SCAN_MS = 2 * 3_600_000;
const FIRST_LOOK_SECONDS = 2;
/** A scanner may have a queue of its own. */
const TOKEN_SECONDS = 3600;

/** A scanner that is slow to answer must not hold up the others. */
const PARALLEL = 4;

/** Begins scans that were asked for, and asks after those that were begun. */
export function startScanning(options: ScanningOptions): Promise<Loop> {
  const { pool } = options.database;
  return startLoop<Claim<ClaimedScan>>({
    concurrency: PARALLEL,
    listen: { url: options.databaseUrl, channel: "registry_scans" },
    claim: ({ limit }) => scanQueue.claim(pool, limit),
    untilDue: () => scanQueue.untilDue(pool),
    renewMs: RENEW_MS,
    run: async (claim) => {
      try {
        await advance(options, claim);
      } catch (error) {
        if (claim.row.attempts >= MAX_FAILURES || error instanceof ScannerError) {
          await end(options, claim.row, { failure: error instanceof Error ? error.message : String(error) });
        }
      }
    },
    onError: options.onError,
  });
}

async function advance(options: ScanOptions, { row: claimed, lease }: Claim<ClaimedScan>): Promise<void> {
  const { database, client } = options;
  const scanner = await findScanner(database, claimed.scannerId);
  if (scanner === undefined || scanner.isDisabled) {
    throw new ScannerError("The scanner is disabled.");
  }
  if (Date.now() - claimed.requestedAt.getTime() > MAX_SCAN_MS) {
    throw new ScannerError("The scanner did not come to an end in two hours.");
  }
  if (claimed.request === null) {
    const id = await client.begin(scanner, await toRequest(options, claimed));
    await awaitScan(lease, id, FIRST_LOOK_SECONDS);
    return;
  }
  const report = await client.readReport(scanner, claimed.request);
  if (report.isReady) {
    await end(options, claimed, summarize(report.document, scanner.name));
  } else {
    await awaitScan(lease, claimed.request, report.refreshSeconds);
  }
}

/** The scanner pulls this one repository, for as long as a scan takes. */
async function toRequest(
  { tokens, publicUrl }: ScanOptions,
  { repository, digest, tag, mediaType, size }: ClaimedScan,
) {
  const access = [{ type: "repository", name: repository, actions: ["pull" as const] }];
  const token = await tokens.sign("scanner:scanner", access, TOKEN_SECONDS);
  return {
    registry: { url: publicUrl, authorization: `Bearer ${token}` },
    artifact: { repository, digest, ...(tag !== null && { tag }), mime_type: mediaType, size },
  };
}

async function end(
  { database }: ScanOptions,
  claimed: ClaimedScan,
  result: Parameters<typeof endScan>[2],
): Promise<void> {
  const { projectId, project, repository, digest, tag, requestedBy } = claimed;
  await database.transact(async (tx) => {
    await endScan(tx, claimed, result);
    await tellWebhooks(tx, {
      projectId,
      project,
      event: "failure" in result ? "SCANNING_FAILED" : "SCANNING_COMPLETED",
      operator: requestedBy,
      repository,
      details: "failure" in result ? result.failure : result.severity,
      resources: [{ digest, tag: tag ?? undefined }],
    });
  });
}
