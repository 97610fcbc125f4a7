import type { Logger } from "@swath/service";
import { type Claim, createBackOff } from "@swath/work";
import type { Kysely } from "kysely";

import type { Step, StepContext } from "../steps/step.ts";
import { finishDeletion, releaseWorkspace } from "../store/claims.ts";
import { addRepairs, dropStep, listSteps, saveOutputs, setStepDone, setStepFailed } from "../store/steps.ts";
import type { Tables } from "../store/tables.ts";
import { type Workspace, findWorkspace } from "../store/workspaces.ts";

export interface ReconcileDeps {
  readonly db: Kysely<Tables>;
  readonly steps: readonly Step[];
  readonly logger: Logger;
  /** Seconds between looks at a workspace that is as it should be. */
  readonly interval: number;
  /** Called between things that a crash may separate; tests end the process here. */
  readonly onPoint?: (point: string) => void;
}

/** Before a step that failed is tried again. */
const backOff = createBackOff({ firstSeconds: 1, maxSeconds: 300 });

/** One look at a claimed workspace: every step brings its part to what is wanted, or takes it away. Ends early when the lease is lost. */
export async function reconcile(
  deps: ReconcileDeps,
  { row: { name }, lease }: Claim<{ readonly name: string }>,
  signal: AbortSignal,
): Promise<void> {
  const workspace = await findWorkspace(deps.db, name);
  if (workspace === undefined) {
    return;
  }
  const failure = await (workspace.phase === "deleting" ? removeAll : applyAll)(deps, workspace, signal);
  const { generation } = workspace;
  if (failure === undefined && workspace.phase === "deleting") {
    await finishDeletion(deps.db, name, generation);
    // It is still there when something else was wanted meanwhile.
    await lease.end("next_at = now()");
    deps.logger.info({ workspace: name, data: workspace.data }, "deleted a workspace");
    return;
  }
  await releaseWorkspace(lease, {
    generation,
    ...(failure === undefined && { observed: generation }),
    nextIn: failure === undefined ? deps.interval : backOff(failure.attempts),
  });
}

interface Failure {
  readonly attempts: number;
}

async function applyAll(
  { db, steps, logger, onPoint }: ReconcileDeps,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  for (const step of steps) {
    signal.throwIfAborted();
    onPoint?.(`before ${step.name}`);
    // Steps learn things that later ones need: who the owner is. What was asked for meanwhile is done, and is no repair.
    const current = (await findWorkspace(db, workspace.name)) ?? workspace;
    try {
      const repairs = await step.apply(await toContext(db, current, step));
      onPoint?.(`after ${step.name}`);
      await setStepDone(db, workspace.name, step.name);
      await addRepairs(db, workspace.name, step.name, repairs);
      for (const what of repairs) {
        logger.warn({ workspace: workspace.name, step: step.name, what }, "repaired a workspace");
      }
    } catch (error) {
      return noteFailure({ db, logger }, workspace.name, step, error);
    }
  }
  return undefined;
}

async function removeAll(
  { db, steps, logger, onPoint }: ReconcileDeps,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  for (const step of steps.toReversed()) {
    signal.throwIfAborted();
    onPoint?.(`before removal of ${step.name}`);
    try {
      await step.remove(await toContext(db, workspace, step));
      onPoint?.(`after removal of ${step.name}`);
      await dropStep(db, workspace.name, step.name);
    } catch (error) {
      return noteFailure({ db, logger }, workspace.name, step, error);
    }
  }
  return undefined;
}

async function toContext(db: Kysely<Tables>, workspace: Workspace, { name }: Step): Promise<StepContext> {
  const record = (await listSteps(db, workspace.name)).find((step) => step.name === name);
  return {
    workspace,
    outputs: record?.outputs ?? null,
    wasDone: workspace.observedGeneration > 0 && record !== undefined,
    save: (outputs) => saveOutputs(db, workspace.name, name, outputs),
  };
}

async function noteFailure(
  { db, logger }: Pick<ReconcileDeps, "db" | "logger">,
  workspace: string,
  step: Step,
  error: unknown,
): Promise<Failure> {
  const message = error instanceof Error ? error.message : String(error);
  const attempts = await setStepFailed(db, workspace, step.name, message);
  logger.warn({ workspace, step: step.name, attempts, err: error }, "a step failed; it is tried again");
  return { attempts };
}
