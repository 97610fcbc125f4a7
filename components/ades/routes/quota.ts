import type { FastifyReply } from "fastify";
import { type Kysely, sql } from "kysely";

import { OgcError } from "../errors.ts";
import type { AdesSettings } from "../execution/storage.ts";
import { OPEN_LIST } from "../store/job-states.ts";
import type { Tables } from "../store/tables.ts";

/**
 * Looks whether a user may send another job, and says in the answer how many that are (the fields of
 * draft-ietf-httpapi-ratelimit-headers-03). Two requests at the same moment may both be let in.
 * @throws {OgcError} 429 for a user whose queue is full
 */
export async function checkQuota(
  db: Kysely<Tables>,
  { USER_QUEUED_JOBS: limit }: Pick<AdesSettings, "USER_QUEUED_JOBS">,
  owner: string,
  reply: FastifyReply,
): Promise<void> {
  if (limit === undefined) {
    return;
  }
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from job where owner = ${owner} and status in ${OPEN_LIST}`.execute(db);
  const used = rows[0]?.count ?? 0;
  void reply.headers({
    "ratelimit-limit": String(limit),
    "ratelimit-remaining": String(Math.max(0, limit - used - 1)),
  });
  if (used >= limit) {
    throw new OgcError(
      429,
      "TooManyJobs",
      `${owner} has ${used} jobs that wait or are at work; allowed: ${limit}. Wait for one to end, or dismiss some.`,
      { headers: { "retry-after": "10", "ratelimit-limit": String(limit), "ratelimit-remaining": "0" } },
    );
  }
}
