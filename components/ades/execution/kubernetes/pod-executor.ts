import { CwlError, type Executor, type JobResult, type JobSpec, LogTail, type RunControls } from "@swath/cwl";
import type { ClusterApi } from "@swath/kubernetes/api";
import { randomBytes } from "node:crypto";

import { Interruption } from "../../runner/interruption.ts";
import { isStorageAway } from "../is-storage-away.ts";
import { retryWhileUnavailable } from "../retry-while-unavailable.ts";
import { createPod, removePod, removePods } from "./create-pod.ts";
import { toResult, usageOf } from "./pod-result.ts";
import { type PodTimeouts, type Wait, explainDisruption, explainWait } from "./pod-wait-reason.ts";
import { createQueueReason } from "./queue-reason.ts";
import { type LogFollower, followLog } from "./follow-log.ts";
import { digestOf } from "./invocation.ts";
import { type AdoptablePod, AdoptablePods, inodeOf, moveAsidePod, takeOver } from "./adoptable-pods.ts";
import { type PodContext, createPodManifest, foldersOf, imageOf, runOf } from "./pod-spec.ts";
import { type Pod, containerState, hasStarted, hasEnded, isSelfContained, podKeys } from "./pod-types.ts";
import { type UsageSampler, sampleUsage } from "./sample-usage.ts";
import { podsPath, watchPod } from "./watch-pod.ts";

export interface PodExecutorOptions {
  readonly api: ClusterApi;
  /** Asked once, when the first pod is made. */
  readonly podContext: () => Promise<PodContext>;
  readonly timeouts: PodTimeouts;
}

/**
 * Runs each command as a pod of its own: the cluster finds a node for it, holds it to its limits and, by network policies
 * that select its label, keeps it from the network unless the tool asks for it. Files are in a volume that this service and
 * the pods share. A pod outlives this process; a run that is continued joins it again.
 */
export function createPodExecutor({ api, podContext: find, timeouts }: PodExecutorOptions): Executor {
  const kept = new AdoptablePods();
  let known: Promise<PodContext> | undefined;
  const podContext = (): Promise<PodContext> => {
    known ??= find();
    // A failure is not remembered: the next job may find the API server back.
    known.catch(() => (known = undefined));
    return known;
  };
  const pods = new PodRunner(api, timeouts);
  return {
    kind: "pods",
    sharesFileSystem: false,
    placesGraphics: true,
    run: async (job, controls) => {
      const context = await podContext().catch((error: unknown) => {
        throw asInfrastructure(error, job);
      });
      const digest = digestOf(job, imageOf(job, context.defaultImage));
      const joined = kept.take(digest);
      return joined === undefined
        ? await pods.runNew(job, controls, context, digest)
        : await pods.join(job, controls, context, joined);
    },
    cleanUp: async (prefixes) => {
      pods.forgetEnded();
      for (const runId of prefixes.map((prefix) => runOf(`${prefix}0`))) {
        if (!pods.left.has(runId)) {
          await removePods(api, `${podKeys.run}=${runId}`);
        }
      }
    },
    removeOrphans: (runId) => removePods(api, `${podKeys.run}=${runId}`),
    keepOrphans: (runId, workDir) => kept.keep(api, api.namespace, runId, workDir),
  };
}

/** Milliseconds that a deleted pod may take to end before its node counts as lost. */
const LOST_POD_MS = 30_000;

/**
 * Milliseconds that a pod with files of its own stays after its end: should this process die before the run has noted the step's outputs,
 * the next attempt joins the pod and has them again.
 */
const ENDED_POD_MS = 10_000;

class PodRunner {
  /** Runs that were interrupted: their pods go on, for those who continue them. */
  readonly left = new Set<string>();
  /** Pods that have ended and are removed in a moment. */
  private readonly ended = new Map<string, NodeJS.Timeout>();
  private readonly api: ClusterApi;
  private readonly timeouts: PodTimeouts;

  constructor(api: ClusterApi, timeouts: PodTimeouts) {
    this.api = api;
    this.timeouts = timeouts;
  }

  async runNew(
    job: JobSpec,
    controls: RunControls,
    context: PodContext,
    digest: string | undefined,
  ): Promise<JobResult> {
    const name = `${job.id}-${randomBytes(3).toString("hex")}`.slice(-63).replace(/^[^a-z0-9]+/, "");
    const { transfer } = context;
    const manifest = createPodManifest(job, context, {
      name,
      annotations: {
        ...(digest !== undefined && { [podKeys.invocation]: digest }),
        ...(transfer === undefined && {
          [podKeys.workInode]: inodeOf(job.outdir.host),
          [podKeys.scratchInode]: inodeOf(job.tmpdir.host),
        }),
      },
    });
    return await this.untilRemoved(name, job, controls, context, async () => {
      if (transfer !== undefined) {
        await transfer.files.ensureSecret();
        const folders = foldersOf(job, context.volumeRoot);
        await waitForStorage(() => transfer.files.send(name, folders, controls.signal), controls);
      }
      await createPod(this.api, manifest, { job, timeouts: this.timeouts.room, ...controls });
      return await this.follow(name, job, context, controls);
    });
  }

