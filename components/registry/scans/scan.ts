import type { RegistryTokens } from "../access/tokens.ts";
import type { RegistryDatabase } from "../store/database.ts";
import { findScanner } from "../store/scanners.ts";
import { type ClaimedScan, awaitScan, claimScan, endScan } from "../store/scans.ts";
import { tellWebhooks } from "../store/webhooks.ts";
import { type ScannerClient, ScannerError } from "./adapter.ts";
import { summarize } from "./report.ts";

interface ScanOptions {
  readonly database: RegistryDatabase;
  readonly client: ScannerClient;
  readonly tokens: RegistryTokens;
  readonly publicUrl: string;
}

/** Attempts to begin; a scanner that is asked for its report gets as long as a scan may take. */
const MAX_FAILURES = 5;
const MAX_SCAN_MS = 2 * 3_600_000;
const FIRST_LOOK_SECONDS = 2;
/** A scanner may have a queue of its own. */
const TOKEN_SECONDS = 3600;

/** Begins scans that were asked for, and asks after those that were begun. */
export async function scan(options: ScanOptions): Promise<void> {
  const { database } = options;
  for (let next = await claimScan(database); next !== undefined; next = await claimScan(database)) {
    const claimed = next;
    try {
      await advance(options, claimed);
    } catch (error) {
      if (claimed.attempts >= MAX_FAILURES || error instanceof ScannerError) {
        await end(options, claimed, { failure: error instanceof Error ? error.message : String(error) });
      }
    }
  }
}

async function advance(options: ScanOptions, claimed: ClaimedScan): Promise<void> {
  const { database, client } = options;
  const scanner = await findScanner(database, claimed.scannerId);
  if (scanner === undefined || scanner.isDisabled) {
    throw new ScannerError("The scanner is disabled.");
  }
  if (Date.now() - claimed.requestedAt.getTime() > MAX_SCAN_MS) {
    throw new ScannerError("The scanner did not come to an end in two hours.");
  }
  if (claimed.request === undefined) {
    const id = await client.begin(scanner, await toRequest(options, claimed));
    await awaitScan(database, claimed, id, FIRST_LOOK_SECONDS);
    return;
  }
  const report = await client.readReport(scanner, claimed.request);
  if (report.isReady) {
    await end(options, claimed, summarize(report.document, scanner.name));
  } else {
    await awaitScan(database, claimed, claimed.request, report.refreshSeconds);
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
    artifact: { repository, digest, ...(tag !== undefined && { tag }), mime_type: mediaType, size },
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
      resources: [{ digest, tag }],
    });
  });
}
