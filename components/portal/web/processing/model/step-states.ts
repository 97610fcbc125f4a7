import type { WorkflowGraph } from "./workflow-graph.ts";

export type JobStatus = "accepted" | "running" | "successful" | "failed" | "dismissed";

export const isActive = (status: JobStatus): boolean => status === "accepted" || status === "running";

/** What a step or a job used, as far as it was seen: seconds of processor time, bytes of memory at most, bytes of files. */
export interface Usage {
  readonly cpuSeconds?: number;
  readonly peakMemoryBytes?: number;
  readonly bytesIn?: number;
  readonly bytesOut?: number;
}

/** A run of a step as the service tells it (`GET …/jobs/{id}/steps`); a repeated step has one for each part, `crop[3]`. */
export interface StepRecord extends Usage {
  readonly name: string;
  readonly status: "running" | "successful" | "failed" | "skipped";
  readonly exitCode?: number;
  readonly message?: string;
  readonly started: string | null;
  readonly finished: string | null;
}

export type StepStatus = "waiting" | "running" | "successful" | "failed" | "skipped" | "stopped";

/** How far a step of the graph is, all its parts together. */
export interface StepState {
  readonly status: StepStatus;
  /** Parts that have begun, and those of them that have ended well. */
  readonly parts: number;
  readonly done: number;
  readonly message?: string;
  readonly exitCode?: number;
  readonly started?: string;
  readonly finished?: string;
  /** Of all parts together; the most memory of one of them. */
  readonly usage: Usage;
}

/** What the service calls the process itself, when it is a single tool. */
const WHOLE = "(whole process)";

/** The states of all steps of a workflow, by their ids in the graph. */
export function toStepStates(
  graph: WorkflowGraph,
  records: readonly StepRecord[],
  job: JobStatus,
): ReadonlyMap<string, StepState> {
  const steps = graph.nodes.filter(({ kind }) => kind === "step");
  const [first] = steps;
  const named = records.map((record) => ({
    ...record,
    id: record.name === WHOLE && steps.length === 1 && first !== undefined ? first.id : withoutIndices(record.name),
    isPart: /\[\d+\]$/.test(record.name),
  }));
  return new Map(
    steps.map(({ id }) => {
      const own = named.filter((record) => record.id === id);
      const inside = named.filter((record) => record.id.startsWith(`${id}/`));
      const parts = own.filter(({ isPart }) => isPart);
      return [id, summarise(parts.length > 0 ? parts : own.length > 0 ? own : inside, job)];
    }),
  );
}

/** `crop[2]/warp[3]` is the step `crop/warp` of the graph. */
export const withoutIndices = (name: string): string => name.replaceAll(/\[\d+\]/g, "");

function summarise(records: readonly StepRecord[], job: JobStatus): StepState {
  const count = (status: StepRecord["status"]) => records.filter((record) => record.status === status).length;
  const failed = records.find(({ status }) => status === "failed");
  const started = records.flatMap((record) => record.started ?? []).sort()[0];
  const finished = records.every((record) => record.finished !== null)
    ? records
        .flatMap((record) => record.finished ?? [])
        .sort()
        .at(-1)
    : undefined;
  return {
    status: statusOf(
      { total: records.length, running: count("running"), failed: failed !== undefined, skipped: count("skipped") },
      job,
    ),
    parts: records.length,
    done: count("successful") + count("skipped"),
    ...(failed?.message !== undefined && { message: failed.message }),
    ...(failed?.exitCode !== undefined && { exitCode: failed.exitCode }),
    ...(started !== undefined && { started }),
    ...(finished !== undefined && { finished }),
    usage: sumUsage(records),
  };
}

function sumUsage(records: readonly Usage[]): Usage {
  const collect = (name: keyof Usage, combine: (one: number, other: number) => number) => {
    const values = records.flatMap((record) => record[name] ?? []);
    return values.length === 0 ? {} : { [name]: values.reduce(combine) };
  };
  const add = (one: number, other: number) => one + other;
  return {
    ...collect("cpuSeconds", add),
    ...collect("peakMemoryBytes", (one, other) => Math.max(one, other)),
    ...collect("bytesIn", add),
    ...collect("bytesOut", add),
  };
}

function statusOf(
  { total, running, failed, skipped }: { total: number; running: number; failed: boolean; skipped: number },
  job: JobStatus,
): StepStatus {
  if (failed) {
    return "failed";
  }
  if (total === 0) {
    return isActive(job) ? "waiting" : "stopped";
  }
  if (running > 0) {
    return isActive(job) ? "running" : "stopped";
  }
  return skipped === total ? "skipped" : "successful";
}

/** `2 of 3 done`, `done in 4 s`: what stands below a step's name. */
export function describeState({ status, parts, done }: StepState): string {
  const share = parts > 1 ? `, ${done} of ${parts} done` : "";
  return `${status === "stopped" ? "not run" : status}${share}`;
}
