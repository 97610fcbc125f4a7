import type { ColumnType, Generated, JSONColumnType } from "kysely";

type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;

export type Role = "owner" | "writer" | "reader";
export type Phase = "active" | "deleting" | "kept";
export type DataFate = "keep" | "purge";
export type StepState = "pending" | "done" | "failed";

/** What a provisioning step made: flat, JSON. */
export type Outputs = Readonly<Record<string, unknown>>;

/** The schema `workspace` (migrations/). */
export interface Tables {
  workspace: {
    name: string;
    preferred_name: string;
    owner: string;
    owner_id: string | null;
    owner_name: string | null;
    phase: ColumnType<Phase, Phase | undefined, Phase>;
    data: DataFate | null;
    quota_mb: number | null;
    key_version: Generated<number>;
    generation: ColumnType<string, string | undefined, string>;
    observed_generation: ColumnType<string, string | undefined, string>;
    idempotency_key: string | null;
    created_by: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    next_at: Timestamp;
    lease_until: ColumnType<Date | null, Date | null | undefined, Date | null>;
    checked_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  };
  member: { workspace: string; username: string; user_id: string | null; role: Role };
  step: {
    workspace: string;
    name: string;
    state: StepState;
    attempts: Generated<number>;
    error: string | null;
    outputs: JSONColumnType<Outputs> | null;
    updated_at: Timestamp;
  };
  repair: { id: Generated<string>; workspace: string; step: string; what: string; at: Timestamp };
  registration: {
    id: Generated<string>;
    workspace: string;
    queue: string;
    payload: JSONColumnType<object>;
    state: ColumnType<StepState, StepState | undefined, StepState>;
    message: string | null;
    requested_by: string | null;
    requested_at: Timestamp;
    done_at: Timestamp | null;
  };
  reconciler: { id: string; seen_at: Timestamp };
}
