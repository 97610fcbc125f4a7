import { type RawBuilder, sql } from "kysely";

interface JobState {
  /** `made`: not started yet; `open`: waits or is at work; `ended`: for good. */
  readonly phase: "made" | "open" | "ended";
  /** States that a job may come to from this one. */
  readonly next: readonly JobStatus[];
  /** What a subscriber is told when a job comes to this state (OGC 18-062r2 §14; `queue_deliveries` in the migrations). */
  readonly delivery?: "in-progress" | "success" | "failure";
  /** The member of the subscriber with the address that is told. */
  readonly subscriberUri?: "inProgressUri" | "successUri" | "failedUri";
}

/** States of a job, by their names in the API (`statusCode` of OGC 18-062r2 §7.13; `created` of OGC 24-051) and in the database. */
export type JobStatus = "created" | "accepted" | "running" | "successful" | "failed" | "dismissed";

/** A job that is taken again after its service died stays `running`. */
export const JOB_STATES: Readonly<Record<JobStatus, JobState>> = {
  created: { phase: "made", next: ["accepted", "dismissed"] },
  accepted: { phase: "open", next: ["running", "failed", "dismissed"] },
  running: {
    phase: "open",
    next: ["successful", "failed", "dismissed"],
    delivery: "in-progress",
    subscriberUri: "inProgressUri",
  },
  successful: { phase: "ended", next: [], delivery: "success", subscriberUri: "successUri" },
  failed: { phase: "ended", next: [], delivery: "failure", subscriberUri: "failedUri" },
  dismissed: { phase: "ended", next: [], delivery: "failure", subscriberUri: "failedUri" },
};

export const JOB_STATUSES = Object.keys(JOB_STATES) as readonly JobStatus[];

const statusesOf = (phase: JobState["phase"]): readonly JobStatus[] =>
  JOB_STATUSES.filter((status) => JOB_STATES[status].phase === phase);

/** Waits or is at work. */
export const OPEN_STATUSES = statusesOf("open");
export const ENDED_STATUSES = statusesOf("ended");

/** Where a job can be dismissed. */
const DISMISSIBLE_STATUSES = JOB_STATUSES.filter((status) => JOB_STATES[status].next.includes("dismissed"));

export const isOpen = (status: string | undefined): boolean => OPEN_STATUSES.some((open) => open === status);
export const hasEnded = (status: string | undefined): boolean => ENDED_STATUSES.some((ended) => ended === status);

/** As literals: PostgreSQL uses a partial index only where it can compare the lists. */
const toList = (statuses: readonly JobStatus[]): RawBuilder<unknown> =>
  sql`(${sql.join(statuses.map((status) => sql.lit(status)))})`;

/** Lists for `status in …` in the order of the indices' predicates. */
export const OPEN_LIST = toList(OPEN_STATUSES);
export const ENDED_LIST = toList(ENDED_STATUSES);
export const DISMISSIBLE_LIST = toList(DISMISSIBLE_STATUSES);