  /** Follows a pod that an attempt of this run has left, as if it had been made for this job. */
  async join(job: JobSpec, controls: RunControls, context: PodContext, pod: AdoptablePod): Promise<JobResult> {
    controls.onLog("cluster: joined the pod that was started before the service ended; its log from the beginning:\n");
    const result = await this.untilRemoved(pod.name, job, controls, context, () =>
      this.follow(pod.name, job, context, controls),
    );
    takeOver(pod, job);
    return result;
  }

  private async untilRemoved(
    name: string,
    job: JobSpec,
    { signal }: RunControls,
    { transfer }: PodContext,
    work: () => Promise<JobResult>,
  ): Promise<JobResult> {
    const cancelled = () => new CwlError("cancelled", "the run was cancelled");
    if (signal.aborted) {
      throw cancelled();
    }
    // At once, whatever `work` is waiting for.
    const remove = () => {
      if (signal.reason instanceof Interruption) {
        this.left.add(runOf(job.id));
      } else {
        void removePod(this.api, name).catch(() => {});
      }
    };
    signal.addEventListener("abort", remove, { once: true });
    let hasEnded = false;
    try {
      const result = await work();
      hasEnded = true;
      return result;
    } catch (error) {
      throw signal.aborted ? cancelled() : asInfrastructure(error, job);
    } finally {
      signal.removeEventListener("abort", remove);
      if (hasEnded && transfer !== undefined) {
        this.removeSoon(name);
      } else if (hasEnded || !this.left.has(runOf(job.id))) {
        await removePod(this.api, name, { hasEnded });
      } else {
        await this.leave(name, job);
      }
    }
  }

  private removeSoon(name: string): void {
    const remove = () => {
      this.ended.delete(name);
      // One that stays is removed with the run's others.
      void removePod(this.api, name, { hasEnded: true }).catch(() => {});
    };
    this.ended.set(name, setTimeout(remove, ENDED_POD_MS).unref());
  }

  /** For a run whose pods are removed together. */
  forgetEnded(): void {
    this.ended.forEach((timer) => clearTimeout(timer));
    this.ended.clear();
  }

  /** Lets a pod go on alone, so that whoever continues the run can join it. */
  private async leave(name: string, job: JobSpec): Promise<void> {
    const pod = await this.api.get<Pod>(`${podsPath(this.api.namespace)}/${name}`);
    if (pod !== undefined && isSelfContained(pod)) {
      return;
    }
    if (pod !== undefined && hasStarted(pod)) {
      moveAsidePod(job, name);
    } else {
      await removePod(this.api, name);
    }
  }

  private async follow(
    name: string,
    job: JobSpec,
    context: PodContext,
    { signal, onLog }: RunControls,
  ): Promise<JobResult> {
    const tail = new LogTail();
    const watch = new AbortController();
    const waiting = new Waiting(job, imageOf(job, context.defaultImage), this.timeouts, onLog);
    let log: LogFollower | undefined;
    let sampler: UsageSampler | undefined;
    let timer: NodeJS.Timeout | undefined;
    let timedOut = false;
    let lostTimer: NodeJS.Timeout | undefined;
    let isLost = false;
    let disruption: CwlError | undefined;
    const queueReason = createQueueReason(this.api, context.namespace);
    const renewal = keepToken(context, onLog);
    try {
      for await (const pod of watchPod(this.api, context.namespace, name, AbortSignal.any([signal, watch.signal]))) {
        if (pod === undefined) {
          if (timedOut) {
            return { exitCode: 137, timedOut, usage: usageOf(job, undefined, sampler), logTail: tail.toString() };
          }
          throw (
            disruption ??
            new CwlError(
              "infrastructure",
              `${job.name}: its pod was deleted while it ran, by somebody else or with its node`,
            )
          );
        }
        disruption = explainDisruption(pod, job);
        const state = containerState(pod);
        if (context.transfer !== undefined && pod.metadata.deletionTimestamp !== undefined && !timedOut) {
          // A node that is lost ends nothing. What such a pod may still store is its own, and nobody reads it.
          lostTimer ??= setTimeout(() => {
            isLost = true;
            watch.abort();
          }, LOST_POD_MS);
        }
        if (hasStarted(pod)) {
          log ??= followLog(this.api, context.namespace, name, (text) => {
            tail.add(text);
            onLog(text);
          });
          sampler ??= sampleUsage(this.api, context.namespace, name);
          timer ??= this.limit(
            name,
            job,
            state?.running?.startedAt ?? state?.terminated?.startedAt,
            () => (timedOut = true),
          );
        }
        if (hasEnded(pod)) {
          await log?.finish();
          const result = toResult(pod, job, { timedOut, logTail: tail.toString(), sampler });
          if (context.transfer !== undefined) {
            const [{ files }, folders] = [context.transfer, foldersOf(job, context.volumeRoot)];
            await waitForStorage(() => files.receive(job, name, folders, signal), { signal, onLog });
          }
          return result;
        }
        if (state?.terminated !== undefined) {
          // Its outputs are being stored, which its time is not for.
          clearTimeout(timer);
        }
        if (!hasStarted(pod)) {
          waiting.note(pod, await queueReason(pod));
        }
      }
      throw new CwlError("infrastructure", `${job.name}: its pod was lost sight of`);
    } catch (error) {
      throw isLost ? new CwlError("infrastructure", `${job.name}: its node was lost with it`, { cause: error }) : error;
    } finally {
      clearTimeout(timer);
      clearTimeout(lostTimer);
      clearInterval(renewal);
      sampler?.stop();
      log?.stop();
      watch.abort();
    }
  }

