import type { ColumnType, Generated, JSONColumnType } from "kysely";

import type { ProcessDescription } from "../packages/describe.ts";

export const JOB_STATUSES = ["accepted", "running", "successful", "failed", "dismissed"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** What was asked for. */
export interface JobRequest {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly response: "raw" | "document";
}

/** What came of a job: values, or a STAC catalogue in the object storage. */
export interface JobResult {
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly catalogUri?: string;
  readonly collection?: object;
}

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type MaybeTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

/** The schema `ades` (migrations/). */
export interface Tables {
  process: {
    owner: string;
    id: string;
    version: number;
    package: string;
    reference: string;
    description: JSONColumnType<ProcessDescription>;
    deployed_at: Timestamp;
    current: ColumnType<boolean, boolean | undefined, boolean>;
  };
  job: {
    id: Generated<string>;
    owner: string;
    process_id: string;
    process_version: number;
    status: JobStatus;
    message: string | null;
    progress: Generated<number>;
    request: JSONColumnType<JobRequest>;
    result: JSONColumnType<JobResult> | null;
    created_at: Timestamp;
    started_at: MaybeTimestamp;
    finished_at: MaybeTimestamp;
    updated_at: Timestamp;
    attempts: Generated<number>;
    lease_until: MaybeTimestamp;
    deaths: Generated<number>;
    need_cores: Generated<number>;
    need_ram_mib: Generated<number>;
    wish_ram_mib: number | null;
  };
  queue_turn: { owner: string; served_at: Timestamp };
  job_step: {
    job: string;
    name: string;
    status: string;
    exit_code: number | null;
    message: string | null;
    started_at: MaybeTimestamp;
    finished_at: MaybeTimestamp;
  };
  job_log: { id: Generated<string>; job: string; at: Timestamp; step: string; text: string };
}
