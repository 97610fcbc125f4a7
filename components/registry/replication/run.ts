import { randomUUID } from "node:crypto";

import { findReplication, takeDueReplication } from "../store/replication.ts";
import {
  type ReplicationTask,
  claimRun,
  endReplicationRun,
  endTask,
  findOpenTask,
  insertRun,
  insertTasks,
  renewRun,
} from "../store/replication-runs.ts";
import { findUpstream } from "../store/upstreams.ts";
import { type Upstreams, explain } from "../upstreams/upstreams.ts";
import { type CopyDeps, type CopyResult, copyIn, copyOut } from "./copy.ts";
import { planReplication } from "./plan.ts";

export interface ReplicateOptions extends CopyDeps {
  readonly upstreams: Upstreams;
  readonly onError: (error: unknown) => void;
}

const RENEW_MS = 8000;

/** The run was stopped, or taken by another worker. */
class RunEnded extends Error {
  override readonly name = "RunEnded";
}

/** Does what is due and what was asked for, one run after another. A run whose worker died is gone on with where it was. */
export async function replicate(options: ReplicateOptions): Promise<void> {
  const { database } = options;
  for (let due = await takeDueReplication(database); due !== undefined; due = await takeDueReplication(database)) {
    const { id } = due;
    await database.transact((tx) => insertRun(tx, id, { reason: "scheduled", actor: "replication" }));
  }
  const worker = randomUUID();
  for (let run = await claimRun(database, worker); run !== undefined; run = await claimRun(database, worker)) {
    const { id } = run;
    const timer = setInterval(() => void renewRun(database, id, worker).catch(options.onError), RENEW_MS);
    try {
      await runTasks(options, run, worker);
      await endReplicationRun(database, id, { worker, failure: undefined });
    } catch (error) {
      if (!(error instanceof RunEnded)) {
        await endReplicationRun(database, id, { worker, failure: explain(error) });
      }
    } finally {
      clearInterval(timer);
    }
  }
}

async function runTasks(
  options: ReplicateOptions,
  run: { readonly id: string; readonly replicationId: string; readonly isPlanned: boolean },
  worker: string,
): Promise<void> {
  const { database, upstreams } = options;
  const replication = await findReplication(database, run.replicationId);
  const upstream = replication && (await findUpstream(database, replication.upstreamId));
  if (replication === undefined || upstream === undefined) {
    throw new Error("the replication was deleted");
  }
  const opened = upstreams.open(upstream);
  if (!run.isPlanned) {
    await insertTasks(database, run.id, await planReplication(database, opened, replication));
  }
  const check = async () => {
    if (!(await renewRun(database, run.id, worker))) {
      throw new RunEnded();
    }
  };
  const { overrides, name } = replication;
  const actor = `replication ${name}`;
  const copy = (task: ReplicationTask): Promise<CopyResult> => {
    const { source, target, tag } = task;
    const one = { source, target, tag, overrides, actor, check };
    return replication.direction === "pull" ? copyIn(options, opened, one) : copyOut(options, opened, one);
  };
  await check();
  for (
    let task = await findOpenTask(database, run.id);
    task !== undefined;
    task = await findOpenTask(database, run.id)
  ) {
    const { position } = task;
    const result = await copy(task).catch((error: unknown) => {
      if (error instanceof RunEnded) {
        throw error;
      }
      return { state: "failed" as const, bytes: 0, said: explain(error) };
    });
    await endTask(database, run.id, { position, ...result });
    await check();
  }
}