  /** Ends the pod when the tool's time is over; the time counts from its own start. */
  private limit(
    name: string,
    { timeLimitSeconds }: JobSpec,
    startedAt: string | null | undefined,
    onTimeout: () => void,
  ): NodeJS.Timeout | undefined {
    if (timeLimitSeconds <= 0) {
      return undefined;
    }
    const gone = startedAt ? Math.max(0, Date.now() - Date.parse(startedAt)) : 0;
    return setTimeout(
      () => {
        onTimeout();
        void removePod(this.api, name).catch(() => {});
      },
      // The cluster's times are of whole seconds.
      Math.max(0, timeLimitSeconds * 1000 - Math.max(0, gone - 1000)),
    );
  }
}

/** How often it is looked whether the token of a job is to be renewed. */
const RENEWAL_MS = 60_000;

/** A step may run longer than the token is good for by which its outputs are stored, and the key of tokens may have been changed. */
function keepToken({ transfer }: PodContext, onLog: RunControls["onLog"]): NodeJS.Timeout | undefined {
  if (transfer === undefined) {
    return undefined;
  }
  const renew = (): void => {
    transfer.files
      .ensureSecret()
      .catch((error: unknown) => onLog(`cluster: the token of the job was not renewed yet: ${String(error)}\n`));
  };
  renew();
  return setInterval(renew, RENEWAL_MS);
}

/** Notes what a pod waits for, once for each reason, and ends the job when that lasts too long. */
class Waiting {
  private readonly job: JobSpec;
  private readonly image: string;
  private readonly timeouts: PodTimeouts;
  private readonly onLog: (text: string) => void;
  private text: string | undefined;
  private since = 0;
  private detail = "";

  constructor(job: JobSpec, image: string, timeouts: PodTimeouts, onLog: (text: string) => void) {
    this.job = job;
    this.image = image;
    this.timeouts = timeouts;
    this.onLog = onLog;
  }

  note(pod: Pod, queueReason: string | undefined): void {
    const wait: Wait | undefined = explainWait(pod, this.job, this.image, this.timeouts, queueReason);
    if (wait?.text !== this.text) {
      this.text = wait?.text;
      this.since = Date.now();
      if (wait !== undefined) {
        this.onLog(`cluster: ${wait.text}\n`);
      }
    }
    const message = containerState(pod)?.waiting?.message ?? "";
    // "Back-off pulling image" says less than what went before it.
    if (message !== "" && !message.startsWith("Back-off")) {
      this.detail = message;
    }
    if (wait !== undefined && Date.now() - this.since >= wait.timeouts * 1000) {
      throw wait.error(this.detail);
    }
  }
}

/** Milliseconds that files of a step wait for the object storage to come back. */
const STORAGE_TIMEOUT_MS = 10 * 60_000;

function waitForStorage<T>(work: () => Promise<T>, { signal, onLog }: RunControls): Promise<T> {
  let isTold = false;
  return retryWhileUnavailable(work, {
    signal,
    isTransient: isStorageAway,
    timeout: STORAGE_TIMEOUT_MS,
    onWait: () => {
      if (!isTold) {
        onLog("cluster: waiting for the object storage\n");
        isTold = true;
      }
    },
  });
}

function asInfrastructure(error: unknown, { name }: JobSpec): unknown {
  return error instanceof CwlError
    ? error
    : new CwlError("infrastructure", `${name}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
}
