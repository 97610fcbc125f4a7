import type { ColumnType, Generated, JSONColumnType } from "kysely";

import type { ProcessDescription } from "../packages/describe.ts";
import type { JobStatus } from "./job-states.ts";

/** How one output is wanted (OGC 18-062r2 §7.11.2.4). */
export interface RequestedOutput {
  readonly transmissionMode?: "value" | "reference";
  readonly mediaType?: string;
}

/** Who is told of a job (OGC 18-062r2 §14). */
export interface Subscriber {
  readonly successUri?: string;
  readonly inProgressUri?: string;
  readonly failedUri?: string;
}

/** What was asked for. */
export interface JobRequest {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly response: "raw" | "document";
  /** Outputs that are wanted; all when left out. */
  readonly outputs?: Readonly<Record<string, RequestedOutput>>;
  readonly subscriber?: Subscriber;
  /** Whether a catalogue of results is registered in the user's workspace. */
  readonly register?: true;
}

/** What came of a job: values, or a STAC catalogue in the object storage. */
export interface JobResult {
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly catalogUri?: string;
  readonly collection?: object;
}

/** What a failed job is answered with where its results are asked for. */
export interface JobFailure {
  readonly status: number;
  readonly title: string;
}

export type DeliveryKind = "in-progress" | "success" | "failure" | "registration";

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
    /** The workflow in the package, where its id is another than the process's. */
    entry: string | null;
    /** Digests of images of the platform's registry, by the names that the package has for them. */
    images: JSONColumnType<Readonly<Record<string, string>>>;
    deployed_at: Timestamp;
    current: ColumnType<boolean, boolean | undefined, boolean>;
  };
  space: { name: string; subject: string; claimed_at: Timestamp };
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
    holder: string | null;
    granted_ram_mib: number | null;
    heard_at: MaybeTimestamp;
    stage: string | null;
    failure: JSONColumnType<JobFailure> | null;
    /** Bytes of inputs that were fetched and of results that were stored; PostgreSQL's bigint is a text here. */
    bytes_in: string | null;
    bytes_out: string | null;
  };
  instance: {
    id: string;
    host: string;
    process: string;
    job_cores: number;
    job_ram_mib: number;
    seen_at: Timestamp;
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
    command: JSONColumnType<readonly string[]> | null;
    image: string | null;
    cpu_seconds: number | null;
    peak_memory_bytes: string | null;
    wall_seconds: number | null;
    bytes_in: string | null;
    bytes_out: string | null;
  };
  job_log: { id: Generated<string>; job: string; at: Timestamp; step: string; text: string };
  delivery: {
    id: Generated<string>;
    job: string;
    kind: DeliveryKind;
    target: string;
    status: Generated<"waiting" | "delivered" | "given-up">;
    attempts: Generated<number>;
    next_at: Timestamp;
    error: string | null;
    created_at: Timestamp;
    ended_at: MaybeTimestamp;
  };
  removal: {
    job: string;
    owner: string;
    catalog_uri: string;
    attempts: Generated<number>;
    next_at: Timestamp;
    error: string | null;
  };
}
