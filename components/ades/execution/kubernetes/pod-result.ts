import type { JobResult, JobSpec } from "@swath/cwl";

import { type Pod, type Terminated, containerState } from "./pod-types.ts";
import { explainEnd } from "./pod-wait-reason.ts";
import type { UsageSampler } from "./sample-usage.ts";

interface Followed {
  readonly timedOut: boolean;
  readonly logTail: string;
  readonly sampler: UsageSampler | undefined;
}

/** What a pod that has ended comes to; throws why it did not end by its tool's own exit. */
export function toResult(pod: Pod, job: JobSpec, { timedOut, logTail, sampler }: Followed): JobResult {
  const terminated = containerState(pod)?.terminated;
  const failure = timedOut ? undefined : explainEnd(pod, job, logTail);
  if (failure !== undefined) {
    throw failure;
  }
  return { exitCode: terminated?.exitCode ?? 137, timedOut, usage: usageOf(job, terminated, sampler), logTail };
}

/** The cluster notes whole seconds. */
export function usageOf(
  { timeLimitSeconds }: JobSpec,
  terminated: Terminated | undefined,
  sampler: UsageSampler | undefined,
): JobResult["usage"] {
  const { startedAt, finishedAt } = terminated ?? {};
  const wallSeconds =
    startedAt && finishedAt ? (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000 : timeLimitSeconds;
  return { wallSeconds, ...sampler?.read(wallSeconds) };
}
